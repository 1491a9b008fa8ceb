// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import PropertyList

// Owning values, and looking into them. Nothing here converts.

@c @implementation public func mp_value_retain(_ value: OpaquePointer!) -> OpaquePointer! {
  if let value { _ = Unmanaged<ValueHandle>.fromOpaque(UnsafeRawPointer(value)).retain() }
  return value
}

@c @implementation public func mp_value_release(_ value: OpaquePointer!) {
  if let value { Unmanaged<ValueHandle>.fromOpaque(UnsafeRawPointer(value)).release() }
}

@c @implementation public func mp_value_type(_ value: OpaquePointer!) -> mp_type {
  value.map { mp_type(rawValue: UInt32(ValueHandle.of($0).value.type.rawValue)) } ?? MP_TYPE_NONE
}

nonisolated(unsafe) private let typeNames = Dictionary(
  uniqueKeysWithValues: PropertyListType.allCases.map { ($0.rawValue, ConstantText.kept("\($0)")) })

@c @implementation public func mp_type_name(_ type: mp_type) -> UnsafePointer<CChar>! {
  PropertyListType.RawValue(exactly: type.rawValue).flatMap { typeNames[$0] }
}

@c @implementation public func mp_value_equal(_ a: OpaquePointer!, _ b: OpaquePointer!) -> Bool {
  guard let a, let b else { return a == b }
  return a == b || ValueHandle.of(a).value == ValueHandle.of(b).value
}

/// The answer of an accessor for one type.
private func accessed<Answer>(
  _ value: OpaquePointer?, _ result: UnsafeMutablePointer<Answer>?, otherwise: Answer, _ name: StaticString,
  _ expected: PropertyListType, function: StaticString = #function, _ body: (ValueHandle) throws(Failure) -> Answer?
) -> mp_status {
  answer(result, otherwise: otherwise, name, function: function) { () throws(Failure) in
    let handle = try Input.value(value)
    guard let answer = try body(handle) else { throw .type(handle, expected) }
    return answer
  }
}

extension Failure {
  fileprivate static func type(_ handle: ValueHandle, _ expected: PropertyListType) -> Failure {
    Failure(MP_ERROR_TYPE, "the value's type is \(handle.value.type), not \(expected)")
  }

  fileprivate static func index(_ index: Int, _ count: Int) -> Failure {
    Failure(MP_ERROR_RANGE, "there is no index \(UInt(bitPattern: index)) among \(count)")
  }
}

@c @implementation public func mp_value_get_string(
  _ value: OpaquePointer!, _ text: UnsafeMutablePointer<UnsafePointer<CChar>?>!, _ length: UnsafeMutablePointer<Int>!
) -> mp_status {
  length?.pointee = 0
  return accessed(value, text, otherwise: nil, "text", .string) { handle in
    guard case .string = handle.value, let bytes = handle.bytes else { return nil }
    length?.pointee = handle.byteCount
    return UnsafePointer(bytes.assumingMemoryBound(to: CChar.self))
  }
}

@c @implementation public func mp_value_get_integer(
  _ value: OpaquePointer!, _ number: UnsafeMutablePointer<Int64>!
) -> mp_status {
  accessed(value, number, otherwise: 0, "number", .integer) { (handle) throws(Failure) in
    guard case .integer(let number) = handle.value else { return nil }
    guard let signed = number.int64 else { throw Failure(MP_ERROR_RANGE, "\(number) is above 2^63-1") }
    return signed
  }
}

@c @implementation public func mp_value_get_unsigned(
  _ value: OpaquePointer!, _ number: UnsafeMutablePointer<UInt64>!
) -> mp_status {
  accessed(value, number, otherwise: 0, "number", .integer) { (handle) throws(Failure) in
    guard case .integer(let number) = handle.value else { return nil }
    guard let unsigned = number.uint64 else { throw Failure(MP_ERROR_RANGE, "\(number) is below 0") }
    return unsigned
  }
}

@c @implementation public func mp_value_get_real(
  _ value: OpaquePointer!, _ number: UnsafeMutablePointer<Double>!
) -> mp_status {
  accessed(value, number, otherwise: 0, "number", .real) { handle in
    if case .real(let number) = handle.value { number } else { nil }
  }
}

@c @implementation public func mp_value_get_boolean(
  _ value: OpaquePointer!, _ flag: UnsafeMutablePointer<Bool>!
) -> mp_status {
  accessed(value, flag, otherwise: false, "flag", .boolean) { handle in
    if case .boolean(let flag) = handle.value { flag } else { nil }
  }
}

@c @implementation public func mp_value_get_date(
  _ value: OpaquePointer!, _ seconds: UnsafeMutablePointer<Double>!
) -> mp_status {
  accessed(value, seconds, otherwise: 0, "seconds", .date) { handle in
    if case .date(let date) = handle.value { date.secondsSinceReferenceDate } else { nil }
  }
}

@c @implementation public func mp_value_get_data(
  _ value: OpaquePointer!, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>!, _ length: UnsafeMutablePointer<Int>!
) -> mp_status {
  length?.pointee = 0
  return accessed(value, bytes, otherwise: nil, "bytes", .data) { (handle) throws(Failure) in
    guard let length else { throw .null("length") }
    guard case .data = handle.value, let bytes = handle.bytes else { return nil }
    length.pointee = handle.byteCount
    return UnsafeRawPointer(bytes)
  }
}

// MARK: Containers

@c @implementation public func mp_value_count(_ value: OpaquePointer!) -> Int {
  value.map { ValueHandle.of($0).count } ?? 0
}

@c @implementation public func mp_value_get_element(
  _ value: OpaquePointer!, _ index: Int, _ element: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  accessed(value, element, otherwise: nil, "element", .array) { (handle) throws(Failure) in
    guard case .array = handle.value else { return nil }
    guard 0..<handle.count ~= index else { throw .index(index, handle.count) }
    return handle.withMembers { $0.values[index].borrowed }
  }
}

@c @implementation public func mp_value_get_member(
  _ value: OpaquePointer!, _ index: Int, _ key: UnsafeMutablePointer<UnsafePointer<CChar>?>!,
  _ keyLength: UnsafeMutablePointer<Int>!, _ member: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  key?.pointee = nil
  keyLength?.pointee = 0
  member?.pointee = nil
  return attempt { () throws(Failure) in
    let handle = try Input.value(value)
    guard case .dictionary = handle.value else { throw .type(handle, .dictionary) }
    guard 0..<handle.count ~= index else { throw .index(index, handle.count) }
    handle.withMembers { members in
      key?.pointee = UnsafePointer(members.keys[index].pointer)
      keyLength?.pointee = members.keys[index].length
      member?.pointee = members.values[index].borrowed
    }
  }
}

@c @implementation public func mp_value_find_member(
  _ value: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ member: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(member, otherwise: nil, "member") { () throws(Failure) in
    let handle = try Input.value(value)
    let key = try Input.text(key, "key")
    guard case .dictionary = handle.value else { throw .type(handle, .dictionary) }
    try Input.check(memberKey: key)
    return handle.withMembers { members in members.places[key].map { members.values[$0].borrowed } }
  }
}
