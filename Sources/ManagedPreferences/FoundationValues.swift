internal import Foundation
internal import PropertyList

/// Between the property-list values of the engine and the `Any` of `UserDefaults`.
///
/// Towards Foundation: `String`, `Int` (`UInt64` above `Int.max`), `Double`, `Bool`, `Date`, `Data`, `[Any]` and
/// `[String: Any]`, all of them Swift values, so nothing that is handed out can be changed behind our back. From
/// Foundation: the same, every other width of number, `CGFloat`, and the classes `NSNumber`, `NSString`, `NSDate`,
/// `NSData`, `NSArray` and `NSDictionary`. A boolean stays a boolean, an integer an integer, a real a real: the
/// dynamic type decides, never a cast that could succeed for two of them.
enum FoundationValues {
  /// How deep arrays and dictionaries may nest: what the codecs read back, less the file's own dictionary.
  static let maximumDepth = DecodingLimits.default.maximumDepth - 1

  /// What Foundation's getters hand out for a value. Complexity: O(n) for collections.
  static func object(_ value: PropertyListValue) -> any Sendable {
    switch value {
    case .string(let text): text
    case .integer(let number): number.int64.map { Int($0) as any Sendable } ?? number.bitPattern as any Sendable
    case .real(let number): number
    case .boolean(let flag): flag
    case .date(let date): Date(timeIntervalSinceReferenceDate: date.secondsSinceReferenceDate)
    case .data(let bytes): Data(bytes)
    case .array(let elements): elements.map(object)
    case .dictionary(let members): members.mapValues(object)
    }
  }

  /// The property list that a value is.
  ///
  /// - Throws: `NotPropertyList`, with the place inside the value and the type found there.
  static func propertyList(_ value: Any) throws(NotPropertyList) -> PropertyListValue {
    try propertyList(value, depth: 0)
  }

  private static func propertyList(_ value: Any, depth: Int) throws(NotPropertyList) -> PropertyListValue {
    // Two functions, since the many casts of the first need a large stack frame, which nesting must not multiply.
    if let scalar = try scalar(value) { return scalar }
    return try collection(value, depth: depth)
  }

  @inline(never)
  private static func scalar(_ value: Any) throws(NotPropertyList) -> PropertyListValue? {
    switch type(of: value) {
    case is String.Type: .string(value as! String)
    case is Bool.Type: .boolean(value as! Bool)
    case is Int.Type: .integer(PropertyListInteger(value as! Int))
    case is Double.Type: .real(value as! Double)
    case is Float.Type: .real(Double(value as! Float))
    case is CGFloat.Type: .real(Double(value as! CGFloat))
    case is Date.Type: try date(value as! Date)
    case is Data.Type: .data([UInt8](value as! Data))
    case is Int8.Type: .integer(PropertyListInteger(Int64(value as! Int8)))
    case is Int16.Type: .integer(PropertyListInteger(Int64(value as! Int16)))
    case is Int32.Type: .integer(PropertyListInteger(Int64(value as! Int32)))
    case is Int64.Type: .integer(PropertyListInteger(value as! Int64))
    case is UInt.Type: .integer(PropertyListInteger(UInt64(value as! UInt)))
    case is UInt8.Type: .integer(PropertyListInteger(UInt64(value as! UInt8)))
    case is UInt16.Type: .integer(PropertyListInteger(UInt64(value as! UInt16)))
    case is UInt32.Type: .integer(PropertyListInteger(UInt64(value as! UInt32)))
    case is UInt64.Type: .integer(PropertyListInteger(value as! UInt64))
    case is NSNumber.Type: number(value as! NSNumber)
    case is NSString.Type: .string(value as! String)
    case is NSDate.Type: try date(value as! Date)
    case is NSData.Type: .data([UInt8](Data(referencing: value as! NSData)))
    default: nil
    }
  }

  /// Files hold dates of the years 0 to 9999; one that is no number, or beyond, could be set and never be written.
  private static func date(_ date: Date) throws(NotPropertyList) -> PropertyListValue {
    let value = PropertyListValue.date(
      PropertyListDate(secondsSinceReferenceDate: date.timeIntervalSinceReferenceDate))
    do {
      _ = try PropertyListCoding.encode(value, as: .binary)
    } catch {
      throw NotPropertyList(place: "", found: .date)
    }
    return value
  }

  /// A boxed number by its own type. The two boolean objects are the only ones of their kind, and `objCType` can't tell
  /// them from an `Int8`; they are told by identity.
  private static func number(_ number: NSNumber) -> PropertyListValue {
    if number === NSNumber(value: true) { return .boolean(true) }
    if number === NSNumber(value: false) { return .boolean(false) }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "f"), UInt8(ascii: "d"): return .real(number.doubleValue)
    case UInt8(ascii: "Q"): return .integer(PropertyListInteger(number.uint64Value))
    default: return .integer(PropertyListInteger(number.int64Value))
    }
  }

  private static func collection(_ value: Any, depth: Int) throws(NotPropertyList) -> PropertyListValue {
    guard depth < maximumDepth else { throw NotPropertyList(place: "", found: .tooDeep) }
    if let optional = value as? any Wrapping {
      guard let wrapped = optional.wrapped else { throw NotPropertyList(place: "", found: .type("nil")) }
      return try propertyList(wrapped, depth: depth)
    }
    if let elements = value as? [Any] { return .array(try array(elements, depth: depth)) }
    if let members = value as? [String: Any] { return .dictionary(try dictionary(members, depth: depth)) }
    if let members = value as? [AnyHashable: Any] {
      let key = members.keys.first { !($0.base is String) }
      throw NotPropertyList(place: "", found: .key(key.map { "\($0)" } ?? ""))
    }
    throw NotPropertyList(place: "", found: .type("\(type(of: value))"))
  }

  private static func array(_ elements: [Any], depth: Int) throws(NotPropertyList) -> [PropertyListValue] {
    var result: [PropertyListValue] = []
    result.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      do {
        result.append(try propertyList(element, depth: depth + 1))
      } catch {
        throw error.inside("[\(index)]")
      }
    }
    return result
  }

  /// A dictionary whose members are property lists. `depth` is the dictionary's own.
  static func dictionary(
    _ members: [String: Any], depth: Int = 0
  ) throws(NotPropertyList) -> [String: PropertyListValue] {
    var result: [String: PropertyListValue] = [:]
    result.reserveCapacity(members.count)
    for (key, member) in members {
      do {
        result[key] = try propertyList(member, depth: depth + 1)
      } catch {
        throw error.inside("[\"\(key)\"]")
      }
    }
    return result
  }
}

/// A value that no property list can hold, and where it stands in what was handed over.
struct NotPropertyList: Error, Equatable, CustomStringConvertible {
  enum Found: Equatable {
    case type(String)
    case key(String)
    case date
    case tooDeep
  }

  /// Subscripts from the outermost value inwards, such as `["Windows"][3]`; empty for the value itself.
  var place: String
  var found: Found

  /// The same error, seen from one level further out.
  func inside(_ step: String) -> NotPropertyList { NotPropertyList(place: step + place, found: found) }

  var description: String {
    let what =
      switch found {
      case .type(let name): "\(name) is no property list (string, number, boolean, date, data, array, dictionary)"
      case .key(let key): "the dictionary key \(key) is not a string"
      case .date: "the date is not in the years 0 to 9999"
      case .tooDeep: "arrays and dictionaries nest deeper than \(FoundationValues.maximumDepth) levels"
      }
    return place.isEmpty ? what : "at \(place.count > 200 ? place.prefix(200) + "…" : place[...]): \(what)"
  }
}

/// An optional in an `Any`, whatever it wraps.
private protocol Wrapping {
  var wrapped: Any? { get }
}

extension Optional: Wrapping {
  fileprivate var wrapped: Any? { map { $0 as Any } }
}
