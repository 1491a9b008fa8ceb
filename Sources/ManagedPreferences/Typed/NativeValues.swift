public import Foundation
internal import PreferencesCore
internal import PropertyList

// The native types. A property converts a value of another type as the getter of the same name does; where that getter has
// no conversion (a date for an integer), the property has its default. An element of an array is taken as it is, except
// that an integer counts as a real.

extension String: PreferenceValue {
  public static func _value(at place: PreferencePlace) -> String? { place.list.string(place.key) }

  public static func _value(at place: PreferencePlace, else fallback: (PreferencePlace) -> String) -> String {
    place.list.string(place.key) ?? fallback(place)
  }

  public static func _value(from form: PreferenceForm) -> String? { form.value.stringValue }
  public static func _elements(from form: PreferenceForm) -> [String]? { form.value.stringArrayValue }

  public static func _element(from form: PreferenceForm) -> String? {
    if case .string(let text) = form.value { text } else { nil }
  }

  public func _form(home: String) -> PreferenceForm { PreferenceForm(value: .string(self), home: home) }
}

extension Bool: PreferenceValue {
  public static func _value(at place: PreferencePlace) -> Bool? { place.list.bool(place.key) }

  public static func _value(at place: PreferencePlace, else fallback: (PreferencePlace) -> Bool) -> Bool {
    place.list.bool(place.key) ?? fallback(place)
  }

  public static func _value(from form: PreferenceForm) -> Bool? {
    form.value.isConvertible ? form.value.boolValue : nil
  }

  public static func _element(from form: PreferenceForm) -> Bool? {
    if case .boolean(let flag) = form.value { flag } else { nil }
  }

  public func _form(home: String) -> PreferenceForm { PreferenceForm(value: .boolean(self), home: home) }
}

/// All widths: a number that is too large for one is clamped.
extension PreferenceValue where Self: FixedWidthInteger & Codable {
  public static func _value(from form: PreferenceForm) -> Self? {
    if case .integer(let number) = form.value { return clamped(number) }
    return form.value.isConvertible ? Self(clamping: form.value.integerValue) : nil
  }

  public static func _element(from form: PreferenceForm) -> Self? {
    if case .integer(let number) = form.value { clamped(number) } else { nil }
  }

  private static func clamped(_ number: PropertyListInteger) -> Self {
    number.int64.map { Self(clamping: $0) } ?? Self(clamping: number.bitPattern)
  }

  public func _form(home: String) -> PreferenceForm {
    // Only an unsigned 64-bit integer has values that are no Int64.
    let number = Int64(exactly: self).map { PropertyListInteger($0) } ?? PropertyListInteger(UInt64(clamping: self))
    return PreferenceForm(value: .integer(number), home: home)
  }
}

extension Int: PreferenceValue {
  public static func _value(at place: PreferencePlace) -> Int? { place.list.integer(place.key) }

  public static func _value(at place: PreferencePlace, else fallback: (PreferencePlace) -> Int) -> Int {
    place.list.integer(place.key) ?? fallback(place)
  }

}
extension Int8: PreferenceValue {}
extension Int16: PreferenceValue {}
extension Int32: PreferenceValue {}
extension Int64: PreferenceValue {}
extension UInt: PreferenceValue {}
extension UInt8: PreferenceValue {}
extension UInt16: PreferenceValue {}
extension UInt32: PreferenceValue {}
extension UInt64: PreferenceValue {}

extension Double: PreferenceValue {
  public static func _value(at place: PreferencePlace) -> Double? { place.list.double(place.key) }

  public static func _value(at place: PreferencePlace, else fallback: (PreferencePlace) -> Double) -> Double {
    place.list.double(place.key) ?? fallback(place)
  }

  public static func _value(from form: PreferenceForm) -> Double? {
    form.value.isConvertible ? form.value.doubleValue : nil
  }

  public static func _element(from form: PreferenceForm) -> Double? {
    switch form.value {
    case .real(let number): number
    case .integer(let number): number.double
    default: nil
    }
  }

  public func _form(home: String) -> PreferenceForm { PreferenceForm(value: .real(self), home: home) }
}

extension Float: PreferenceValue {
  public static func _value(at place: PreferencePlace) -> Float? { place.list.double(place.key).map { Float($0) } }

  public static func _value(at place: PreferencePlace, else fallback: (PreferencePlace) -> Float) -> Float {
    place.list.double(place.key).map { Float($0) } ?? fallback(place)
  }

  public static func _value(from form: PreferenceForm) -> Float? { Double._value(from: form).map { Float($0) } }
  public static func _element(from form: PreferenceForm) -> Float? { Double._element(from: form).map { Float($0) } }
  public func _form(home: String) -> PreferenceForm { PreferenceForm(value: .real(Double(self)), home: home) }
}

extension Date: PreferenceValue {
  public static func _value(from form: PreferenceForm) -> Date? {
    guard case .date(let date) = form.value else { return nil }
    return Date(timeIntervalSinceReferenceDate: date.secondsSinceReferenceDate)
  }

  public static func _element(from form: PreferenceForm) -> Date? { _value(from: form) }

  public func _form(home: String) throws -> PreferenceForm {
    PreferenceForm(value: try FoundationValues.propertyList(self), home: home)
  }
}

extension Data: PreferenceValue {
  public static func _value(from form: PreferenceForm) -> Data? { form.value.dataValue.map { Data($0) } }
  public static func _element(from form: PreferenceForm) -> Data? { _value(from: form) }
  public func _form(home: String) -> PreferenceForm { PreferenceForm(value: .data([UInt8](self)), home: home) }
}

extension URL: PreferenceValue {
  public static func _value(from form: PreferenceForm) -> URL? {
    form.value.urlValue(home: form.home).flatMap(FoundationURLs.url)
  }

  public static func _element(from form: PreferenceForm) -> URL? { _value(from: form) }

  public func _form(home: String) -> PreferenceForm {
    PreferenceForm(value: FoundationURLs.stored(self, home: home), home: home)
  }
}

// MARK: - Collections

extension Array: PreferenceValue where Element: PreferenceValue {
  public static func _value(at place: PreferencePlace, else fallback: (PreferencePlace) -> [Element]) -> [Element] {
    place.form.flatMap { Element._elements(from: $0) } ?? fallback(place)
  }

  public static func _value(from form: PreferenceForm) -> [Element]? { Element._elements(from: form) }
  public static func _element(from form: PreferenceForm) -> [Element]? { Element._elements(from: form) }

  public func _form(home: String) throws -> PreferenceForm {
    PreferenceForm(value: .array(try map { try $0._form(home: home).value }), home: home)
  }
}

extension Dictionary: PreferenceValue where Key == String, Value: PreferenceValue {
  public static func _value(from form: PreferenceForm) -> [String: Value]? {
    guard case .dictionary(let members) = form.value else { return nil }
    var result: [String: Value] = [:]
    result.reserveCapacity(members.count)
    for (key, member) in members {
      guard let member = Value._element(from: PreferenceForm(value: member, home: form.home)) else { return nil }
      result[key] = member
    }
    return result
  }

  public static func _element(from form: PreferenceForm) -> [String: Value]? { _value(from: form) }

  public func _form(home: String) throws -> PreferenceForm {
    PreferenceForm(value: .dictionary(try mapValues { try $0._form(home: home).value }), home: home)
  }
}

extension PropertyListValue {
  /// Whether the getters of numbers and booleans convert the value, instead of answering 0 for it.
  var isConvertible: Bool {
    switch self {
    case .string, .integer, .real, .boolean: true
    case .date, .data, .array, .dictionary: false
    }
  }
}
