internal import PreferencesCore
internal import PropertyList

/// How properties come by their keys: once, when an object is made.
///
/// A property wrapper is not told the name of its property. The object's mirror has the names, those of inherited properties
/// in the mirrors of the superclasses; what stands there as `_name` is the wrapper of `name`.
extension Preferences {
  /// - Returns: the properties, which the object keeps.
  func bindProperties() -> [AnyObject] {
    let typeName = "\(type(of: self))"
    var propertyOfKey: [String: String] = [:]
    var places: [PreferencePlace] = []
    var registered: [String: PropertyListValue] = [:]
    let declared = declaredProperties()
    for (property, preference) in declared {
      let key = preference.declaredKey ?? Self.key(forProperty: property)
      if key.isEmpty { PreferencesMisuse.stop("\(typeName).\(property): the key \"\" is empty") }
      if let other = propertyOfKey.updateValue(property, forKey: key) {
        PreferencesMisuse.stop(
          "\(typeName): the properties \"\(other)\" and \"\(property)\" have the same key \"\(key)\"; give one of them "
            + "another, as in @Preference(\"…\")")
      }
      let value: PropertyListValue?
      do {
        value = try preference.registeredDefault(home: userDefaults.list.configuration.homeDirectory)
      } catch {
        PreferencesMisuse.stop("\(typeName).\(property) (key \"\(key)\"): the default can't be stored: \(error)")
      }
      registered[key] = value
      let place = PreferencePlace(
        key, of: property, in: self, default: value, isDynamic: preference.isDynamic)
      preference.bind(to: place)
      places.append(place)
    }
    if !registered.isEmpty { userDefaults.registerMissing(registered) }
    for place in places { place.follow() }
    return declared.map(\.property)
  }

  /// The preferences among the stored properties, the most derived class's first.
  private func declaredProperties() -> [(name: String, property: any BindableProperty)] {
    var properties: [(String, any BindableProperty)] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let reflected = mirror {
      let isOurs = reflected.subjectType == Preferences.self
      for child in reflected.children {
        guard let label = child.label else { continue }
        if let preference = child.value as? any DeclaredPreference {
          properties.append((label.hasPrefix("_") ? String(label.dropFirst()) : label, preference.takeProperty()))
        } else if !isOurs {
          refuse(Self.name(ofStorage: label), in: reflected)
        }
      }
      mirror = isOurs ? nil : reflected.superclassMirror
    }
    return properties
  }

  private func refuse(_ property: String, in mirror: Mirror) {
    if Self.unstoredProperties.contains(property) { return }
    PreferencesMisuse.stop(
      "\(mirror.subjectType).\(property) has no key, so it would be kept in memory alone; write @Preference before it, or "
        + "name it in unstoredProperties")
  }

  /// The property that the compiler made a storage for: `lazy` ones and those of other wrappers have a prefix.
  private static func name(ofStorage label: String) -> String {
    for prefix in ["$__lazy_storage_$_", "_"] where label.hasPrefix(prefix) {
      return String(label.dropFirst(prefix.count))
    }
    return label
  }
}
