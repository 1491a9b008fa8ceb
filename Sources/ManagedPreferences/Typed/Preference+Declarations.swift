public import Foundation

/// How properties are declared: one family of initializers for each kind of type, alike but for what they store.
///
/// - `key`: nil for the property's name, or what the class makes of it (`Preferences.key(forProperty:)`).
/// - `wrappedValue`: the default. It is registered, where nobody registered another for the key, when the object is made.
/// - `evaluatedAtEachRead`: the default is an expression that may give another value each time, such as `Date()`: it is not
///   registered, and evaluated whenever nobody has the key.
///
/// A type that is of several kinds is stored in the first form of: native, raw value, `Codable`, archive.
extension Preference {
  // MARK: - Native types

  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value: PreferenceValue {
    self.init(.native, key, isDynamic: isDynamic, default: wrappedValue)
  }

  public init<Wrapped>(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value == Wrapped?, Wrapped: PreferenceValue {
    self.init(.optional(.native), key, isDynamic: isDynamic, default: wrappedValue)
  }

  public init(_ key: String) where Value: OptionalPreference, Value.Wrapped: PreferenceValue {
    self.init(.wrapping(.native), key, default: nil)
  }

  // MARK: - By a raw value

  @_disfavoredOverload
  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value: RawRepresentable, Value.RawValue: PreferenceValue {
    self.init(.raw, key, isDynamic: isDynamic, default: wrappedValue)
  }

  @_disfavoredOverload
  public init<Wrapped>(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue: PreferenceValue {
    self.init(.optional(.raw), key, isDynamic: isDynamic, default: wrappedValue)
  }

  @_disfavoredOverload
  public init()
  where Value: OptionalPreference, Value.Wrapped: RawRepresentable, Value.Wrapped.RawValue: PreferenceValue {
    self.init(.wrapping(.raw), nil, default: nil)
  }

  @_disfavoredOverload
  public init(_ key: String)
  where Value: OptionalPreference, Value.Wrapped: RawRepresentable, Value.Wrapped.RawValue: PreferenceValue {
    self.init(.wrapping(.raw), key, default: nil)
  }

  // MARK: - Codable

  @_disfavoredOverload
  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value: Codable {
    self.init(.coded, key, isDynamic: isDynamic, default: wrappedValue)
  }

  @_disfavoredOverload
  public init<Wrapped>(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value == Wrapped?, Wrapped: Codable {
    self.init(.optional(.coded), key, isDynamic: isDynamic, default: wrappedValue)
  }

  @_disfavoredOverload
  public init() where Value: OptionalPreference, Value.Wrapped: Codable {
    self.init(.wrapping(.coded), nil, default: nil)
  }

  @_disfavoredOverload
  public init(_ key: String) where Value: OptionalPreference, Value.Wrapped: Codable {
    self.init(.wrapping(.coded), key, default: nil)
  }

  // MARK: - Both: the raw value is the native form

  @_disfavoredOverload
  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value: RawRepresentable & Codable, Value.RawValue: PreferenceValue {
    self.init(.raw, key, isDynamic: isDynamic, default: wrappedValue)
  }

  @_disfavoredOverload
  public init<Wrapped>(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value == Wrapped?, Wrapped: RawRepresentable & Codable, Wrapped.RawValue: PreferenceValue {
    self.init(.optional(.raw), key, isDynamic: isDynamic, default: wrappedValue)
  }

  @_disfavoredOverload
  public init()
  where Value: OptionalPreference, Value.Wrapped: RawRepresentable & Codable, Value.Wrapped.RawValue: PreferenceValue {
    self.init(.wrapping(.raw), nil, default: nil)
  }

  @_disfavoredOverload
  public init(_ key: String)
  where Value: OptionalPreference, Value.Wrapped: RawRepresentable & Codable, Value.Wrapped.RawValue: PreferenceValue {
    self.init(.wrapping(.raw), key, default: nil)
  }

  // MARK: - Through Foundation's archiver

  @_disfavoredOverload
  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value: NSObject & NSSecureCoding {
    self.init(.archived, key, isDynamic: isDynamic, default: wrappedValue)
  }

  @_disfavoredOverload
  public init<Wrapped>(
    wrappedValue: @autoclosure @escaping () -> Value, _ key: String? = nil, evaluatedAtEachRead isDynamic: Bool = false
  ) where Value == Wrapped?, Wrapped: NSObject & NSSecureCoding {
    self.init(.optional(.archived), key, isDynamic: isDynamic, default: wrappedValue)
  }

  @_disfavoredOverload
  public init() where Value: OptionalPreference, Value.Wrapped: NSObject & NSSecureCoding {
    self.init(.wrapping(.archived), nil, default: nil)
  }

  @_disfavoredOverload
  public init(_ key: String) where Value: OptionalPreference, Value.Wrapped: NSObject & NSSecureCoding {
    self.init(.wrapping(.archived), key, default: nil)
  }

  // MARK: - Any other type

  @available(
    *, unavailable,
    message:
      "a preference is a String, Bool, number, Date, Data, URL, an array or dictionary of them, RawRepresentable, Codable, or an object with NSSecureCoding"
  )
  @_disfavoredOverload
  public init(wrappedValue: Value, _ key: String? = nil, unsupported: Void = ()) { fatalError() }

  @available(
    *, unavailable,
    message:
      "a preference is a String, Bool, number, Date, Data, URL, an array or dictionary of them, RawRepresentable, Codable, or an object with NSSecureCoding"
  )
  @_disfavoredOverload
  public init() where Value: OptionalPreference {
    fatalError()
  }
}
