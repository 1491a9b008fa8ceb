internal import PropertyList

extension Preference {
  /// A declared property: how its values are stored, and, once it is bound, where.
  @usableFromInline
  final class Storage: @unchecked Sendable {
    let codec: PreferenceCodec<Value>
    let declaredKey: String?
    let isDynamic: Bool
    private let makeDefault: (() -> Value)?
    /// Set once, before anybody can read. Behind a pointer, so that a read counts no references.
    let bound: UnsafeMutablePointer<Unmanaged<PreferencePlace>?>

    init(_ codec: PreferenceCodec<Value>, _ key: String?, isDynamic: Bool, default: (() -> Value)?) {
      self.codec = codec
      declaredKey = key
      self.isDynamic = isDynamic
      makeDefault = `default`
      bound = .allocate(capacity: 1)
      bound.initialize(to: nil)
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

    @usableFromInline var value: Value {
      get {
        withPlace { place in
          place.noteAccess()
          return codec.read(place) { self.defaultValue(at: $0) }
        }
      }
      set {
        withPlace { place in place.store(stored(newValue, at: place)) }
      }
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
}

/// A property whatever its type, as it is given its place.
protocol BindableProperty: AnyObject {
  var declaredKey: String? { get }
  /// Whether the default is evaluated at each read.
  var isDynamic: Bool { get }
  /// What is registered; nil for no default, or one that is evaluated at each read.
  func registeredDefault(home: String) throws -> PropertyListValue?
  func bind(to place: PreferencePlace)
}

extension Preference.Storage: BindableProperty {
  func registeredDefault(home: String) throws -> PropertyListValue? {
    isDynamic ? nil : try makeDefault.flatMap { try codec.encode($0(), home) }
  }

  func bind(to place: PreferencePlace) {
    bound.pointee?.release()
    bound.pointee = Unmanaged.passRetained(place)
  }
}
