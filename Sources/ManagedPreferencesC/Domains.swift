// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import PreferencesCore
import PropertyList

// Suites, and domains by name.

@c @implementation public func mp_add_suite(
  _ preferences: OpaquePointer!, _ suite: UnsafePointer<CChar>!
) -> mp_status {
  attempt { () throws(Failure) in
    let list = try Input.preferences(preferences)
    let suite = try Input.domain(suite, "suite")
    if !list.addSuite(suite) {
      throw Failure(MP_ERROR_NAME, "\"\(suite)\" is in every search list of this application already")
    }
  }
}

@c @implementation public func mp_remove_suite(
  _ preferences: OpaquePointer!, _ suite: UnsafePointer<CChar>!
) -> mp_status {
  attempt { () throws(Failure) in
    try Input.preferences(preferences).removeSuite(try Input.domain(suite, "suite"))
  }
}

// MARK: Persistent domains

@c @implementation public func mp_get_persistent_domain_names(
  _ preferences: OpaquePointer!, _ names: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>!,
  _ count: UnsafeMutablePointer<Int>!
) -> mp_status {
  texts(names, count, "names") { () throws(Failure) in try Input.preferences(preferences).persistentDomainNames }
}

@c @implementation public func mp_get_persistent_domain(
  _ preferences: OpaquePointer!, _ name: UnsafePointer<CChar>!, _ dictionary: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(dictionary, otherwise: nil, "dictionary") { () throws(Failure) in
    let list = try Input.preferences(preferences)
    let domain = list.persistentDomain(forName: try Input.domain(name, "name"))
    return ValueHandle.owned(domain.map { .dictionary($0) })
  }
}

@c @implementation public func mp_set_persistent_domain(
  _ preferences: OpaquePointer!, _ name: UnsafePointer<CChar>!, _ dictionary: OpaquePointer!
) -> mp_status {
  attempt { () throws(Failure) in
    let list = try Input.preferences(preferences)
    let name = try Input.domain(name, "name")
    list.setPersistentDomain(try Input.members(dictionary, "dictionary"), forName: name)
  }
}

@c @implementation public func mp_remove_persistent_domain(
  _ preferences: OpaquePointer!, _ name: UnsafePointer<CChar>!
) -> mp_status {
  attempt { () throws(Failure) in
    try Input.preferences(preferences).removePersistentDomain(forName: try Input.domain(name, "name"))
  }
}

// MARK: Volatile domains

/// Volatile domains are not files, so any name is one.
private func volatileName(_ name: UnsafePointer<CChar>?) throws(Failure) -> String {
  let name = try Input.text(name, "name")
  if name.isEmpty { throw Failure(MP_ERROR_NAME, "\(DomainNameFault.empty)") }
  return name
}

@c @implementation public func mp_get_volatile_domain_names(
  _ preferences: OpaquePointer!, _ names: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>!,
  _ count: UnsafeMutablePointer<Int>!
) -> mp_status {
  texts(names, count, "names") { () throws(Failure) in try Input.preferences(preferences).volatileDomainNames }
}

@c @implementation public func mp_get_volatile_domain(
  _ preferences: OpaquePointer!, _ name: UnsafePointer<CChar>!, _ dictionary: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(dictionary, otherwise: nil, "dictionary") { () throws(Failure) in
    let domain = try Input.preferences(preferences).volatileDomain(forName: try volatileName(name))
    return ValueHandle.owned(domain.map { .dictionary($0) })
  }
}

@c @implementation public func mp_set_volatile_domain(
  _ preferences: OpaquePointer!, _ name: UnsafePointer<CChar>!, _ dictionary: OpaquePointer!
) -> mp_status {
  attempt { () throws(Failure) in
    let list = try Input.preferences(preferences)
    let name = try volatileName(name)
    if !list.setVolatileDomain(try Input.members(dictionary, "dictionary"), forName: name) {
      throw Failure(MP_ERROR_EXISTS, "a volatile domain \"\(name)\" exists; remove it first")
    }
  }
}

@c @implementation public func mp_remove_volatile_domain(
  _ preferences: OpaquePointer!, _ name: UnsafePointer<CChar>!
) -> mp_status {
  attempt { () throws(Failure) in
    try Input.preferences(preferences).removeVolatileDomain(forName: try volatileName(name))
  }
}
