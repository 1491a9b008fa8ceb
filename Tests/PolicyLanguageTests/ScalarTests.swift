import PolicyLanguage
import PropertyList
import Testing

/// Rule 3: what plainly written text means, and what tags make of text.
@Suite struct ScalarTests {
  static func value(_ text: String) -> PropertyListValue? {
    let stream = YAMLStream(bytes: Array("v: \(text)\n".utf8), path: "p")
    guard let tree = stream.documents.first, stream.diagnostics.isEmpty else { return nil }
    let node = tree.members(of: tree.root)[0].value
    return tree.kind(node) == .null ? nil : tree.value(node)
  }

  static let rows: [(String, PropertyListValue?)] = [
    ("", nil), ("~", nil), ("null", nil), ("Null", nil), ("NULL", nil), ("nULL", .string("nULL")),
    ("true", .boolean(true)), ("True", .boolean(true)), ("TRUE", .boolean(true)), ("tRUE", .string("tRUE")),
    ("false", .boolean(false)), ("False", .boolean(false)), ("FALSE", .boolean(false)),
    ("no", .string("no")), ("Off", .string("Off")), ("y", .string("y")),
    ("0", .integer(0)), ("-0", .integer(0)), ("+12", .integer(12)), ("0101", .integer(101)), ("09", .integer(9)),
    ("0o644", .integer(420)), ("0o8", .string("0o8")), ("0x1F", .integer(31)), ("0x1f", .integer(31)),
    ("0xg", .string("0xg")), ("-0x1F", .string("-0x1F")), ("0x", .string("0x")), ("0o", .string("0o")),
    ("0b1", .string("0b1")), ("1_000", .string("1_000")), ("+", .string("+")), ("-.", .string("-.")),
    ("9223372036854775807", .integer(.init(Int64.max))), ("-9223372036854775808", .integer(.init(Int64.min))),
    ("9007199254740993", .integer(9_007_199_254_740_993)), ("0000000000000000000000000000012", .integer(12)),
    ("1.5", .real(1.5)), ("-.5", .real(-0.5)), ("5.", .real(5)), ("5.e3", .real(5000)), ("1e3", .real(1000)),
    ("1E+3", .real(1000)), ("+1.5e-3", .real(0.0015)), (".", .string(".")), ("1e", .string("1e")),
    ("e3", .string("e3")),
    ("1.2.3", .string("1.2.3")), ("1.10", .real(1.1)), ("0.1", .real(0.1)), ("-0.0", .real(-0.0)),
    (".inf", .real(.infinity)), ("-.INF", .real(-.infinity)), ("+.Inf", .real(.infinity)), (".nan", .real(.nan)),
    ("-.nan", .string("-.nan")), (".iNF", .string(".iNF")), ("inf", .string("inf")), ("nan", .string("nan")),
    ("22:30", .string("22:30")), ("52:54:00:12:34:56", .string("52:54:00:12:34:56")),
    ("lab-proxy:3128", .string("lab-proxy:3128")), ("2026-03-01", .string("2026-03-01")), ("=", .string("=")),
    ("'022'", .string("022")), ("\"true\"", .string("true")), ("'~'", .string("~")), ("''", .string("")),
    ("|\n  a\n  b\n", .string("a\nb\n")), (">-\n  a\n  b\n", .string("a b")), ("a\n  b", .string("a b")),
    ("\"\\u00e4\\n\"", .string("ä\n")), ("'it''s'", .string("it's")), ("漢字", .string("漢字")),
    ("!!str 5", .string("5")), ("! 5", .string("5")), ("!!int '5'", .integer(5)), ("!!float 5", .real(5)),
    ("!!bool 'true'", .boolean(true)), ("!!null ''", nil), ("!!str", .string("")),
    ("!!binary aGVsbG8=", .data(Array("hello".utf8))), ("!!binary |\n  aGVs\n  bG8=\n", .data(Array("hello".utf8))),
    ("!!binary ''", .data([])), ("!!binary aGVsbG9=", nil), ("!!binary 'aGV sbG8'", nil), ("!!binary a===", nil),
    ("!!timestamp 2001-01-01", .date(.init(secondsSinceReferenceDate: 0))),
    ("!!timestamp 2026-03-01T10:00:00+05:00", .date(.init(unixTime: 1_772_341_200))),
    ("!!timestamp 2026-03-01T10:00:00-0500", .date(.init(unixTime: 1_772_377_200))),
    ("!!timestamp 2026-03-01 10:00:00 -5", .date(.init(unixTime: 1_772_377_200))),
    ("!!timestamp 2026-03-01t10:00:00.25Z", .date(.init(unixTime: 1_772_359_200.25))),
    ("!!timestamp 2026-11-30T19:49:08.173Z", .date(.init(rfc3339: "2026-11-30T19:49:08.173Z")!)),
    ("!!timestamp 2026-3-1", .date(.init(unixTime: 1_772_323_200))),
    ("!!timestamp 2024-02-29", .date(.init(unixTime: 1_709_164_800))),
    ("!!timestamp 1900-02-29", nil), ("!!timestamp 2026-02-30", nil), ("!!timestamp 2026-01-01T24:00:00", nil),
    ("!!timestamp 2026-01-01T10:00", nil), ("!!timestamp 2026-01-01T10:00:00+", nil), ("!!timestamp today", nil),
    ("!!timestamp 0001-01-01", .date(.init(unixTime: -62_135_596_800))), ("!name", nil), ("!!set x", nil),
  ]

  @Test(arguments: rows)
  func values(text: String, expected: PropertyListValue?) { #expect(Self.value(text) == expected) }

  @Test(arguments: ["404", "no", "true", "1.10", "0x1F", "2026-01-01", "yes", "-.inf"])
  func keysKeepTheirSpelling(key: String) {
    let stream = YAMLStream(bytes: Array("\(key): 1\n".utf8), path: "p")
    #expect(stream.documents[0].value(stream.documents[0].root) == .dictionary([key: .integer(1)]))
    #expect(stream.diagnostics == [])
  }

  /// An alias is its anchor's value; a key's spelling is not its value's.
  @Test func aliases() {
    let text = "a: &x {n: 1, l: [1.5, 'q']}\nb: *x\n&k 5: &v 010\nc: *v\nd: *k\n"
    let stream = YAMLStream(bytes: Array(text.utf8), path: "p")
    let inner = PropertyListValue.dictionary(["n": .integer(1), "l": .array([.real(1.5), .string("q")])])
    #expect(
      stream.documents[0].value(stream.documents[0].root)
        == .dictionary(["a": inner, "b": inner, "5": .integer(10), "c": .integer(10), "d": .integer(5)]))
  }
}
