import Testing

@testable import PropertyList

/// The form for people, held against what macOS prints.
@Suite struct DescriptionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let value: PropertyListValue
    let text: String
    var testDescription: String { text }
  }

  static let scalars = [
    Row(value: .string("Séance nº 4 — 漢字 🧪"), text: "Séance nº 4 — 漢字 🧪"), Row(value: .string(""), text: ""),
    Row(value: .string("  a\n"), text: "  a\n"), Row(value: .integer(-5), text: "-5"),
    Row(value: .integer(PropertyListInteger(UInt64.max)), text: "18446744073709551615"),
    Row(value: .boolean(true), text: "1"), Row(value: .boolean(false), text: "0"), Row(value: .real(2), text: "2"),
    Row(value: .real(-0.0), text: "-0"), Row(value: .real(1.5), text: "1.5"), Row(value: .real(1e20), text: "1e+20"),
    Row(value: .real(Double(Float(3.7))), text: "3.7"), Row(value: .real(.infinity), text: "inf"),
    Row(value: .real(.nan), text: "nan"),
    Row(value: .date(PropertyListDate(rfc3339: "2026-11-30T08:00:00.75+01:00")!), text: "2026-11-30 07:00:00 +0000"),
    Row(value: .date(PropertyListDate(rfc3339: "1969-12-31T23:59:59.5Z")!), text: "1969-12-31 23:59:59 +0000"),
    Row(value: .data([]), text: "{length = 0, bytes = 0x}"),
    Row(value: .data([1, 0xab]), text: "{length = 2, bytes = 0x01ab}"),
    Row(
      value: .data(Array(0..<24)),
      text: "{length = 24, bytes = 0x000102030405060708090a0b0c0d0e0f1011121314151617}"),
    Row(
      value: .data(Array(0..<25)),
      text: "{length = 25, bytes = 0x00010203 04050607 08090a0b 0c0d0e0f ... 11121314 15161718 }"),
  ]

  @Test(arguments: scalars) func aScalarIsBare(_ row: Row) {
    #expect(PropertyListDescription.text(of: row.value) == row.text)
  }

  static let words = [
    Row(value: .string("Launchpad"), text: "Launchpad"), Row(value: .string("2095508923"), text: "2095508923"),
    Row(value: .string(""), text: "\"\""), Row(value: .string("en_US"), text: "\"en_US\""),
    Row(value: .string("com.apple.dock"), text: "\"com.apple.dock\""), Row(value: .string("a-b"), text: "\"a-b\""),
    Row(value: .string("/x:y$"), text: "\"/x:y$\""), Row(value: .string("a b"), text: "\"a b\""),
    Row(value: .string("q\"\\"), text: "\"q\\\"\\\\\""), Row(value: .string("a\n\t\rb"), text: "\"a\\n\\t\\rb\""),
    Row(value: .string("é"), text: "\"é\""), Row(value: .string("\u{1b}[2J"), text: "\"\\U001b[2J\""),
    Row(value: .string("\u{202e}x"), text: "\"\\U202ex\""),
    Row(value: .string("\u{e0041}"), text: "\"\\Udb40\\Udc41\""),
    Row(value: .integer(-1), text: "\"-1\""), Row(value: .integer(1), text: "1"),
    Row(value: .real(1.5), text: "\"1.5\""),
    Row(value: .real(2), text: "2"), Row(value: .boolean(true), text: "1"),
    Row(
      value: .date(PropertyListDate(rfc3339: "2026-11-30T07:00:00Z")!), text: "\"2026-11-30 07:00:00 +0000\""),
    Row(value: .data([0xab]), text: "{length = 1, bytes = 0xab}"),
  ]

  @Test(arguments: words) func partsAreQuotedAsOnMacOS(_ row: Row) {
    #expect(PropertyListDescription.text(of: .array([row.value])) == "(\n    \(row.text)\n)")
    #expect(PropertyListDescription.text(of: .dictionary(["k": row.value])) == "{\n    k = \(row.text);\n}")
    if case .string(let key) = row.value {
      #expect(PropertyListDescription.text(of: .dictionary([key: .boolean(true)])) == "{\n    \(row.text) = 1;\n}")
    }
  }

  /// The layout of macOS 14's `defaults read com.apple.dock persistent-apps`.
  @Test func containersAreIndentedAsOnMacOS() {
    let tile: PropertyListValue = .dictionary([
      "GUID": .integer(5),
      "tile-data": .dictionary(["_CFURLString": .string("file:///x/"), "dock-extra": .boolean(false)]),
      "empty": .array([]), "none": .dictionary([:]),
    ])
    #expect(
      PropertyListDescription.text(of: .array([tile, .array([.string("a"), .array([.integer(1)])])])) == """
        (
                {
                GUID = 5;
                empty =         (
                );
                none =         {
                };
                "tile-data" =         {
                    "_CFURLString" = "file:///x/";
                    "dock-extra" = 0;
                };
            },
                (
                a,
                        (
                    1
                )
            )
        )
        """)
  }

  /// Every string reads back; shortened or not, data never does.
  @Test func aTextWithDataCannotBeReadBack() throws {
    let strings: PropertyListValue = .dictionary(
      Dictionary(uniqueKeysWithValues: Self.words.enumerated().map { ("k\($0)", .string($1.text)) }))
    let text = PropertyListDescription.text(of: strings)
    #expect(try PropertyListCoding.decode(Array(text.utf8)) == strings)
    for count in [0, 3, 24, 25, 5000] {
      let data: PropertyListValue = .dictionary(["d": .data([UInt8](repeating: 7, count: count))])
      for value in [data, .array([data]), .dictionary(["a": .array([.data([UInt8](repeating: 7, count: count))])])] {
        let text = Array(PropertyListDescription.text(of: value).utf8)
        for format in PropertyListFormat.allCases {
          #expect(throws: PropertyListError.self) { try PropertyListCoding.decode(text, as: format) }
        }
      }
    }
  }

  @Test func wholeNumbersAreParsedStrictly() {
    #expect(RealText.parse("1e3") == 1000)
    #expect(RealText.parse("-inf") == -.infinity)
    #expect(RealText.parse("nan")?.isNaN == true)
    for text in ["", "1x", "0x10", "1e999", "infinity", " 1", "1,5"] { #expect(RealText.parse(text) == nil, "\(text)") }
  }
}
