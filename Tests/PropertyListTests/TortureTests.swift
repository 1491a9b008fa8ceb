import PropertyList
import Testing

/// Files of other projects' test suites: `plist-torture` in the shared data.
private enum Torture {
  static let folder = SharedData.folder.map { $0 + "/plist-torture" }

  struct Row: Sendable, CustomTestStringConvertible {
    let file: String
    let kind: String
    let note: String
    var testDescription: String { file }
  }

  static let rows: [Row] = {
    guard let folder, let table = SharedData.readText(folder + "/EXPECTED.tsv") else { return [] }
    return table.split(separator: "\n").dropFirst().map { line in
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return Row(file: columns[0], kind: columns[2], note: columns.count > 7 ? columns[7] : "")
    }
  }()

  static func rows(_ kinds: String...) -> [Row] { rows.filter { kinds.contains($0.kind) } }

  static func bytes(_ row: Row) throws -> [UInt8] {
    try #require(folder.flatMap { SharedData.read("\($0)/files/\(row.file)") })
  }

  static func expected(_ row: Row) -> String? {
    folder.flatMap { SharedData.readText("\($0)/expected/\(row.file).json") }
  }
}

/// The property lists that other projects' suites test with: what is valid gives the value that CPython's `plistlib`
/// reads, what is malformed is refused, nothing crashes.
// Without the shared data there are no rows to run over; `SharedData` says so on standard output.
@Suite("Torture files", .enabled(if: SharedData.folder != nil))
struct TortureTests {
  @Test("valid", arguments: Torture.rows("valid"))
  private func valid(_ row: Torture.Row) throws {
    let bytes = try Torture.bytes(row)
    let value = try PropertyListCoding.decode(bytes)
    if let expected = Torture.expected(row) {
      #expect(PythonJSON.text(value, isBinary: bytes.starts(with: "bplist".utf8)) == expected)
    }
    for format in [PropertyListFormat.binary, .xml, .openStep] {
      #expect(try PropertyListCoding.decode(PropertyListCoding.encode(value, as: format), as: format) == value)
    }
  }

  @Test("malformed", arguments: Torture.rows("malformed"))
  private func malformed(_ row: Torture.Row) throws {
    let bytes = try Torture.bytes(row)
    #expect(throws: PropertyListError.self, "\(row.note)") { try PropertyListCoding.decode(bytes) }
  }

  /// Each format's reader gets each file, so that a fault cannot hide behind the detection.
  @Test("nothing crashes", arguments: Torture.rows)
  private func nothingCrashes(_ row: Torture.Row) throws {
    let bytes = try Torture.bytes(row)
    for format in PropertyListFormat.allCases {
      guard let value = try? PropertyListCoding.decode(bytes, as: format) else { continue }
      let again = try PropertyListCoding.decode(PropertyListCoding.encode(value, as: .binary), as: .binary)
      #expect(again == value)
    }
  }

  /// Our own verdicts where suites disagree; the decision file "Which disputed property lists are read" has the reasons.
  static let verdicts: [String: Bool] = [
    "libplist__amp.plist": false,
    "libplist__empty_keys.plist": false,
    "dd-plist__test-ascii-utf-16be.plist": false,
    "dd-plist__test-ascii-utf-32be.plist": false,
    "dd-plist__test-ascii-utf-32le.plist": false,
    "dd-plist__test-xml-utf-16be.plist.bak": true,
    "dd-plist__test-xml-utf-16le.plist": true,
    "dd-plist__test-xml-utf-32be.plist": true,
    "dd-plist__test1-ascii-gnustep-base64.plist": true,
    "dd-plist__test1-ascii-gnustep.plist": true,
    "go-plist__xml_unusual__s01.plist": true,
    "go-plist__xml_unusual__s03.plist": true,
    "go-plist__xml_unusual__s04.plist": true,
    "go-plist__xml_unusual__s05.plist": false,
    "go-plist__xml_unusual__s06.plist": false,
    "go-plist__xml_unusual__s10.plist": false,
    "go-plist__xml_unusual__s11.plist": false,
    "gnustep__ostep_17.plist": true,
    "gnustep__ostep_18.plist": true,
  ]

  @Test("disputed", arguments: Torture.rows("disputed", "unusual", "gnustep-extension"))
  private func disputed(_ row: Torture.Row) throws {
    let verdict: Bool = try #require(Self.verdicts[row.file] as Bool?, "a file without a verdict")
    let bytes = try Torture.bytes(row)
    if verdict {
      let value = try PropertyListCoding.decode(bytes)
      if let expected = Torture.expected(row) {
        #expect(PythonJSON.text(value, isBinary: bytes.starts(with: "bplist".utf8)) == expected)
      }
    } else {
      #expect(throws: PropertyListError.self) { try PropertyListCoding.decode(bytes) }
    }
  }
}

/// The form of the files in `expected/`: Python's `json.dumps(value, indent=1, sort_keys=True)`, with `$data` and `$uid`.
private enum PythonJSON {
  static func text(_ value: PropertyListValue, isBinary: Bool, indent: Int = 0) -> String {
    let inner = String(repeating: " ", count: indent + 1)
    let outer = String(repeating: " ", count: indent)
    switch value {
    case .string(let text): return quoted(text)
    case .integer(let number): return number.description
    case .real(let number):
      return number.isNaN ? "NaN" : number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : number.description
    case .boolean(let flag): return flag ? "true" : "false"
    case .date(let date): return quoted(date.rfc3339)
    case .data(let bytes): return object([("$data", base64(bytes))], inner, outer)
    case .array(let elements):
      if elements.isEmpty { return "[]" }
      return "[\n" + elements.map { inner + text($0, isBinary: isBinary, indent: indent + 1) }.joined(separator: ",\n")
        + "\n\(outer)]"
    case .dictionary(let members):
      // In XML a UID is this dictionary, and Python leaves it one.
      if isBinary, members.count == 1, case .integer(let number)? = members["CF$UID"] {
        return object([("$uid", number.description)], inner, outer)
      }
      if members.isEmpty { return "{}" }
      let sorted = members.sorted { $0.key.unicodeScalars.lexicographicallyPrecedes($1.key.unicodeScalars) }
      return object(sorted.map { ($0.key, text($0.value, isBinary: isBinary, indent: indent + 1)) }, inner, outer)
    }
  }

  /// Python's base64 is what our JSON holds.
  private static func base64(_ bytes: [UInt8]) -> String {
    var writer = JSONWriter(pretty: false)
    writer.value(.data(bytes))
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func object(_ members: [(String, String)], _ inner: String, _ outer: String) -> String {
    "{\n" + members.map { inner + quoted($0) + ": " + $1 }.joined(separator: ",\n") + "\n\(outer)}"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for unit in text.utf16 {
      switch unit {
      case 0x22: result += "\\\""
      case 0x5C: result += "\\\\"
      case 0x0A: result += "\\n"
      case 0x0D: result += "\\r"
      case 0x09: result += "\\t"
      case 0x08: result += "\\b"
      case 0x0C: result += "\\f"
      case 0x20..<0x7F: result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
      default:
        let digits = String(unit, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return result + "\""
  }
}

/// The files that CPython's suite took from Apple: what we write is what Apple wrote.
// Without the shared data there is nothing to read; `SharedData` says so on standard output.
@Suite("Apple's bytes", .enabled(if: SharedData.folder != nil))
struct AppleBytesTests {
  @Test("XML") func xml() throws {
    let bytes = try file("cpython__xml_bom_utf-8.plist")
    // CPython put a byte-order mark before it, and its own name of the encoding.
    let text = String(decoding: bytes.dropFirst(3), as: UTF8.self)
    let written = try PropertyListCoding.encode(PropertyListCoding.decode(bytes), as: .xml)
    #expect(lines(String(decoding: written, as: UTF8.self)).dropFirst() == lines(text).dropFirst())
  }

  @Test("binary") func binary() throws {
    let bytes = try file("cpython__TESTDATA_FMT_BINARY.plist")
    #expect(try PropertyListCoding.encode(PropertyListCoding.decode(bytes), as: .binary) == bytes)
  }

  private func file(_ name: String) throws -> [UInt8] {
    try #require(SharedData.folder.flatMap { SharedData.read("\($0)/plist-torture/files/\(name)") })
  }

  private func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }
}
