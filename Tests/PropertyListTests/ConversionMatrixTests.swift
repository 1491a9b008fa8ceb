import PropertyList
import Testing

/// The whole matrix of getters and stored values, a row for each value.
@Suite("Conversions")
struct ConversionMatrixTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let stored: PropertyListValue
    var bool = false
    var integer = 0
    var double = 0.0
    var string: String?
    var testDescription: String { id }

    init(
      _ id: String, _ stored: PropertyListValue, _ bool: Bool = false, _ integer: Int = 0, _ double: Double = 0,
      _ string: String? = nil
    ) {
      self.id = id
      self.stored = stored
      self.bool = bool
      self.integer = integer
      self.double = double
      self.string = string
    }

    /// A stored string: `string` gives it back.
    static func text(_ text: String, _ bool: Bool, _ integer: Int = 0, _ double: Double = 0) -> Row {
      Row("string \(PropertyListValue.string(text).displayText)", .string(text), bool, integer, double, text)
    }

    static func real(_ number: Double, _ integer: Int, _ string: String) -> Row {
      Row("real \(string)", .real(number), number != 0, integer, number, string)
    }
  }

  static let strings: [Row] = [
    .text("YES", true), .text("yes", true), .text("true", true), .text("T", true), .text("tRUE", true),
    .text("1", true, 1, 1), .text("01", true, 1, 1), .text("0", false), .text("-1", true, -1, -1),
    .text("+1", true, 1, 1), .text("1.5", true, 1, 1.5), .text("12abc", true, 12, 12), .text("no", false),
    .text("NO", false), .text("false", false), .text("Yonder", true), .text("tomato", true), .text(" true", true),
    .text("\t\n y", true), .text("\u{A0}\u{2003}\u{2028}1", true, 1, 1), .text("", false), .text(" ", false),
    .text("off", false), .text("on", false), .text("nil", false), .text("0.5", false, 0, 0.5),
    .text(".5", false, 0, 0.5), .text("--1", false), .text("+-1", false), .text("- 1", false), .text("-", false),
    .text("0001", true, 1, 1), .text("000", false), .text("-0", false, 0, -0.0), .text("1e3", true, 1, 1000),
    .text("0x10", false), .text("42  ", true, 42, 42), .text("  42", true, 42, 42), .text("\r\n42", true, 42, 42),
    .text("9223372036854775807", true, .max, 0x1p63), .text("9223372036854775808", true, .max, 0x1p63),
    .text("-9223372036854775808", true, .min, -0x1p63), .text("-9223372036854775809", true, .min, -0x1p63),
    .text("18446744073709551615", true, .max, 0x1p64), .text("99999999999999999999999", true, .max, 1e23),
    .text("inf", false), .text("nan", false), .text("-inf", false), .text("infinity", false),
    .text("3.7", true, 3, 3.7), .text("5.", true, 5, 5), .text("5e", true, 5, 5), .text("5e+", true, 5, 5),
    .text("1.5e2x", true, 1, 150), .text("1e999", true, 1, .infinity), .text("-1e999", true, -1, -.infinity),
    .text("1e-999", true, 1, 0), .text("1,5", true, 1, 1), .text("٣", false), .text("300", true, 300, 300),
    .text("'Welcome'", false), .text("['a','b']", false), .text("1\u{0}2", true, 1, 1),
  ]

  static let numbers: [Row] = [
    Row("integer 0", .integer(0), false, 0, 0, "0"), Row("integer 1", .integer(1), true, 1, 1, "1"),
    Row("integer -1", .integer(-1), true, -1, -1, "-1"), Row("integer 42", .integer(42), true, 42, 42, "42"),
    Row("Int.max", .integer(.init(Int64.max)), true, .max, 0x1p63, "9223372036854775807"),
    Row("Int.min", .integer(.init(Int64.min)), true, .min, -0x1p63, "-9223372036854775808"),
    Row("2^63", .integer(.init(UInt64(1) << 63)), true, .max, 0x1p63, "9223372036854775808"),
    Row("UInt64.max", .integer(.init(UInt64.max)), true, .max, 0x1p64, "18446744073709551615"),
    .real(0, 0, "0.0"), .real(-0.0, 0, "-0.0"), .real(2, 2, "2.0"), .real(3.7, 3, "3.7"), .real(-3.7, -3, "-3.7"),
    .real(0.5, 0, "0.5"), .real(12.34, 12, "12.34"), .real(1e20, .max, "1e+20"), .real(-1e20, .min, "-1e+20"),
    .real(0x1p63, .max, "9.223372e+18"), .real(-0x1p63, .min, "-9.223372e+18"),
    .real(.infinity, .max, "inf"), .real(-.infinity, .min, "-inf"), .real(.nan, 0, "nan"),
    .real(.leastNonzeroMagnitude, 0, "5e-324"), .real(1.0 / 3.0, 0, "0.3333333333333333"),
    .real(Double(Float(3.7)), 3, "3.7"), .real(Double(Float(0.1)), 0, "0.1"),
    .real(Double(Float(12.34)), 12, "12.34"), .real(Double(Float(1e20)), .max, "1e+20"),
    // A Float whose own text needs more than 7 digits, and one whose Double's text is short: the Double's text.
    .real(Double(Float(16_777_216.0) / 3), 5_592_405, "5592405.5"), .real(0.25, 0, "0.25"),
    .real(Double(Float.pi), 3, "3.141592502593994"),
    Row("true", .boolean(true), true, 1, 1, "1"), Row("false", .boolean(false), false, 0, 0, "0"),
  ]

  static let others: [Row] = [
    Row("date", .date(.init(secondsSinceReferenceDate: 1))), Row("data", .data([0x31])),
    Row("array", .array([.integer(1)])), Row("dictionary", .dictionary(["a": .integer(1)])),
    Row("empty data", .data([])), Row("empty array", .array([])), Row("empty dictionary", .dictionary([:])),
  ]

  @Test("bool, integer, float, double, string", arguments: strings + numbers + others)
  func scalars(_ row: Row) {
    #expect(row.stored.boolValue == row.bool)
    #expect(row.stored.integerValue == row.integer)
    #expect(
      row.stored.doubleValue.bitPattern == row.double.bitPattern || row.double.isNaN && row.stored.doubleValue.isNaN)
    #expect(row.stored.floatValue.bitPattern == Float(row.double).bitPattern || row.double.isNaN)
    #expect(row.stored.stringValue == row.string)
  }

  /// The rules on raw bytes and the getters are one rule.
  @Test("on raw UTF-8", arguments: strings)
  func rawBytes(_ row: Row) throws {
    let text = try #require(row.stored.stringValue)
    let bytes = Array(text.utf8)
    bytes.withUnsafeBufferPointer { bytes in
      #expect(StringConversions.boolean(utf8: bytes) == row.bool)
      #expect(StringConversions.integer(utf8: bytes) == row.integer)
      #expect(StringConversions.double(utf8: bytes).bitPattern == row.double.bitPattern)
    }
  }

  @Test("array, dictionary, data: only the same type", arguments: strings + numbers + others)
  func containers(_ row: Row) {
    switch row.stored {
    case .array(let elements): #expect(row.stored.arrayValue == elements)
    default: #expect(row.stored.arrayValue == nil)
    }
    switch row.stored {
    case .dictionary(let members): #expect(row.stored.dictionaryValue == members)
    default: #expect(row.stored.dictionaryValue == nil)
    }
    switch row.stored {
    case .data(let bytes): #expect(row.stored.dataValue == bytes)
    default: #expect(row.stored.dataValue == nil)
    }
  }

  static let stringArrayRows: [(PropertyListValue, [String]?)] = [
    (.array([]), []), (.array([.string("a"), .string("")]), ["a", ""]),
    (.array([.string("a"), .integer(1)]), nil), (.array([.boolean(true)]), nil), (.array([.array([])]), nil),
    (.string("a"), nil), (.integer(1), nil), (.boolean(true), nil), (.data([]), nil), (.dictionary([:]), nil),
  ]

  @Test(
    "stringArray",
    arguments: stringArrayRows)
  func stringArray(_ stored: PropertyListValue, _ expected: [String]?) {
    #expect(stored.stringArrayValue == expected)
  }
}

@Suite("URLs")
struct URLTests {
  static let home = "/home/ann"

  static let fromStringRows: [(String, URLReference)] = [
    ("/tmp/x", .file(path: "/tmp/x")), ("~", .file(path: "/home/ann")), ("~/x y", .file(path: "/home/ann/x y")),
    ("~bob/x", .file(path: "/Users/bob/x")), ("~nobody/x", .file(path: "~nobody/x")),
    ("relative/x", .file(path: "relative/x")), ("", .file(path: "")),
    ("https://exam.example.org/?q=~", .url(text: "https://exam.example.org/?q=~", base: nil)),
    ("file:///tmp/x", .url(text: "file:///tmp/x", base: nil)), ("a+b-c.1://x", .url(text: "a+b-c.1://x", base: nil)),
    ("mailto:ann@example.org", .file(path: "mailto:ann@example.org")), ("://x", .file(path: "://x")),
    ("1a://x", .file(path: "1a://x")), ("/a://b", .file(path: "/a://b")), ("~/a://b", .file(path: "/home/ann/a://b")),
  ]

  @Test(
    "from a string",
    arguments: fromStringRows)
  func fromString(_ text: String, _ expected: URLReference) {
    let url = PropertyListValue.string(text).urlValue(home: Self.home) { $0 == "bob" ? "/Users/bob" : nil }
    #expect(url == expected)
  }

  static let fromOtherRows: [PropertyListValue] = [
    .integer(1), .real(1), .boolean(true), .date(.init(secondsSinceReferenceDate: 0)), .array([.string("/x")]),
    .dictionary(["a": .string("/x")]), .data([]), .data(Array("https://example.org".utf8)),
  ]

  @Test(
    "from another type",
    arguments: fromOtherRows)
  func fromOther(_ stored: PropertyListValue) {
    #expect(stored.urlValue(home: Self.home) == nil)
  }

  static let storedFileRows: [(String, String, String)] = [
    ("/home/ann", "/home/ann", "~"), ("/home/ann/x", "/home/ann", "~/x"),
    ("/home/anna/x", "/home/ann", "/home/anna/x"),
    ("/home/ann/x", "/home/ann/", "~/x"), ("/etc/x", "/", "/etc/x"), ("/etc/x", "", "/etc/x"),
    ("/tmp", "/home/ann", "/tmp"),
  ]

  @Test(
    "a file's stored form is abbreviated at a component boundary",
    arguments: storedFileRows)
  func storedFile(_ path: String, _ home: String, _ expected: String) {
    let stored = URLReference.storedForm(of: .file(path: path), home: home)
    #expect(stored == .string(expected))
    #expect(stored.urlValue(home: home) == .file(path: path))
  }

  static let archiveRows: [URLReference] = [
    .url(text: "https://example.org/ä?x", base: nil), .url(text: "foo.xml", base: "https://www.example.com"),
    .url(text: "", base: nil), .url(text: "$null", base: nil), .url(text: "mailto:a@b", base: nil),
  ]

  @Test(
    "any other URL is an archive",
    arguments: archiveRows)
  func archive(_ url: URLReference) {
    let stored = URLReference.storedForm(of: url, home: Self.home)
    #expect(stored.type == .data)
    #expect(stored.urlValue(home: Self.home) == url)
  }

  /// Archives that hold something else, or that lead outside themselves.
  static let foreignArchiveRows: [String] = [
    #"{"$archiver": "NSKeyedArchiver", "$top": {"root": {"CF$UID": 9}}, "$objects": ["$null"]}"#,
    #"{"$archiver": "NSKeyedArchiver", "$top": {"root": {"CF$UID": 0}}, "$objects": ["$null"]}"#,
    #"{"$archiver": "NSKeyedArchiver", "$top": {}, "$objects": []}"#,
    #"{"$archiver": "Other", "$top": {"root": {"CF$UID": 1}}, "$objects": ["$null", {"$class": {"CF$UID": 3}, "NS.base": {"CF$UID": 0}, "NS.relative": {"CF$UID": 2}}, "https://example.org", {"$classname": "NSURL"}]}"#,
    #"{"$archiver": "NSKeyedArchiver", "$top": {"root": {"CF$UID": 1}}, "$objects": ["$null", {"$class": {"CF$UID": 3}, "NS.base": {"CF$UID": 0}, "NS.relative": {"CF$UID": 2}}, "https://example.org", {"$classname": "NSString"}]}"#,
    #"{"$archiver": "NSKeyedArchiver", "$top": {"root": {"CF$UID": 1}}, "$objects": ["$null", {"$class": {"CF$UID": 3}, "NS.base": {"CF$UID": 1}, "NS.relative": {"CF$UID": 2}}, "loop", {"$classname": "NSURL"}]}"#,
    #"{"$archiver": "NSKeyedArchiver", "$top": {"root": {"CF$UID": 1}}, "$objects": ["$null", {"$class": {"CF$UID": 3}, "NS.base": {"CF$UID": 0}, "NS.relative": {"CF$UID": 1}}, "x", {"$classname": "NSURL"}]}"#,
    #"{"$archiver": "NSKeyedArchiver", "$top": {"root": {"CF$UID": 1}}, "$objects": ["$null", {"$class": {"CF$UID": 3}, "NS.relative": {"CF$UID": 2}}, "x", {"$classname": "NSURL"}]}"#,
  ]

  @Test(
    "an archive of anything else is nil",
    arguments: foreignArchiveRows)
  func foreignArchive(_ json: String) throws {
    let archive = try PropertyListCoding.encode(PropertyListCoding.decode(Array(json.utf8), as: .json), as: .binary)
    #expect(PropertyListValue.data(archive).urlValue(home: Self.home) == nil)
  }

  @Test("a damaged archive is nil or the same URL, never a crash")
  func damagedArchive() throws {
    let url = URLReference.url(text: "foo.xml", base: "https://www.example.com")
    let archive = try #require(URLReference.storedForm(of: url, home: Self.home).dataValue)
    for length in 0..<archive.count {
      #expect(PropertyListValue.data(Array(archive.prefix(length))).urlValue(home: Self.home) == nil)
    }
    for position in archive.indices {
      for bit in 0..<8 {
        var damaged = archive
        damaged[position] ^= 1 << bit
        _ = PropertyListValue.data(damaged).urlValue(home: Self.home)
      }
    }
  }
}
