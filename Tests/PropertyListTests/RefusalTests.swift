import PropertyList
import Testing

/// What the decoders refuse, with the whole message, and what they accept beside it.
@Suite("Refusals")
struct RefusalTests {
  private func message(_ bytes: [UInt8], as format: PropertyListFormat?, limits: DecodingLimits = .default) -> String {
    do throws(PropertyListError) {
      return "accepted: " + (try PropertyListCoding.decode(bytes, as: format, limits: limits)).displayText
    } catch {
      return error.description
    }
  }

  static let openStepRows: [(String, String)] = [
    ("", "1:1: there is no value"), (" /* x */ ", "1:10: there is no value"),
    ("a b", #"1:3: "b" where the end must stand"#),
    ("{ a = b }", #"1:9: "}" where ';' must stand"#), ("{ a; }", #"1:4: ";" where '=' must stand"#),
    ("{ a = 1; a = 2; }", #"1:10: the key "a" stands twice in one dictionary"#),
    ("{\n  é = 1;\n}", #"2:3: "é" where a key or '}' must stand"#), ("(1,,2)", #"1:4: "," where a value must stand"#),
    ("(1 2)", #"1:4: "2" where ',' or ')' must stand"#), ("(1", "1:3: the input ends inside an array"),
    ("{ a = (", "1:8: the input ends inside a property list"), ("/* x", "1:1: the input ends inside a comment"),
    ("\"x", "1:1: the input ends inside a string"), (#""\q""#, #"1:3: "q" where the name of an escape must stand"#),
    (#""\U12""#, #"1:6: "\"" where a hexadecimal digit must stand"#),
    (#""\Ud83d""#, "1:8: this is not UTF-16 text"), (#""\Ude00""#, "1:2: this is not UTF-16 text"),
    (#""\400""#, #"1:3: "4" where the name of an escape must stand"#),
    ("<0a0>", "1:1: this is not data: its digits or its padding are wrong"),
    ("<0a /* x */ 0b>", #"1:5: "/" where a digit or '>' must stand"#), ("<*I5.0>", #"1:1: "5.0" is not an integer"#),
    ("<*I18446744073709551616>", "1:1: the integer 18446744073709551616 is outside -2^63 ... 2^64-1"),
    ("<*R1e999>", #"1:1: "1e999" is not a real number"#), ("<*BX>", #"1:1: "X" where Y or N must stand"#),
    ("<*D2001-02-30 00:00:00 +0000>", #"1:1: "2001-02-30 00:00:00 +0000" is not a date of the years 0000 to 9999"#),
    ("<*F3>", #"1:3: "F" where I, R, B or D must stand"#), ("a = 1; b", "1:9: the input ends inside a dictionary"),
    ("bplist00", "accepted: \"bplist00\""), ("a = 1; \"b c\" = (x);", #"accepted: {a: "1", "b c": ["x"]}"#),
    (#""\Ud83d\Ude00\341\a\'""#, "accepted: \"😀Æ\\u{7}'\""), ("'a\"b'", #"accepted: "a\"b""#),
    ("(a,)", #"accepted: ["a"]"#),
    ("<*D2001-02-03 04:05:06.5 -0130>", "accepted: 2001-02-03T05:35:06.5Z"), ("<*I\"5\">", "accepted: 5"),
    ("<[AQI=]>", "accepted: <0102>"), ("<0a 0B\n0c>", "accepted: <0a0b0c>"),
    ("{/* }; */a=/x;}//", #"accepted: {a: "/x"}"#),
    ("\"a\u{1}b\"", #"1:3: "\u{1}" where an escape must stand"#),
  ]

  @Test(
    "old-style text",
    arguments: openStepRows)
  func openStep(_ text: String, _ expected: String) {
    #expect(message(Array(text.utf8), as: .openStep) == expected)
  }

  static let jsonRows: [(String, String)] = [
    ("", "1:1: there is no value"), ("{\"a\": null}", "1:7: null is not a property-list value"),
    ("{\"a\": 1,\n \"a\": 2}", #"2:2: the key "a" stands twice in one dictionary"#),
    (#"{"é": 1, "e\u0301": 2}"#, "1:10: the key \"e\u{301}\" stands twice in one dictionary"),
    ("[1,]", #"1:4: "]" where a value must stand"#), ("[1 2]", #"1:4: "2" where ',' or ']' must stand"#),
    ("{a: 1}", #"1:2: "a" where a key in quotes must stand"#), ("{\"a\" 1}", #"1:6: "1" where ':' must stand"#),
    ("{\"a\": 1", "1:8: the input ends inside an object"), ("01", #"1:1: "01" is not an integer"#),
    ("-", "1:2: the input ends inside a number"),
    ("1.", "1:3: the input ends inside a number"), ("1e", "1:3: the input ends inside a number"),
    (".5", #"1:1: "." where a value must stand"#),
    ("+1", #"1:1: "+" where a value must stand"#), ("1e999", #"1:1: "1e999" is not a real number"#),
    ("18446744073709551616", "1:1: the integer 18446744073709551616 is outside -2^63 ... 2^64-1"),
    ("-9223372036854775809", "1:1: the integer -9223372036854775809 is outside -2^63 ... 2^64-1"),
    ("nul", #"1:1: "nul" where a value must stand"#), ("\"a", "1:3: the input ends inside a string"),
    ("\"a\nb\"", #"1:3: "\n" where an escape must stand"#),
    (#""\x""#, #"1:3: "x" where one of the escapes " \ / b f n r t u must stand"#),
    (#""\ud800""#, "1:8: this is not UTF-16 text"), (#""\udc00""#, "1:2: this is not UTF-16 text"),
    (#""\ud800a""#, "1:9: this is not UTF-16 text"),
    ("1 2", #"1:3: "2" where the end must stand"#), ("// x\n1", #"1:1: "/" where a value must stand"#),
    ("18446744073709551615", "accepted: 18446744073709551615"),
    ("-9223372036854775808", "accepted: -9223372036854775808"),
    ("1.0", "accepted: 1.0"), ("1e2", "accepted: 100.0"), ("-0.0", "accepted: -0.0"),
    ("9007199254740993", "accepted: 9007199254740993"),
    (#""\ud83d\ude00\/\b\f\u0041""#, "accepted: \"😀/\\u{8}\\u{c}A\""), (" [ ] ", "accepted: []"),
    ("\u{FEFF}true", "accepted: true"),
  ]

  @Test(
    "JSON",
    arguments: jsonRows)
  func json(_ text: String, _ expected: String) {
    #expect(message(Array(text.utf8), as: .json) == expected)
  }

  static let head = "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">"

  static let xmlRows: [(String, String)] = [
    ("", "1:1: there is no value"), ("<plist/>", "1:9: there is no value"),
    ("<plist><array><key>k</key></array></plist>", "1:15: <key> where a value must stand"),
    ("<plist><dict><string>k</string></dict></plist>", "1:14: <string> where <key> must stand"),
    ("<plist><dict><key>k</key></dict></plist>", #"1:26: </dict> where the value of "k" must stand"#),
    ("<plist><dict><key>k</key><key>l</key></dict></plist>", #"1:26: <key> where the value of "k" must stand"#),
    (
      "<plist><dict><key>k</key><true/><key>k</key><true/></dict></plist>",
      #"1:39: the key "k" stands twice in one dictionary"#
    ),
    ("<plist><true/><true/></plist>", "1:15: <true> where </plist> must stand"),
    ("<dict/>", "1:1: <dict> where <plist> must stand"),
    ("<plist><plist><true/></plist></plist>", "1:8: <plist> where a value must stand"),
    ("<plist><null/></plist>", "1:8: <null> where an element of a property list must stand"),
    ("<plist><string a='b'>x</string></plist>", "1:8: the attribute 'a' of <string> where none must stand"),
    ("<plist><array>x</array></plist>", "1:15: text where an element must stand"),
    ("<plist><true>x</true></plist>", "1:15: text where nothing in <true> must stand"),
    ("<plist><string>a<true/></string></plist>", "1:17: <true> where text in <string> must stand"),
    ("<plist><integer>1.5</integer></plist>", #"1:20: "1.5" is not an integer"#),
    ("<plist><integer/></plist>", #"1:18: "" is not an integer"#),
    ("<plist><integer>0x</integer></plist>", #"1:19: "0x" is not an integer"#),
    (
      "<plist><integer>18446744073709551616</integer></plist>",
      "1:37: the integer 18446744073709551616 is outside -2^63 ... 2^64-1"
    ),
    ("<plist><real>1,5</real></plist>", #"1:17: "1,5" is not a real number"#),
    ("<plist><real>0x1p3</real></plist>", #"1:19: "0x1p3" is not a real number"#),
    ("<plist><date>2001-01-01</date></plist>", #"1:24: "2001-01-01" is not a date of the years 0000 to 9999"#),
    (
      "<plist><date>2001-02-29T00:00:00Z</date></plist>",
      #"1:34: "2001-02-29T00:00:00Z" is not a date of the years 0000 to 9999"#
    ),
    ("<plist><data>AQ</data></plist>", "1:16: this is not data: its digits or its padding are wrong"),
    ("<plist><data>A?Q=</data></plist>", "1:18: this is not data: its digits or its padding are wrong"),
    ("<plist><data>AR==</data></plist>", "1:18: this is not data: its digits or its padding are wrong"),
    ("<plist><string>&foo;</string></plist>", "1:16: this is not well-formed XML: undefined entity"),
    ("<plist>\n<string>é</strin></plist>", "2:12: this is not well-formed XML: mismatched tag"),
    ("<plist><string>", "1:16: this is not well-formed XML: no element found"),
    ("<plist><true/></plist>x", "1:23: this is not well-formed XML: junk after document element"),
    (
      "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
      "1:17: a property list must not declare entities or other markup"
    ),
    ("<!DOCTYPE plist []><plist><true/></plist>", "1:17: a property list must not declare entities or other markup"),
    ("<!DOCTYPE html><plist><true/></plist>", "1:15: the document type 'html' where 'plist' must stand"),
    (
      "<!DOCTYPE plist SYSTEM \"x.dtd\"><plist><string>&foo;</string></plist>",
      "1:47: this is not well-formed XML: undefined entity 'foo'"
    ),
    (
      "<?xml version=\"1.0\" encoding=\"klingon\"?><plist><true/></plist>",
      "1:31: this is not well-formed XML: unknown encoding"
    ),
    (head + "<string><![CDATA[<&]]>&#233;&lt;</string></plist>", "accepted: \"<&é<\""),
    (head + "<!-- x --><?x y?> <true/> </plist>", "accepted: true"),
    (head + "<integer> -0xFF </integer></plist>", "accepted: -255"),
    (head + "<integer>-0x8000000000000000</integer></plist>", "accepted: -9223372036854775808"),
    (head + "<integer>+5</integer></plist>", "accepted: 5"),
    (head + "<real>-infinity</real></plist>", "accepted: -inf"), (head + "<real>5</real></plist>", "accepted: 5.0"),
    (head + "<date>2001-01-01T00:00:00.125Z</date></plist>", "accepted: 2001-01-01T00:00:00.125Z"),
    (head + "<data>A Q\n= =</data></plist>", "accepted: <01>"),
    (head + "<dict><key>a<!-- x -->b</key><string/></dict></plist>", #"accepted: {ab: ""}"#),
    ("<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"x.dtd\"><plist><true/></plist>", "accepted: true"),
  ]

  @Test(
    "XML",
    arguments: xmlRows)
  func xml(_ text: String, _ expected: String) {
    #expect(message(Array(text.utf8), as: .xml) == expected)
  }

  @Test("XML in another encoding")
  func encodings() {
    let latin =
      Array("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><plist><string>".utf8) + [0xE9]
      + Array("</string></plist>".utf8)
    #expect(message(latin, as: nil) == "accepted: \"é\"")
    for (mark, bigEndian) in [([], true), ([], false), ([0xFE, 0xFF], true), ([0xFF, 0xFE], false)] as [([UInt8], Bool)]
    {
      let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist><string>é😀</string></plist>"
      let bytes =
        mark
        + text.utf16.flatMap { bigEndian ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
      #expect(message(bytes, as: nil) == "accepted: \"é😀\"")
      #expect(message(bytes.dropLast(), as: nil) == "1:1: this is not UTF-16 text")
    }
    #expect(message([0x22, 0xE9, 0x22], as: nil) == "1:2: this is not UTF-8 text")
    #expect(message([0x7B, 0x0A, 0xED, 0xA0, 0x80], as: .json) == "2:1: this is not UTF-8 text")
  }

  /// A binary file of these objects, with offsets and references of one byte.
  static func file(_ objects: [UInt8]..., top: UInt8 = 0) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    let table = UInt8(bytes.count)
    return bytes + offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(objects.count)]
      + [0, 0, 0, 0, 0, 0, 0, top] + [0, 0, 0, 0, 0, 0, 0, table]
  }

  static let binaryRows: [([UInt8], String)] = [
    (Array("bplist00".utf8), "byte 8: the input ends inside a binary property list"),
    (Array("bplist01".utf8), "byte 0: this is not a binary property list of version 00"),
    (file([0xA1, 0]), "byte 10: a container contains itself"),
    (file([0xA1, 1], [0xD1, 2, 0], [0x51, 0x61]), "byte 15: a container contains itself"),
    (file([0xD1, 1, 1], [0x09]), "byte 9: a dictionary key is not a string"),
    (file([0xD2, 1, 1, 1, 1], [0x51, 0x61]), #"byte 10: the key "a" stands twice in one dictionary"#),
    (file([0xA1, 9]), "byte 9: a reference to object 9, which does not exist"),
    (file([0x00]), "byte 8: null is not a property-list value"),
    (file([0x0F]), "byte 8: an object of kind 0x0f does not exist"),
    (file([0xC0]), "byte 8: an object of kind 0xc0 does not exist"),
    (file([0x11, 1]), "byte 9: the input ends inside an object"),
    (file([0x15] + Array(repeating: 0, count: 32)), "byte 8: an integer of 2^5 bytes does not exist"),
    (
      file([0x14] + Array(repeating: 1, count: 16)),
      "byte 8: the integer 0x101010101010101·2^64 + 0x101010101010101 is outside -2^63 ... 2^64-1"
    ),
    (file([0x51, 0xE9]), "byte 9: this is not ASCII text"),
    (file([0x61, 0xD8, 0x00]), "byte 8: this is not UTF-16 text"),
    (file([0x5F, 0x10, 0xFF]), "byte 8: the input ends inside an object of 255 elements"),
    (file([0x5F, 0x08]), "byte 9: a count that is not an integer"),
    (
      file([0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]),
      #"byte 8: "2001-01-01T00:00:00Z + inf s" is not a date of the years 0000 to 9999"#
    ),
    (file([0x09], top: 1), "byte 26: the root object 1 does not exist"),
    (file([0x84, 1, 0, 0, 0, 0]), "byte 8: the UID 4294967296 does not fit"),
    (file([0x08]) + [0], "byte 18: references of 0 bytes do not exist"),
    (file([0x14] + Array(repeating: 0xFF, count: 16)), "accepted: -1"),
    (file([0x22, 0x3F, 0x80, 0, 0]), "accepted: 1.0"),
    (file([0x81, 1, 0]), #"accepted: {"CF$UID": 256}"#),
    (file([0xA2, 1, 1], [0x51, 0x61]), #"accepted: ["a", "a"]"#),
    (file([0x10, 0xFF]), "accepted: 255"), (file([0x13] + Array(repeating: 0xFF, count: 8)), "accepted: -1"),
  ]

  @Test(
    "binary",
    arguments: binaryRows)
  func binary(_ bytes: [UInt8], _ expected: String) {
    #expect(message(bytes, as: nil) == expected)
  }

  // MARK: Limits

  @Test("a small binary file that stands for a huge value")
  func sharingBomb() {
    // Twelve arrays, each of ten references to the next: 10^12 values in 200 bytes.
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for level in 0..<12 {
      offsets.append(UInt8(bytes.count))
      bytes += [0xAA] + Array(repeating: UInt8(level + 1), count: 10)
    }
    offsets.append(UInt8(bytes.count))
    bytes += [0x09]
    let table = UInt8(bytes.count)
    bytes +=
      offsets + [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 13] + [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, table,
      ]
    #expect(message(bytes, as: nil) == "byte 63: there are more than 2000000 values")
  }

  /// Each of these took seconds to hours before its cause was bounded: sorting combining marks is quadratic in Swift's
  /// strings, and each escape once copied what was read before it.
  @Test("texts that are made to take long")
  func slowTexts() throws {
    let marks = String(repeating: "\u{301}\u{316}", count: 60_000)
    let long = "a key has more than 30 combining marks in a row"
    #expect(message(Array("{\"a\(marks)\": 1}".utf8), as: .json) == "1:2: \(long)")
    #expect(message(Array("{\"a\(marks)\" = 1;}".utf8), as: .openStep) == "1:2: \(long)")
    #expect(message(Array("<plist><dict><key>\(marks)</key>".utf8), as: .xml).hasSuffix(long))
    #expect(message(Array("<plist><a\(marks)/>".utf8), as: .xml).hasSuffix("must stand"))
    #expect(message(Array("<plist a\(marks)='1'/>".utf8), as: .xml).hasSuffix("where none must stand"))
    #expect(
      message(Array("<plist><integer>-\(marks)".utf8) + Array("</integer>".utf8), as: .xml).hasSuffix("an integer"))
    #expect(message(Array("<plist><real>-\(marks)</real>".utf8), as: .xml).hasSuffix("is not a real number"))
    #expect(message(Array("<*B\(marks)>".utf8), as: .openStep).hasSuffix("where Y or N must stand"))
    #expect(message(Array("<*R\(marks)>".utf8), as: .openStep).hasSuffix("is not a real number"))
    let value = PropertyListValue.array([.string("a" + marks), .string("a" + marks)])
    #expect(try PropertyListCoding.decode(PropertyListCoding.encode(value, as: .binary)) == value)
    let digits = String(repeating: "1", count: 1_000_000)
    #expect(message(Array(digits.utf8), as: .json).hasSuffix("1… is outside -2^63 ... 2^64-1"))
    #expect(message(Array("0.\(digits)".utf8), as: .json) == "accepted: 0.1111111111111111")
    #expect(
      message(Array("<plist><date>2001-01-01T00:00:00.\(digits)Z</date>".utf8), as: .xml).hasSuffix("0000 to 9999"))
    let escapes = "\"" + String(repeating: "\\n", count: 500_000) + "\""
    #expect(message(Array(escapes.utf8), as: .json).utf8.count == 1_000_012)
    #expect(message(Array(escapes.utf8), as: .openStep).utf8.count == 1_000_012)
  }

  @Test("data and strings that overlap are counted each time")
  func overlap() {
    let limits = DecodingLimits(maximumExpandedBytes: 5)
    let bytes = Self.file([0xA2, 1, 1], [0x43, 1, 2, 3])
    #expect(message(bytes, as: nil, limits: limits) == "byte 8: strings and data have more than 5 bytes")
    #expect(
      message(bytes, as: nil, limits: DecodingLimits(maximumExpandedBytes: 6)) == "accepted: [<010203>, <010203>]")
  }

  static let limitsRows: [(PropertyListFormat, String, String, String)] = [
    (
      .xml, "<plist><array><array><true/></array></array></plist>", "<plist><string>1234567890</string></plist>",
      "<plist><array><true/><true/><true/></array></plist>"
    ),
    (.openStep, "((a))", "1234567890", "(a, b, c)"), (.json, "[[1]]", "\"1234567890\"", "[1, 2, 3]"),
  ]

  @Test(
    "limits hold in each format",
    arguments: limitsRows)
  func limits(_ format: PropertyListFormat, deep: String, long: String, many: String) {
    func reason(_ text: String, _ limits: DecodingLimits) -> PropertyListError.Reason? {
      do throws(PropertyListError) {
        _ = try PropertyListCoding.decode(Array(text.utf8), as: format, limits: limits)
        return nil
      } catch { return error.reason }
    }
    #expect(reason(deep, .init(maximumDepth: 1)) == .tooDeep(limit: 1))
    #expect(reason(deep, .init(maximumDepth: 2)) == nil)
    #expect(reason(long, .init(maximumExpandedBytes: 9)) == .expansionTooLarge(limit: 9))
    #expect(reason(long, .init(maximumExpandedBytes: 10)) == nil)
    #expect(reason(many, .init(maximumObjects: 3)) == .tooManyObjects(limit: 3))
    #expect(reason(many, .init(maximumObjects: 4)) == nil)
    #expect(reason(many, .init(maximumBytes: 5)) == .inputTooLarge(limit: 5))
  }

  @Test("depth, without a stack that overflows", arguments: [PropertyListFormat.openStep, .json, .xml])
  func depth(_ format: PropertyListFormat) {
    let (open, head) =
      switch format {
      case .openStep: ("(", "")
      case .json: ("[", "")
      default: ("<array>", "<plist>")
      }
    let bytes = Array((head + String(repeating: open, count: 100_000)).utf8)
    #expect(message(bytes, as: format).hasSuffix("containers nest deeper than 512 levels"))
  }

  static let detectionRows: [(String, PropertyListFormat)] = [
    ("bplist", .binary), ("bplist99x", .binary), ("<?xml", .xml), (" \n<plist>", .xml), ("<!-- x -->", .xml),
    ("<!DOCTYPE", .xml), ("<dict>", .xml),
    ("<dead beef>", .openStep), ("<0a>", .openStep), ("<*I5>", .openStep), ("<[AQ==]>", .openStep), ("<", .openStep),
    ("(a)", .openStep), ("{}", .openStep),
    ("{ \"a\" = 1; }", .openStep), ("{ \"a\\\"\" : 1 }", .json), ("[1]", .json), ("\u{FEFF}<plist>", .xml),
    ("", .openStep), ("text", .openStep),
  ]

  @Test(
    "detection",
    arguments: detectionRows)
  func detection(_ text: String, _ expected: PropertyListFormat) {
    #expect(PropertyListCoding.detectFormat(Array(text.utf8)) == expected)
  }
}
