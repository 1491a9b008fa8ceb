public import PropertyList

/// A stored value and what every getter makes of it: the table of conversions, for every way by which a value can be read.
public struct ConversionRow: Sendable, CustomStringConvertible {
  public let id: String
  public let stored: PropertyListValue
  public var bool = false
  public var integer = 0
  public var double = 0.0
  public var string: String?
  /// What `defaults read` prints, without the end of the line.
  public var printed: String
  public var description: String { id }

  public init(
    _ id: String, _ stored: PropertyListValue, _ bool: Bool = false, _ integer: Int = 0, _ double: Double = 0,
    _ string: String? = nil, printed: String? = nil
  ) {
    self.id = id
    self.stored = stored
    self.bool = bool
    self.integer = integer
    self.double = double
    self.string = string
    self.printed = printed ?? string ?? ""
  }

  /// A stored string: `string` gives it back.
  public static func text(_ text: String, _ bool: Bool, _ integer: Int = 0, _ double: Double = 0) -> ConversionRow {
    ConversionRow("string \(PropertyListValue.string(text).displayText)", .string(text), bool, integer, double, text)
  }

  public static func real(
    _ number: Double, _ integer: Int, _ string: String, printed: String? = nil
  ) -> ConversionRow {
    ConversionRow("real \(string)", .real(number), number != 0, integer, number, string, printed: printed)
  }

  public static let strings: [ConversionRow] = [
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
    .text("TRUE", true), .text("y", true), .text("\n\t 7", true, 7, 7), .text("12.34", true, 12, 12.34),
    .text("-99999999999999999999", true, .min, -1e20), .text("/usr/share", false), .text("'Welcome'", false),
    .text("['a','b']", false), .text("1\u{0}2", true, 1, 1),
  ]

  public static let numbers: [ConversionRow] = [
    ConversionRow("integer 0", .integer(0), false, 0, 0, "0"), ConversionRow("integer 1", .integer(1), true, 1, 1, "1"),
    ConversionRow("integer -1", .integer(-1), true, -1, -1, "-1"),
    ConversionRow("integer 42", .integer(42), true, 42, 42, "42"),
    ConversionRow("Int.max", .integer(.init(Int64.max)), true, .max, 0x1p63, "9223372036854775807"),
    ConversionRow("Int.min", .integer(.init(Int64.min)), true, .min, -0x1p63, "-9223372036854775808"),
    ConversionRow("2^63", .integer(.init(UInt64(1) << 63)), true, .max, 0x1p63, "9223372036854775808"),
    ConversionRow("UInt64.max", .integer(.init(UInt64.max)), true, .max, 0x1p64, "18446744073709551615"),
    .real(0, 0, "0.0", printed: "0"), .real(-0.0, 0, "-0.0", printed: "-0"), .real(2, 2, "2.0", printed: "2"),
    .real(3.7, 3, "3.7"), .real(-3.7, -3, "-3.7"),
    .real(0.5, 0, "0.5"), .real(12.34, 12, "12.34"), .real(1e20, .max, "1e+20"), .real(-1e20, .min, "-1e+20"),
    .real(0x1p63, .max, "9.223372e+18"), .real(-0x1p63, .min, "-9.223372e+18"),
    .real(.infinity, .max, "inf"), .real(-.infinity, .min, "-inf"), .real(.nan, 0, "nan"),
    .real(.leastNonzeroMagnitude, 0, "5e-324"), .real(1.0 / 3.0, 0, "0.3333333333333333"),
    .real(Double(Float(3.7)), 3, "3.7"), .real(Double(Float(0.1)), 0, "0.1"),
    .real(Double(Float(12.34)), 12, "12.34"), .real(Double(Float(1e20)), .max, "1e+20"),
    // A Float whose own text needs more than 7 digits, and one whose Double's text is short: the Double's text.
    .real(Double(Float(16_777_216.0) / 3), 5_592_405, "5592405.5"), .real(0.25, 0, "0.25"),
    .real(Double(Float.pi), 3, "3.141592502593994"),
    ConversionRow("true", .boolean(true), true, 1, 1, "1"), ConversionRow("false", .boolean(false), false, 0, 0, "0"),
  ]

  public static let others: [ConversionRow] = [
    .other("date", .date(.init(secondsSinceReferenceDate: 1)), "2001-01-01 00:00:01 +0000"),
    .other("data", .data([0x31]), "{length = 1, bytes = 0x31}"),
    .other("array", .array([.integer(1)]), "(\n    1\n)"),
    .other("array of strings", .array([.string("YES"), .string("1")]), "(\n    YES,\n    1\n)"),
    .other("dictionary", .dictionary(["a": .integer(1)]), "{\n    a = 1;\n}"),
    .other("empty data", .data([]), "{length = 0, bytes = 0x}"), .other("empty array", .array([]), "(\n)"),
    .other("empty dictionary", .dictionary([:]), "{\n}"),
  ]

  private static func other(_ id: String, _ stored: PropertyListValue, _ printed: String) -> ConversionRow {
    ConversionRow(id, stored, printed: printed)
  }

  /// What the getter of string arrays makes of it.
  public var strings: [String]? { Self.stringArrays.first { $0.0 == stored }?.1 ?? nil }

  public static var all: [ConversionRow] { strings + numbers + others }

  /// What the getter of string arrays makes of a value.
  public static let stringArrays: [(PropertyListValue, [String]?)] = [
    (.array([]), []), (.array([.string("a"), .string("")]), ["a", ""]),
    (.array([.string("YES"), .string("1")]), ["YES", "1"]),
    (.array([.string("a"), .integer(1)]), nil), (.array([.boolean(true)]), nil), (.array([.array([])]), nil),
    (.string("a"), nil), (.integer(1), nil), (.boolean(true), nil), (.data([]), nil), (.dictionary([:]), nil),
  ]
}
