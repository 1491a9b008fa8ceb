// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import PreferencesCore
import PropertyList

// Setting, removing, registering, synchronizing.

/// The one way by which a single key is written.
private func store(
  _ preferences: OpaquePointer?, _ key: UnsafePointer<CChar>?, function: StaticString = #function,
  _ value: (SearchList) throws(Failure) -> PropertyListValue?
) -> mp_status {
  attempt(function) { () throws(Failure) in
    let list = try Input.preferences(preferences)
    let key = try Input.key(key)
    list.set(try value(list), forKey: key)
  }
}

@c @implementation public func mp_set_value(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: OpaquePointer!
) -> mp_status {
  store(preferences, key) { (_) throws(Failure) in
    let handle = try Input.value(value)
    // What was read from a file on its own may be one level deeper than what fits into a domain.
    if handle.height > ValueHandle.maximumHeight { _ = try Input.height(around: [handle]) }
    return handle.value
  }
}

@c @implementation public func mp_set_bool(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ flag: Bool
) -> mp_status {
  store(preferences, key) { _ in .boolean(flag) }
}

@c @implementation public func mp_set_integer(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ number: Int64
) -> mp_status {
  store(preferences, key) { _ in .integer(PropertyListInteger(number)) }
}

@c @implementation public func mp_set_unsigned(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ number: UInt64
) -> mp_status {
  store(preferences, key) { _ in .integer(PropertyListInteger(number)) }
}

@c @implementation public func mp_set_float(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ number: Float
) -> mp_status {
  store(preferences, key) { _ in .real(Double(number)) }
}

@c @implementation public func mp_set_double(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ number: Double
) -> mp_status {
  store(preferences, key) { _ in .real(number) }
}

@c @implementation public func mp_set_string(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ text: UnsafePointer<CChar>!
) -> mp_status {
  store(preferences, key) { (_) throws(Failure) in .string(try Input.text(text, "text")) }
}

@c @implementation public func mp_set_string_array(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ strings: UnsafePointer<UnsafePointer<CChar>?>!,
  _ count: Int
) -> mp_status {
  store(preferences, key) { (_) throws(Failure) in
    .array(try Input.texts(strings, count, "strings").map { .string($0) })
  }
}

@c @implementation public func mp_set_date(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ seconds: Double
) -> mp_status {
  store(preferences, key) { (_) throws(Failure) in try Input.date(seconds) }
}

@c @implementation public func mp_set_data(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ bytes: UnsafeRawPointer!, _ length: Int
) -> mp_status {
  store(preferences, key) { (_) throws(Failure) in .data(try Input.bytes(bytes, length)) }
}

@c @implementation public func mp_set_url(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ url: UnsafePointer<CChar>!,
  _ base: UnsafePointer<CChar>!
) -> mp_status {
  store(preferences, key) { (list) throws(Failure) in
    let url = try Input.text(url, "url")
    let base = base == nil ? nil : try Input.text(base, "base")
    return URLReference.storedForm(
      of: try URLText.reference(url, base: base), home: list.configuration.homeDirectory)
  }
}

@c @implementation public func mp_remove(_ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!) -> mp_status {
  store(preferences, key) { _ in nil }
}

@c @implementation public func mp_register_defaults(_ defaults: OpaquePointer!) -> mp_status {
  attempt { () throws(Failure) in RegistrationDomain.register(try Input.members(defaults, "defaults")) }
}

@c @implementation public func mp_synchronize(_ preferences: OpaquePointer!) -> mp_status {
  attempt { () throws(Failure) in
    let list = try Input.preferences(preferences)
    if list.synchronize() { return }
    let faults = list.faults.map(\.description).joined(separator: "; ")
    throw Failure(MP_ERROR_WRITE, faults.isEmpty ? "another process holds a file's lock" : faults)
  }
}

@c @implementation public func mp_get_faults(
  _ preferences: OpaquePointer!, _ faults: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>!,
  _ count: UnsafeMutablePointer<Int>!
) -> mp_status {
  texts(faults, count, "faults") { () throws(Failure) in try Input.preferences(preferences).faults.map(\.description) }
}

/// The answer of a function that gives a block of texts.
func texts(
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?,
  _ count: UnsafeMutablePointer<Int>?,
  _ name: StaticString, function: StaticString = #function, _ body: () throws(Failure) -> [String]
) -> mp_status {
  count?.pointee = 0
  return answer(result, otherwise: nil, name, function: function) { () throws(Failure) in
    guard let count else { throw .null("count") }
    let texts = try body()
    count.pointee = texts.count
    return Output.texts(texts)
  }
}
