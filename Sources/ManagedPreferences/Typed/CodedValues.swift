internal import Foundation
internal import PropertyList

/// `Codable` values as the property lists that they are: a structure becomes a dictionary, an array an array, so that a
/// policy can force one in YAML.
enum CodedPropertyList {
  /// - Throws: what the type's `encode(to:)` or the encoder throws, or `PropertyListError` for what nests too deep.
  static func encode(_ value: some Encodable) throws -> PropertyListValue {
    // In an array: a property list by itself need not be a container, for the encoder it must.
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let bytes = [UInt8](try encoder.encode([value]))
    guard case .array(let elements) = try PropertyListCoding.decode(bytes, as: .binary), let element = elements.first
    else { throw CocoaError(.coderInvalidValue) }
    return element
  }

  /// nil where the value does not have the type's form.
  static func decode<Value: Decodable>(_ value: PropertyListValue) -> Value? {
    guard let bytes = try? PropertyListCoding.encode(.array([value]), as: .binary) else { return nil }
    return try? PropertyListDecoder().decode([Value].self, from: Data(bytes)).first
  }
}

/// Objects that support `NSSecureCoding` as data: the archives that Foundation's archiver writes.
enum ArchivedObject {
  static func encode(_ object: some NSObject & NSSecureCoding) throws -> PropertyListValue {
    .data([UInt8](try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)))
  }

  /// nil where the value is no archive of such an object.
  static func decode<Value: NSObject & NSSecureCoding>(_ value: PropertyListValue, _ type: Value.Type) -> Value? {
    // A number that somebody else wrote, an administrator say, is one.
    if type == NSNumber.self, let number = number(value) { return number as? Value }
    guard case .data(let bytes) = value else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: Data(bytes))
  }

  private static func number(_ value: PropertyListValue) -> NSNumber? {
    switch value {
    case .boolean(let flag): NSNumber(value: flag)
    case .integer(let number): number.int64.map { NSNumber(value: $0) } ?? NSNumber(value: number.bitPattern)
    case .real(let number): NSNumber(value: number)
    default: nil
    }
  }
}
