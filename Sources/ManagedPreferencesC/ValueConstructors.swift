// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import PropertyList

// Making values. Whatever C passes is checked here, so that no value can exist that files could not hold.

private func make(
  _ result: UnsafeMutablePointer<OpaquePointer?>?, function: StaticString = #function,
  _ body: () throws(Failure) -> PropertyListValue
) -> mp_status {
  answer(result, otherwise: nil, "value", function: function) { () throws(Failure) in ValueHandle.owned(try body()) }
}

@c @implementation public func mp_value_new_string(
  _ text: UnsafePointer<CChar>!, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  make(value) { () throws(Failure) in .string(try Input.text(text, "text")) }
}

@c @implementation public func mp_value_new_string_with_length(
  _ bytes: UnsafePointer<CChar>!, _ length: Int, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  make(value) { () throws(Failure) in
    guard let text = String(validating: try Input.bytes(bytes, length), as: UTF8.self) else {
      throw Failure(MP_ERROR_ENCODING, "'bytes' is not UTF-8")
    }
    return .string(text)
  }
}

@c @implementation public func mp_value_new_integer(
  _ number: Int64, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  make(value) { .integer(PropertyListInteger(number)) }
}

@c @implementation public func mp_value_new_unsigned(
  _ number: UInt64, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  make(value) { .integer(PropertyListInteger(number)) }
}

@c @implementation public func mp_value_new_real(
  _ number: Double, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  make(value) { .real(number) }
}

@c @implementation public func mp_value_new_boolean(
  _ flag: Bool, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  make(value) { .boolean(flag) }
}

@c @implementation public func mp_value_new_date(
  _ seconds: Double, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  make(value) { () throws(Failure) in try Input.date(seconds) }
}

@c @implementation public func mp_value_new_data(
  _ bytes: UnsafeRawPointer!, _ length: Int, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  make(value) { () throws(Failure) in .data(try Input.bytes(bytes, length)) }
}

@c @implementation public func mp_value_new_array(
  _ elements: UnsafePointer<OpaquePointer?>!, _ count: Int, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(value, otherwise: nil, "value") { () throws(Failure) in
    let elements = try Input.values(elements, count, "elements")
    return ValueHandle.owned(.array(elements.map(\.value)), height: try Input.height(around: elements))
  }
}

@c @implementation public func mp_value_new_dictionary(
  _ keys: UnsafePointer<UnsafePointer<CChar>?>!, _ values: UnsafePointer<OpaquePointer?>!, _ count: Int,
  _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(value, otherwise: nil, "value") { () throws(Failure) in
    let keys = try Input.texts(keys, count, "keys")
    let values = try Input.values(values, count, "values")
    var members: [String: PropertyListValue] = [:]
    for (key, value) in zip(keys, values) {
      try Input.check(memberKey: key)
      if members.updateValue(value.value, forKey: key) != nil {
        throw Failure(MP_ERROR_KEY, "\(PropertyListError.Reason.duplicateKey(key))")
      }
    }
    return ValueHandle.owned(.dictionary(members), height: try Input.height(around: values))
  }
}

extension Input {
  static func date(_ seconds: Double) throws(Failure) -> PropertyListValue {
    let date = PropertyListDate(secondsSinceReferenceDate: seconds)
    if !date.isRepresentable { throw Failure(MP_ERROR_RANGE, "the date is outside the years 0000 to 9999") }
    return .date(date)
  }

  static func values(
    _ pointer: UnsafePointer<OpaquePointer?>?, _ count: Int, _ parameter: StaticString
  ) throws(Failure) -> [ValueHandle] {
    try check(count: count, pointer == nil, parameter)
    var values: [ValueHandle] = []
    for value in UnsafeBufferPointer(start: pointer, count: count) {
      guard let value else { throw Failure(MP_ERROR_NULL, "'\(parameter)[\(values.count)]' is NULL") }
      values.append(ValueHandle.of(value))
    }
    return values
  }

  /// The height of a container of these.
  static func height(around values: [ValueHandle]) throws(Failure) -> Int {
    let height = 1 + (values.lazy.map(\.height).max() ?? 0)
    if height > ValueHandle.maximumHeight {
      throw Failure(MP_ERROR_RANGE, "containers nest deeper than \(ValueHandle.maximumHeight) levels")
    }
    return height
  }
}
