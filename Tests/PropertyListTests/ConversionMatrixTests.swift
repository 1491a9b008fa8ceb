import ConversionRows
import PropertyList
import Testing

/// The whole matrix of getters and stored values, a row for each value.
@Suite("Conversions")
struct ConversionMatrixTests {
  @Test("bool, integer, float, double, string", arguments: ConversionRow.all)
  func scalars(_ row: ConversionRow) {
    #expect(row.stored.boolValue == row.bool)
    #expect(row.stored.integerValue == row.integer)
    #expect(
      row.stored.doubleValue.bitPattern == row.double.bitPattern || row.double.isNaN && row.stored.doubleValue.isNaN)
    #expect(row.stored.floatValue.bitPattern == Float(row.double).bitPattern || row.double.isNaN)
    #expect(row.stored.stringValue == row.string)
  }

  /// The rules on raw bytes and the getters are one rule.
  @Test("on raw UTF-8", arguments: ConversionRow.strings)
  func rawBytes(_ row: ConversionRow) throws {
    let text = try #require(row.stored.stringValue)
    let bytes = Array(text.utf8)
    bytes.withUnsafeBufferPointer { bytes in
      #expect(StringConversions.boolean(utf8: bytes) == row.bool)
      #expect(StringConversions.integer(utf8: bytes) == row.integer)
      #expect(StringConversions.double(utf8: bytes).bitPattern == row.double.bitPattern)
    }
  }

  @Test("array, dictionary, data: only the same type", arguments: ConversionRow.all)
  func containers(_ row: ConversionRow) {
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

  @Test(
    "stringArray",
    arguments: ConversionRow.stringArrays)
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
