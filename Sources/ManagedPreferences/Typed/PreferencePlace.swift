internal import Foundation
public import Observation
internal import PreferencesCore
internal import PropertyList

/// Where a property of a preferences object reads and writes: its key in the object's defaults.
///
/// Of interest to the library alone; public as a part of `PreferenceValue`.
public final class PreferencePlace: @unchecked Sendable {
  let list: SearchList
  let key: PreparedKey
  let defaults: ManagedDefaults
  /// The property's name, and that of the object's class: for notifications and messages.
  let property: String
  let typeName: String
  /// What the declaration says, nil for none, or one that is evaluated at each read.
  let declaredDefault: PropertyListValue?
  /// Whether there is a default at all, other than nil.
  @usableFromInline let hasDefault: Bool
  /// Whether the object is its class's one object.
  @usableFromInline let staysForever: Bool
  /// The object, unless it is gone. The class's one object never goes, and is held: a weak reference would make each
  /// counting of references to it slow.
  private let ownerForever: Preferences?
  private weak let owner: Preferences?

  private let registrar = ObservationRegistrar()
  private let path: any KeyPath<PreferencePlace, Void> & Sendable = \PreferencePlace.effective
  /// Follows what others change, for `withObservationTracking`.
  private var subscription: ChangeSubscription?

  init(
    _ key: String, of property: String, in owner: Preferences, default declaredDefault: PropertyListValue?,
    isDynamic: Bool
  ) {
    defaults = owner.userDefaults
    list = defaults.list
    self.key = PreparedKey(key)
    self.property = property
    typeName = "\(type(of: owner))"
    staysForever = SharedPreferences.isMaking(type(of: owner))
    ownerForever = staysForever ? owner : nil
    self.owner = staysForever ? nil : owner
    self.declaredDefault = declaredDefault
    hasDefault = declaredDefault != nil || isDynamic
  }

  var home: String { list.configuration.homeDirectory }

  /// What is read, unconverted.
  var form: PreferenceForm? { list.value(key).map { PreferenceForm(value: $0, home: home) } }

  /// `Prefs.title (key "KEY_TITLE")`, for messages.
  var description: String { "\(typeName).\(property) (key \"\(key.text)\")" }

  /// Stores a value, nil removes the key; then says so, whether anything came of it or not.
  func store(_ value: PropertyListValue?) {
    defaults.store(value, forKey: key.text)
    (ownerForever ?? owner)?.didAssign(property: property, key: key.text)
  }
}

/// What `withObservationTracking` sees: the value that is read and whether it is forced, as one property.
extension PreferencePlace: Observable {
  private var effective: Void { () }

  /// Whoever tracks the current thread's reads has read this.
  @inline(__always)
  func noteAccess() { registrar.access(self, keyPath: path) }

  /// From now on, changes are told to those who tracked. Before anybody else has the place.
  func follow() {
    subscription = list.observe(key.text) { [weak self] _ in
      guard let self else { return }
      // The change has been made already: who is told `willSet` and reads at once has the new value.
      registrar.withMutation(of: self, keyPath: path) {}
    }
  }
}

/// What properties of the commonest types read, nil where they have their defaults; and the commonest question.
extension PreferencePlace {
  @usableFromInline
  var isForced: Bool {
    noteAccess()
    return list.isForced(key)
  }

  @usableFromInline
  func integer() -> Int? {
    noteAccess()
    return list.integer(key)
  }

  @usableFromInline
  func bool() -> Bool? {
    noteAccess()
    return list.bool(key)
  }

  @usableFromInline
  func double() -> Double? {
    noteAccess()
    return list.double(key)
  }

  @usableFromInline
  func string() -> String? {
    noteAccess()
    return list.string(key)
  }

  @usableFromInline
  func strings() -> [String]? {
    noteAccess()
    return list.value(key)?.stringArrayValue
  }
}
