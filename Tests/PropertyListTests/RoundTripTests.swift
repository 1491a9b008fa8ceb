import PropertyList
import Testing

/// Values that must come back as they went, type by type.
enum Samples {
  /// A boolean, an integer and a real that would be equal as numbers, alone and in containers.
  static let types = PropertyListValue.dictionary([
    "b": .boolean(true), "i": .integer(1), "d": .real(1), "z": .real(0), "neg": .real(-0.0),
    "arr": .array([.boolean(true), .integer(1), .real(1)]),
  ])

  /// Texts that look like something else.
  static let quotes = PropertyListValue.dictionary([
    "greeting": .string("'Welcome'"), "delay": .string("300"), "list": .string("['a','b']"),
  ])

  static let texts = PropertyListValue.array(
    [
      "", " ", "a", "a b", "\n", "\r\n", "\r", "\t", "\"", "'", "\\", "\\U0041", "/*", "//x", "a/b", "-1", "<", "&amp;",
      "]]>",
      "bplist00", "YES", "null", "é", "e\u{301}", "日本語", "👩‍👩‍👧", "\u{FFFD}", "\u{10FFFF}", "\u{7F}", "\u{80}", "\u{2028}",
      "\u{FEFF}",
      String(repeating: "long ", count: 100),
    ].map { .string($0) })

  static let integers = PropertyListValue.array(
    ([0, 1, 255, 256, 65535, 65536, 4_294_967_295, 4_294_967_296, -1, -128, -80_000_000_000, .max, .min] as [Int64]).map
    {
      .integer(.init($0))
    } + [.integer(.init(UInt64(1) << 63)), .integer(.init(UInt64.max))])

  static let reals = PropertyListValue.array(
    [
      0, -0.0, 1, -1, 0.1, 1.10, 3.7, Double(Float(3.7)), 1e20, 1e-20, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      1.0 / 3.0,
      9_007_199_254_740_992, 0x1p63,
    ].map { .real($0) })

  static let notFinite = PropertyListValue.array([.real(.infinity), .real(-.infinity), .real(.nan)])

  static let dates = PropertyListValue.array(
    [
      0, 1, -1, 0.5, -0.5, 0.1, -0.1, 700_000_000.123456, -700_000_000.123456, 1e-9, -1e-9, .leastNonzeroMagnitude,
      -Double.leastNonzeroMagnitude,
      0.999999999999,
      -63_114_076_800, -63_145_526_400, 252_423_993_599, 252_423_993_599.99997, 63_113_904_000,
    ].map { .date(.init(secondsSinceReferenceDate: $0)) })

  static let data = PropertyListValue.array(
    [[], [0], [0, 1], [0, 1, 2], Array(0...255)].map { .data($0) })

  static let shapes = PropertyListValue.dictionary([
    "": .dictionary([:]), "empty": .array([]),
    "nested": .array([.array([]), .dictionary(["k": .array([.string("v")])])]),
    "é": .string("one key"), "z": .integer(1), "Z": .integer(2), "a key": .boolean(false), "CF$UIDs": .integer(3),
    "CF$UID": .integer(4),
  ])

  static let all: [PropertyListValue] = [
    types, quotes, texts, integers, reals, notFinite, dates, data, shapes, .string("alone"), .integer(5), .real(0.5),
    .boolean(true), .date(.init(secondsSinceReferenceDate: 1.5)), .data([1]), .array([]), .dictionary([:]),
    .dictionary(["CF$UID": .integer(7)]), .dictionary(["CF$UID": .integer(-1)]), .dictionary(["CF$UID": .real(7)]),
    .dictionary(["CF$UID": .integer(4_294_967_295)]), .dictionary(["CF$UID": .integer(4_294_967_296)]),
    .array((0..<300).map { .integer(.init(Int64($0))) }),
  ]
}

@Suite("Round trips")
struct RoundTripTests {
  @Test("the same value comes back, and the same bytes", arguments: Samples.all)
  func lossless(_ value: PropertyListValue) throws {
    for format in [PropertyListFormat.binary, .xml, .openStep] {
      // "\u{FFFE}" and controls apart, which have a test of their own, XML holds all samples.
      let bytes = try PropertyListCoding.encode(value, as: format)
      #expect(PropertyListCoding.detectFormat(bytes) == format)
      let again = try PropertyListCoding.decode(bytes)
      #expect(again == value, "\(format)")
      #expect(try PropertyListCoding.encode(again, as: format) == bytes)
    }
  }

  @Test(
    "JSON keeps what it has types for",
    arguments: [Samples.types, Samples.quotes, Samples.texts, Samples.integers, Samples.reals, Samples.shapes])
  func json(_ value: PropertyListValue) throws {
    let bytes = try PropertyListCoding.encode(value, as: .json)
    #expect(try PropertyListCoding.decode(bytes, as: .json) == value)
  }

  @Test("JSON writes dates and data as strings")
  func jsonStrings() throws {
    let value = PropertyListValue.array([.date(.init(secondsSinceReferenceDate: 0.5)), .data([0xFF, 0xEE])])
    let bytes = try PropertyListCoding.encode(value, as: .json)
    #expect(
      try PropertyListCoding.decode(bytes, as: .json) == .array([.string("2001-01-01T00:00:00.5Z"), .string("/+4=")]))
  }

  @Test("through all formats in turn, types stay", arguments: [Samples.types, Samples.quotes])
  func throughAll(_ value: PropertyListValue) throws {
    var current = value
    for format in PropertyListFormat.allCases {
      current = try PropertyListCoding.decode(PropertyListCoding.encode(current, as: format), as: format)
    }
    #expect(current == value)
  }

  @Test("keys that are canonically equivalent are one key, and keep their spelling")
  func spelling() throws {
    let decomposed = PropertyListValue.dictionary(["e\u{301}": .integer(1)])
    let composed = PropertyListValue.dictionary(["é": .integer(1)])
    #expect(decomposed != composed)
    for format in PropertyListFormat.allCases {
      #expect(
        try PropertyListCoding.decode(PropertyListCoding.encode(decomposed, as: format), as: format) == decomposed)
    }
  }

  @Test("keys are sorted by their UTF-8 bytes")
  func sorted() throws {
    let keys = ["b", "a", "c", "aa", "aaaaaaaab", "aaaaaaaaa", "B", "é", "~", "\u{FFFD}", "\u{10000}", ""]
    let value = PropertyListValue.dictionary(
      Dictionary(uniqueKeysWithValues: keys.map { ($0, PropertyListValue.boolean(true)) }))
    let sorted = ["", "B", "a", "aa", "aaaaaaaaa", "aaaaaaaab", "b", "c", "~", "é", "\u{FFFD}", "\u{10000}"]
    let expected = "{" + sorted.map { "\"\($0)\":true" }.joined(separator: ",") + "}"
    var writer = JSONWriter(pretty: false)
    writer.value(value)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
  }
}
