internal import Foundation
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
/// Assigning `nil` removes the key.
///
/// `$name` is this object: it tells who forces the value, whether one is stored, and what changes. It may be passed between
/// threads, as all its members may be called from any.
///
/// - Complexity: a read costs one probe of a table, and what making the value costs.
@propertyWrapper
public final class Preference<Value>: @unchecked Sendable {
  let codec: PreferenceCodec<Value>
  let declaredKey: String?
  let isDynamic: Bool
  private let makeDefault: (() -> Value)?
  /// Set once, before anybody can read. Behind a pointer, so that a read counts no references.
  private let bound: UnsafeMutablePointer<Unmanaged<PreferencePlace>?>

  init(_ codec: PreferenceCodec<Value>, _ key: String?, isDynamic: Bool = false, default: (() -> Value)?) {
    self.codec = codec
    declaredKey = key
    self.isDynamic = isDynamic
    makeDefault = `default`
    bound = .allocate(capacity: 1)
    bound.initialize(to: nil)
  }

  /// An optional without a default. (It stands here since the compiler gives a property without an initial value to a wrapper
  /// only when its body has such an initializer; those for other types are found with the rest of their families.)
  public convenience init() where Value: OptionalPreference, Value.Wrapped: PreferenceValue {
    self.init(.wrapping(.native), nil, default: nil)
  }

  deinit {
    bound.pointee?.release()
    bound.deallocate()
  }

  @inline(__always)
  func withPlace<R>(_ body: (PreferencePlace) -> R) -> R {
    guard let place = bound.pointee else { reportUnbound() }
    return place._withUnsafeGuaranteedRef(body)
  }

  private func reportUnbound() -> Never {
    let key = declaredKey.map { " with the key \"\($0)\"" } ?? ""
    PreferencesMisuse.stop(
      "a @Preference of type \(Value.self)\(key) belongs to no preferences object, so it has no place; declare it in a "
        + "subclass of Preferences, and use it after super.init()")
  }

  // MARK: - The value

  /// What the property is.
  public var value: Value {
    get {
      withPlace { place in
        place.noteAccess()
        return codec.read(place) ?? defaultValue(at: place)
      }
    }
    set {
      withPlace { place in place.store(stored(newValue, at: place)) }
    }
  }

  @available(*, unavailable, message: "@Preference belongs in a subclass of Preferences")
  public var wrappedValue: Value {
    get { fatalError() }
    set { fatalError() }
  }

  public var projectedValue: Preference<Value> { self }

  @inlinable
  public static subscript<Owner: Preferences>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Preference<Value>>
  ) -> Value {
    get { owner[keyPath: storage].value }
    set { owner[keyPath: storage].value = newValue }
  }

  // MARK: - Values and what is stored for them

  /// What the property is where the search list has nothing of its type.
  @inline(never)
  func defaultValue(at place: PreferencePlace) -> Value {
    if isDynamic, let makeDefault { return makeDefault() }
    if let form = place.declaredDefault, let value = decoded(form, at: place) { return value }
    guard let none = codec.none else {
      PreferencesMisuse.stop("\(place.description): the declared default can't be read back")
    }
    return none
  }

  func decoded(_ value: PropertyListValue, at place: PreferencePlace) -> Value? {
    codec.decode(PreferenceForm(value: value, home: place.home))
  }

  /// The property's value for what its search list has.
  func effective(_ form: PropertyListValue?, at place: PreferencePlace) -> Value {
    form.flatMap { decoded($0, at: place) } ?? defaultValue(at: place)
  }

  func stored(_ value: Value, at place: PreferencePlace) -> PropertyListValue? {
    do {
      return try codec.encode(value, place.home)
    } catch {
      PreferencesMisuse.stop("\(place.description): the value can't be stored: \(error)")
    }
  }
}

/// A preference whatever its type, as the preferences object finds it among its properties.
protocol BindablePreference: AnyObject {
  var declaredKey: String? { get }
  /// What is registered; nil for no default, or one that is evaluated at each read.
  func registeredDefault(home: String) throws -> PropertyListValue?
  func bind(to place: PreferencePlace)
}

extension Preference: BindablePreference {
  func registeredDefault(home: String) throws -> PropertyListValue? {
    isDynamic ? nil : try makeDefault.flatMap { try codec.encode($0(), home) }
  }

  func bind(to place: PreferencePlace) {
    bound.pointee?.release()
    bound.pointee = Unmanaged.passRetained(place)
  }
}
