internal import PropertyList

/// Makes a property of a `Preferences` subclass a preference, under the property's name or a key of its own.
///
/// ```swift
/// final class Prefs: Preferences {
///   @Preference var name: String?
///   @Preference var kids: [String] = []
///   @Preference("AutoSaveInterval") var interval = 60
/// }
/// nameField.isEnabled = !Prefs.sharedInstance.$name.isForced
/// ```
///
/// A property reads what `ManagedDefaults` would: the administrator's value first, its declared default last. A stored value
/// of another type is converted as the getters of `ManagedDefaults` convert; where they can't, the property has its default.
/// Assigning `nil` removes the key. `$name` is a `Preference.Property`.
///
/// - Complexity: a read costs one probe of a table, and what making the value costs.
@propertyWrapper
public struct Preference<Value> {
  /// Kept by the preferences object, from the moment in which it binds it to a key. Unmanaged, so that a read counts no
  /// references: threads that read the same property would wait for each other's counting.
  @usableFromInline let storage: Unmanaged<Storage>
  /// The storage's own.
  @usableFromInline let bound: UnsafeMutablePointer<Unmanaged<PreferencePlace>?>

  init(_ codec: PreferenceCodec<Value>, _ key: String?, isDynamic: Bool = false, default: (() -> Value)?) {
    let storage = Storage(codec, key, isDynamic: isDynamic, default: `default`)
    bound = storage.bound
    self.storage = .passRetained(storage)
  }

  /// An optional without a default. (It stands here since the compiler gives a property without an initial value to a wrapper
  /// only when its body has such an initializer; those for other types are found with the rest of their families.)
  public init() where Value: OptionalPreference, Value.Wrapped: PreferenceValue {
    self.init(.wrapping(.native), nil, default: nil)
  }

  @available(*, unavailable, message: "@Preference belongs in a subclass of Preferences")
  public var wrappedValue: Value {
    get { fatalError() }
    set { fatalError() }
  }

  @available(*, unavailable, message: "@Preference belongs in a subclass of Preferences")
  public var projectedValue: Property { fatalError() }

  /// The value. The object is kept until the property has been used: it keeps the property.
  @inlinable
  public static subscript<Owner: Preferences>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Preference<Value>>
  ) -> Value {
    get {
      withExtendedLifetime(owner) {
        let preference = owner[keyPath: storage]
        return preference.directValue ?? preference.storage._withUnsafeGuaranteedRef { $0.value }
      }
    }
    set {
      withExtendedLifetime(owner) {
        owner[keyPath: storage].storage._withUnsafeGuaranteedRef { $0.value = newValue }
      }
    }
  }

  @inlinable
  public static subscript<Owner: Preferences>(
    _enclosingInstance owner: Owner, projected projected: KeyPath<Owner, Property>,
    storage storage: ReferenceWritableKeyPath<Owner, Preference<Value>>
  ) -> Property {
    withExtendedLifetime(owner) { Property(of: owner[keyPath: storage]) }
  }
}

extension Preference {
  /// The value of a property of one of the commonest types, where it is there to be read; else nil, and `Storage` knows what
  /// to do.
  ///
  /// Compiled into the application, which knows the type: all but one of the questions are answered then, and what is left is
  /// one call that knows it too.
  @inlinable
  @inline(__always)
  var directValue: Value? {
    guard let place = bound.pointee else { return nil }
    return place._withUnsafeGuaranteedRef { place in
      if Value.self == Int.self { return unsafeBitCast(place.integer(), to: Value?.self) }
      if Value.self == Bool.self { return unsafeBitCast(place.bool(), to: Value?.self) }
      if Value.self == Double.self { return unsafeBitCast(place.double(), to: Value?.self) }
      if Value.self == String.self { return unsafeBitCast(place.string(), to: Value?.self) }
      if Value.self == [String].self { return unsafeBitCast(place.strings(), to: Value?.self) }
      if Value.self == String?.self, !place.hasDefault {
        return .some(unsafeBitCast(place.string(), to: Value.self))
      }
      if Value.self == Int?.self, !place.hasDefault {
        return .some(unsafeBitCast(place.integer(), to: Value.self))
      }
      if Value.self == Bool?.self, !place.hasDefault {
        return .some(unsafeBitCast(place.bool(), to: Value.self))
      }
      return nil
    }
  }
}

/// A preference whatever its type, as the preferences object finds it among its properties.
protocol DeclaredPreference {
  /// The property, which whoever asks keeps from then on. To be asked for once.
  func takeProperty() -> any BindableProperty
}

extension Preference: DeclaredPreference {
  func takeProperty() -> any BindableProperty { storage.takeRetainedValue() }
}
