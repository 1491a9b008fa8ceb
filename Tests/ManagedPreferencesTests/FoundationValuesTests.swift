import Foundation
import PropertyList
import Testing

@testable import ManagedPreferences

/// What an `Any` is as a property list, and what comes back: the type decides, never a cast that fits twice.
@Suite struct FoundationValuesTests {
  struct Row: CustomTestStringConvertible, @unchecked Sendable {
    let id: String
    let object: Any
    let value: PropertyListValue
    var testDescription: String { id }

    init(_ id: String, _ object: Any, _ value: PropertyListValue) {
      self.id = id
      self.object = object
      self.value = value
    }
  }

  static let moment = Date(timeIntervalSinceReferenceDate: 694_265_400.123456)
  static let storedMoment = PropertyListValue.date(PropertyListDate(secondsSinceReferenceDate: 694_265_400.123456))

  static let rows = [
    Row("string", "text", .string("text")),
    Row("string, composed", "e\u{301}\u{1F600}", .string("e\u{301}\u{1F600}")),
    Row("NSString", NSString("text"), .string("text")),
    Row("NSMutableString", NSMutableString(string: "text"), .string("text")),
    Row("true", true, .boolean(true)),
    Row("false", false, .boolean(false)),
    Row("NSNumber true", NSNumber(value: true), .boolean(true)),
    Row("NSNumber false", NSNumber(value: false), .boolean(false)),
    Row("Int 1", 1, .integer(1)),
    Row("Int 0", 0, .integer(0)),
    Row("Int.max", Int.max, .integer(PropertyListInteger(Int.max))),
    Row("Int.min", Int.min, .integer(PropertyListInteger(Int.min))),
    Row("UInt64.max", UInt64.max, .integer(PropertyListInteger(UInt64.max))),
    Row("UInt.max", UInt.max, .integer(PropertyListInteger(UInt64.max))),
    Row("Int8", Int8(-8), .integer(-8)),
    Row("Int8 1", Int8(1), .integer(1)),
    Row("Int16", Int16(-16), .integer(-16)),
    Row("Int32", Int32(-32), .integer(-32)),
    Row("Int64", Int64(-64), .integer(-64)),
    Row("UInt8", UInt8(200), .integer(200)),
    Row("UInt16", UInt16(60000), .integer(60000)),
    Row("UInt32", UInt32(4_000_000_000), .integer(4_000_000_000)),
    Row("NSNumber 1", NSNumber(value: 1), .integer(1)),
    Row("NSNumber Int8 1", NSNumber(value: Int8(1)), .integer(1)),
    Row("NSNumber Int.min", NSNumber(value: Int.min), .integer(PropertyListInteger(Int.min))),
    Row("NSNumber UInt64.max", NSNumber(value: UInt64.max), .integer(PropertyListInteger(UInt64.max))),
    Row("NSNumber UInt8", NSNumber(value: UInt8(200)), .integer(200)),
    Row("NSNumber UInt32", NSNumber(value: UInt32.max), .integer(4_294_967_295)),
    Row("Double 1.0", 1.0, .real(1)),
    Row("Double 0.1", 0.1, .real(0.1)),
    Row("Double -0.0", -0.0, .real(-0.0)),
    Row("Double infinity", Double.infinity, .real(.infinity)),
    Row("Float 3.7", Float(3.7), .real(Double(Float(3.7)))),
    Row("CGFloat", CGFloat(2.5), .real(2.5)),
    Row("NSNumber 1.0", NSNumber(value: 1.0), .real(1)),
    Row("NSNumber Float", NSNumber(value: Float(3.7)), .real(Double(Float(3.7)))),
    Row("Date", moment, storedMoment),
    Row("NSDate", NSDate(timeIntervalSinceReferenceDate: 694_265_400.123456), storedMoment),
    Row(
      "distantFuture", Date.distantFuture,
      .date(PropertyListDate(secondsSinceReferenceDate: Date.distantFuture.timeIntervalSinceReferenceDate))),
    Row(
      "distantPast", Date.distantPast,
      .date(PropertyListDate(secondsSinceReferenceDate: Date.distantPast.timeIntervalSinceReferenceDate))),
    Row("Data", Data([0, 255]), .data([0, 255])),
    Row("Data slice", Data([9, 0, 255])[1...], .data([0, 255])),
    Row("NSData", NSData(data: Data([0, 255])), .data([0, 255])),
    Row("NSMutableData", NSMutableData(data: Data([0, 255])), .data([0, 255])),
    Row("empty array", [Any](), .array([])),
    Row("array of three kinds of one", [true, 1, 1.0] as [Any], .array([.boolean(true), .integer(1), .real(1)])),
    Row("[Int]", [1, 2], .array([.integer(1), .integer(2)])),
    Row(
      "NSArray", NSArray(array: [true, 1, 1.5, "x"]), .array([.boolean(true), .integer(1), .real(1.5), .string("x")])),
    Row("NSMutableArray", NSMutableArray(array: ["x"]), .array([.string("x")])),
    Row("empty dictionary", [String: Any](), .dictionary([:])),
    Row("dictionary", ["a": [true]], .dictionary(["a": .array([.boolean(true)])])),
    Row(
      "NSDictionary", NSDictionary(dictionary: ["b": true, "n": 1]),
      .dictionary(["b": .boolean(true), "n": .integer(1)])),
    Row("optional", Optional(5) as Any, .integer(5)),
    Row("optional NSNumber", Optional(NSNumber(value: 1)) as Any, .integer(1)),
  ]

  @Test(arguments: rows) func isThePropertyList(_ row: Row) throws {
    #expect(try FoundationValues.propertyList(row.object) == row.value)
  }

  @Test(arguments: rows) func comesBackEqual(_ row: Row) throws {
    #expect(try FoundationValues.propertyList(FoundationValues.object(row.value)) == row.value)
  }

  @Test func handsOutSwiftValues() {
    #expect(type(of: FoundationValues.object(.integer(1))) == Int.self)
    #expect(type(of: FoundationValues.object(.integer(PropertyListInteger(UInt64.max)))) == UInt64.self)
    #expect(type(of: FoundationValues.object(.real(1))) == Double.self)
    #expect(type(of: FoundationValues.object(.boolean(true))) == Bool.self)
    #expect(FoundationValues.object(.boolean(true)) is NSNumber)
    #expect(type(of: FoundationValues.object(.array([]))) == [Any].self)
    #expect(type(of: FoundationValues.object(.dictionary([:]))) == [String: Any].self)
  }

  static let refused = [
    Refusal("UUID", UUID(), "UUID is no property list (string, number, boolean, date, data, array, dictionary)"),
    Refusal("NSNull", NSNull(), "NSNull is no property list (string, number, boolean, date, data, array, dictionary)"),
    Refusal(
      "URL inside", [URL(filePath: "/")],
      "at [0]: URL is no property list (string, number, boolean, date, data, array, dictionary)"),
    Refusal(
      "deep inside", ["a": ["b": [1, Character("c")] as [Any]]],
      "at [\"a\"][\"b\"][1]: Character is no property list (string, number, boolean, date, data, array, dictionary)"),
    Refusal(
      "nil inside", [Optional<Int>.none as Any],
      "at [0]: nil is no property list (string, number, boolean, date, data, array, dictionary)"),
    Refusal(
      "date", ["a": Date(timeIntervalSinceReferenceDate: .nan)], "at [\"a\"]: the date is not in the years 0 to 9999"),
    Refusal("key", [AnyHashable(1): "x"], "the dictionary key 1 is not a string"),
  ]
  struct Refusal: CustomTestStringConvertible, @unchecked Sendable {
    let id: String
    let object: Any
    let message: String
    var testDescription: String { id }
    init(_ id: String, _ object: Any, _ message: String) {
      self.id = id
      self.object = object
      self.message = message
    }
  }

  @Test(arguments: refused) func isNoPropertyList(_ row: Refusal) {
    let error = #expect(throws: NotPropertyList.self) { try FoundationValues.propertyList(row.object) }
    #expect(error?.description == row.message)
  }

  @Test func nestsAsDeepAsFilesDo() throws {
    var value: Any = 1
    for _ in 0..<FoundationValues.maximumDepth { value = [value] }
    // In a file, one level more: the dictionary of the domain.
    let stored = PropertyListValue.dictionary(["k": try FoundationValues.propertyList(value)])
    #expect(try PropertyListCoding.decode(PropertyListCoding.encode(stored, as: .binary)) == stored)
    let error = #expect(throws: NotPropertyList.self) { try FoundationValues.propertyList([value]) }
    #expect(error?.found == .tooDeep)
  }
}
