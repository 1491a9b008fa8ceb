import PropertyList
import Testing

/// What the encoders write, letter by letter.
@Suite("Written forms")
struct WrittenFormTests {
  static let value = PropertyListValue.dictionary([
    "flag": .boolean(true), "off": .boolean(false), "count": .integer(-5), "ratio": .real(2),
    "when": .date(.init(secondsSinceReferenceDate: 0.25)), "bytes": .data([0x0A, 0x0B]),
    "text": .string("a <b> & \"c\"é\n"),
    "list": .array([.string("x"), .array([]), .dictionary([:])]), "key with space": .string("plain"),
  ])

  private func text(_ format: PropertyListFormat, _ value: PropertyListValue = value) throws -> String {
    String(decoding: try PropertyListCoding.encode(value, as: format), as: UTF8.self)
  }

  @Test("XML")
  func xml() throws {
    let expected = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>bytes</key>
      \t<data>
      \tCgs=
      \t</data>
      \t<key>count</key>
      \t<integer>-5</integer>
      \t<key>flag</key>
      \t<true/>
      \t<key>key with space</key>
      \t<string>plain</string>
      \t<key>list</key>
      \t<array>
      \t\t<string>x</string>
      \t\t<array/>
      \t\t<dict/>
      \t</array>
      \t<key>off</key>
      \t<false/>
      \t<key>ratio</key>
      \t<real>2.0</real>
      \t<key>text</key>
      \t<string>a &lt;b&gt; &amp; "c"é
      </string>
      \t<key>when</key>
      \t<date>2001-01-01T00:00:00.25Z</date>
      </dict>
      </plist>

      """
    #expect(try text(.xml) == expected)
  }

  @Test("old-style text")
  func openStep() throws {
    let expected = #"""
      {
          bytes = <0a0b>;
          count = <*I-5>;
          flag = <*BY>;
          "key with space" = plain;
          list = (
              x,
              (),
              {}
          );
          off = <*BN>;
          ratio = <*R2.0>;
          text = "a <b> & \"c\"\U00e9\n";
          when = <*D2001-01-01 00:00:00.25 +0000>;
      }

      """#
    #expect(try text(.openStep) == expected)
  }

  @Test("JSON")
  func json() throws {
    let expected = #"""
      {
        "bytes": "Cgs=",
        "count": -5,
        "flag": true,
        "key with space": "plain",
        "list": [
          "x",
          [],
          {}
        ],
        "off": false,
        "ratio": 2.0,
        "text": "a <b> & \"c\"é\n",
        "when": "2001-01-01T00:00:00.25Z"
      }

      """#
    #expect(try text(.json) == expected)
  }

  @Test("binary: an empty dictionary has 42 bytes")
  func emptyBinary() throws {
    let bytes = try PropertyListCoding.encode(.dictionary([:]), as: .binary)
    #expect(
      bytes == Array("bplist00".utf8) + [0xD0, 8, 0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
        + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 9])
  }

  @Test("binary: equal scalars are written once, equal numbers of different types are not equal")
  func uniqued() throws {
    let array = PropertyListValue.array([
      .integer(1), .boolean(true), .integer(1), .real(1), .string("a"), .string("a"),
    ])
    let bytes = try PropertyListCoding.encode(array, as: .binary)
    #expect(Array(bytes[8..<15]) == [0xA6, 1, 2, 1, 3, 4, 4])
  }

  static let refusedRows: [(PropertyListValue, PropertyListFormat, String)] = [
    (
      .dictionary(["a": .array([.string("x\u{1}")])]), .xml,
      ".a[0]: an XML property list cannot hold the character U+0001"
    ),
    (
      .dictionary(["\u{FFFE}": .integer(1)]), .xml,
      ".\"\\u{fffe}\": an XML property list cannot hold the character U+fffe in a key"
    ),
    (.array([.integer(1), .real(.infinity)]), .json, "[1]: JSON cannot hold the number inf"),
    (.real(.nan), .json, "JSON cannot hold the number nan"),
    (
      .date(.init(secondsSinceReferenceDate: 252_423_993_600)), .binary,
      "a binary property list cannot hold the date 2001-01-01T00:00:00Z + 252423993600.0 s"
    ),
    (
      .date(.init(secondsSinceReferenceDate: .nan)), .xml,
      "an XML property list cannot hold the date 2001-01-01T00:00:00Z + nan s"
    ),
    (
      .date(.init(secondsSinceReferenceDate: -63_145_526_401)), .openStep,
      "an old-style property list cannot hold the date 2001-01-01T00:00:00Z + -63145526401.0 s"
    ),
  ]

  @Test(
    "what a format cannot hold is refused, with the path to it",
    arguments: refusedRows)
  func refused(_ value: PropertyListValue, _ format: PropertyListFormat, _ message: String) {
    let error = #expect(throws: PropertyListError.self) { try PropertyListCoding.encode(value, as: format) }
    #expect(error?.description == message)
  }

  @Test("XML refuses each control character but tab, line feed and carriage return", arguments: UInt8(0)..<32)
  func controls(_ byte: UInt8) throws {
    let value = PropertyListValue.string("a" + String(Unicode.Scalar(byte)))
    if [9, 10, 13].contains(byte) {
      #expect(try PropertyListCoding.decode(PropertyListCoding.encode(value, as: .xml), as: .xml) == value)
    } else {
      #expect(throws: PropertyListError.self) { try PropertyListCoding.encode(value, as: .xml) }
    }
    for format in [PropertyListFormat.binary, .openStep, .json] {
      #expect(try PropertyListCoding.decode(PropertyListCoding.encode(value, as: format), as: format) == value)
    }
  }

  @Test("a value that nests deeper than any reader goes is refused")
  func depth() throws {
    var value = PropertyListValue.array([])
    for _ in 1..<512 { value = .array([value]) }
    for format in PropertyListFormat.allCases {
      #expect(try PropertyListCoding.decode(PropertyListCoding.encode(value, as: format), as: format) == value)
      let error = #expect(throws: PropertyListError.self) { try PropertyListCoding.encode(.array([value]), as: format) }
      #expect(error?.reason == .tooDeep(limit: 512))
    }
  }
}

@Suite("JSONWriter")
struct JSONWriterTests {
  private func write(pretty: Bool) -> String {
    var json = JSONWriter(pretty: pretty)
    json.beginObject()
    json.key("z")
    json.integer(-1)
    json.key("a")
    json.beginArray()
    json.string("\u{1}\u{7F}/é\u{202E}")
    json.null()
    json.boolean(false)
    json.real(1e20)
    json.real(-.infinity)
    json.integer(UInt64.max)
    json.beginObject()
    json.endObject()
    json.beginArray()
    json.endArray()
    json.value(.dictionary(["b": .data([1, 2]), "a": .real(1)]))
    json.endArray()
    json.endObject()
    return String(decoding: json.bytes, as: UTF8.self)
  }

  @Test("members stay in their order")
  func compact() {
    #expect(
      write(pretty: false)
        == #"{"z":-1,"a":["\u0001\u007f/é\u202e",null,false,1e+20,"-inf",18446744073709551615,{},[],{"a":1.0,"b":"AQI="}]}"#
    )
  }

  @Test("pretty")
  func pretty() {
    #expect(
      write(pretty: true) == """
        {
          "z": -1,
          "a": [
            "\\u0001\\u007f/é\\u202e",
            null,
            false,
            1e+20,
            "-inf",
            18446744073709551615,
            {},
            [],
            {
              "a": 1.0,
              "b": "AQI="
            }
          ]
        }
        """)
  }
}

@Suite("Display text")
struct DisplayTextTests {
  static let displayTextRows: [(PropertyListValue, String)] = [
    (.string("light"), #""light""#), (.string("a\"b\\\n\t"), #""a\"b\\\n\t""#), (.integer(30), "30"),
    (.real(2), "2.0"),
    (.real(-.infinity), "-inf"), (.boolean(true), "true"), (.string("true"), #""true""#),
    (.date(.init(secondsSinceReferenceDate: 0)), "2001-01-01T00:00:00Z"), (.data([0x0A, 0x0B]), "<0a0b>"),
    (.data([]), "<>"),
    (.data(Array(0..<17)), "<000102030405060708090a0b0c0d0e0f… (17 bytes)>"),
    (.array([.integer(1), .string("x")]), #"[1, "x"]"#),
    (.dictionary(["b.c": .array([]), "a b": .dictionary([:])]), #"{"a b": {}, b.c: []}"#),
    (.string("a\u{202E}b\u{1B}[31m\u{200B}\u{85}\u{FEFF}"), #""a\u{202e}b\u{1b}[31m\u{200b}\u{85}\u{feff}""#),
    (.string("日本語 👩‍👩‍👧 é"), "\"日本語 👩‍👩‍👧 é\""),
  ]

  @Test(
    "one line, the type can be told, nothing can disguise itself",
    arguments: displayTextRows)
  func displayText(_ value: PropertyListValue, _ expected: String) {
    #expect(value.displayText == expected)
  }
}
