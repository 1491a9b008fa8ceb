// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import PreferencesCore
import PropertyList

// The getters. They convert as SearchList's do.

private func got<Answer>(
  _ preferences: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ result: UnsafeMutablePointer<Answer>?,
  otherwise: Answer, _ name: StaticString, function: StaticString = #function,
  _ body: (SearchList, String) throws(Failure) -> Answer
) -> mp_status {
  answer(result, otherwise: otherwise, name, function: function) { () throws(Failure) in
    try body(try Input.preferences(preferences), try Input.key(key))
  }
}

@c @implementation public func mp_get_value(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  got(preferences, key, value, otherwise: nil, "value") { list, key in ValueHandle.owned(list.value(key)) }
}

/// The answer of a getter of scalars. Where a plain key has a number, nothing is allocated, and nothing can fail.
@inline(__always)
private func scalar<Answer>(
  _ preferences: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ result: UnsafeMutablePointer<Answer>?,
  otherwise: Answer, _ name: StaticString, function: StaticString = #function,
  number: (PropertyListValue) -> Answer, other: (SearchList, String) -> Answer
) -> mp_status {
  if let preferences, let key, let result, let bytes = Input.plainKey(key),
    let value = Input.withList(preferences, { $0.number(utf8: bytes) })
  {
    result.pointee = number(value)
    return MP_OK
  }
  return got(preferences, key, result, otherwise: otherwise, name, function: function) { list, key in other(list, key) }
}

@c @implementation public func mp_get_bool(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ flag: UnsafeMutablePointer<Bool>!
) -> mp_status {
  scalar(
    preferences, key, flag, otherwise: false, "flag", number: { $0.boolValue }, other: { list, key in list.bool(key) })
}

@c @implementation public func mp_get_integer(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ number: UnsafeMutablePointer<Int64>!
) -> mp_status {
  scalar(
    preferences, key, number, otherwise: 0, "number", number: { Int64($0.integerValue) },
    other: { list, key in Int64(list.integer(key)) })
}

@c @implementation public func mp_get_float(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ number: UnsafeMutablePointer<Float>!
) -> mp_status {
  scalar(
    preferences, key, number, otherwise: 0, "number", number: { $0.floatValue }, other: { list, key in list.float(key) }
  )
}

@c @implementation public func mp_get_double(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ number: UnsafeMutablePointer<Double>!
) -> mp_status {
  scalar(
    preferences, key, number, otherwise: 0, "number", number: { $0.doubleValue },
    other: { list, key in list.double(key) })
}

@c @implementation public func mp_get_string(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ text: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!, _ length: UnsafeMutablePointer<Int>!
) -> mp_status {
  if let preferences, let key, let text, let bytes = Input.plainKey(key) {
    let isText = Input.withList(preferences) { list in
      list.readText(utf8: bytes) { utf8 in
        text.pointee = Output.text(utf8)
        length?.pointee = utf8.count
      }
    }
    if isText { return MP_OK }
  }
  length?.pointee = 0
  return got(preferences, key, text, otherwise: nil, "text") { list, key in
    guard let string = list.string(key) else { return nil }
    let copy = Output.text(string)
    length?.pointee = copy.length
    return copy.pointer
  }
}

@c @implementation public func mp_get_string_array(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ strings: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>!,
  _ count: UnsafeMutablePointer<Int>!
) -> mp_status {
  count?.pointee = 0
  return got(preferences, key, strings, otherwise: nil, "strings") { (list, key) throws(Failure) in
    guard let count else { throw .null("count") }
    guard let strings = list.stringArray(key) else { return nil }
    count.pointee = strings.count
    // An empty array is an array: not NULL.
    return Output.texts(strings)
      ?? Output.allocate(0).assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self)
  }
}

@c @implementation public func mp_get_array(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ array: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  got(preferences, key, array, otherwise: nil, "array") { list, key in
    ValueHandle.owned(list.array(key).map { .array($0) })
  }
}

@c @implementation public func mp_get_dictionary(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ dictionary: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  got(preferences, key, dictionary, otherwise: nil, "dictionary") { list, key in
    ValueHandle.owned(list.dictionary(key).map { .dictionary($0) })
  }
}

@c @implementation public func mp_get_data(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ bytes: UnsafeMutablePointer<UnsafeMutableRawPointer?>!, _ length: UnsafeMutablePointer<Int>!
) -> mp_status {
  length?.pointee = 0
  return got(preferences, key, bytes, otherwise: nil, "bytes") { (list, key) throws(Failure) in
    guard let length else { throw .null("length") }
    guard let data = list.data(key) else { return nil }
    length.pointee = data.count
    return Output.copy(data)
  }
}

@c @implementation public func mp_get_url(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ url: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!,
  _ base: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!
) -> mp_status {
  base?.pointee = nil
  return got(preferences, key, url, otherwise: nil, "url") { list, key in
    guard let (text, baseText) = list.url(key).flatMap(URLText.texts) else { return nil }
    if let base, let baseText { base.pointee = Output.text(baseText).pointer }
    return Output.text(text).pointer
  }
}

@c @implementation public func mp_get_dictionary_representation(
  _ preferences: OpaquePointer!, _ dictionary: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(dictionary, otherwise: nil, "dictionary") { () throws(Failure) in
    ValueHandle.owned(.dictionary(try Input.preferences(preferences).dictionaryRepresentation()))
  }
}
