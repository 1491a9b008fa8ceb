import PolicyLanguage
import Testing

/// Rule 4: how an editor saved a file changes nothing; bytes that are no text are errors with their offset (Y10).
@Suite struct EncodingTests {
  static let text = "version: 1\nkind: Profile\nid: org.example.p\ntitle: \"Prüfung 漢\"\nforced:\n  a.b: {idle: ~}\n"

  struct Spelling: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
  }

  static func utf16(_ text: String, littleEndian: Bool) -> [UInt8] {
    ("\u{FEFF}" + text).utf16.flatMap { unit in
      littleEndian
        ? [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)]
    }
  }

  static let carriageReturns = String(text.flatMap { $0 == "\n" ? Array("\r\n") : [$0] })
  static let spellings = [
    Spelling(testDescription: "UTF-8", bytes: Array(text.utf8)),
    Spelling(testDescription: "UTF-8 with mark", bytes: [0xEF, 0xBB, 0xBF] + Array(text.utf8)),
    Spelling(testDescription: "CRLF", bytes: Array(carriageReturns.utf8)),
    Spelling(testDescription: "CRLF with mark", bytes: [0xEF, 0xBB, 0xBF] + Array(carriageReturns.utf8)),
    Spelling(testDescription: "CR", bytes: Array(text.utf8).map { $0 == 0x0A ? 0x0D : $0 }),
    Spelling(testDescription: "UTF-16LE", bytes: utf16(text, littleEndian: true)),
    Spelling(testDescription: "UTF-16BE", bytes: utf16(text, littleEndian: false)),
    Spelling(testDescription: "UTF-16LE with CRLF", bytes: utf16(carriageReturns, littleEndian: true)),
  ]

  @Test(arguments: spellings)
  func sameText(spelling: Spelling) {
    let tree = PolicyTreeLoader.load(sources: [("p.yaml", spelling.bytes)], now: 0)
    #expect(tree.sources[0].bytes == Array(Self.text.utf8))
    #expect(tree.profiles.map(\.title.value) == ["Prüfung 漢"])
    #expect(
      tree.diagnostics.map { "\($0.line):\($0.column) \($0.code)" } == ["6:15 null-value"])
  }

  @Test func aMarkBeforeADocumentStart() {
    let bytes = [0xEF, 0xBB, 0xBF] + Array("---\n\(Self.text)".utf8)
    #expect(YAMLStream(bytes: bytes, path: "p").documents.count == 1)
  }

  @Test func columnsOfTheFirstLineDoNotCountTheMark() {
    let stream = YAMLStream(bytes: [0xEF, 0xBB, 0xBF] + Array("a: b: c\n".utf8), path: "p")
    #expect(stream.diagnostics.map { "\($0.line):\($0.column)" } == ["1:5"])
  }

  @Test func encodedCharactersOutsideTheBasicPlane() {
    let stream = YAMLStream(bytes: Self.utf16("a: \u{1F600}\n", littleEndian: true), path: "p")
    #expect(stream.text.bytes == Array("a: \u{1F600}\n".utf8))
  }

  static let broken: [(String, [UInt8], String)] = [
    ("C3 28", Array("a: ".utf8) + [0xC3, 0x28, 0x0A], "1:4 invalid-utf8: byte 3 is not valid UTF-8"),
    ("behind CRLF", Array("a: 1\r\nb: ".utf8) + [0xFF], "2:4 invalid-utf8: byte 9 is not valid UTF-8"),
    ("overlong", [0xC0, 0x80], "1:1 invalid-utf8: byte 0 is not valid UTF-8"),
    ("surrogate", [0x61, 0xED, 0xA0, 0x80], "1:2 invalid-utf8: byte 1 is not valid UTF-8"),
    ("beyond", [0xF4, 0x90, 0x80, 0x80], "1:1 invalid-utf8: byte 0 is not valid UTF-8"),
    ("cut short", Array("ä: ".utf8) + [0xE6, 0xBC], "1:4 invalid-utf8: byte 4 is not valid UTF-8"),
    ("NUL", Array("a: b\nc".utf8) + [0x00, 0x64], "2:2 nul-byte: byte 6 is NUL, which no text holds"),
    ("NUL in UTF-16", [0xFF, 0xFE, 0x61, 0, 0, 0], "1:2 nul-byte: byte 4 is NUL, which no text holds"),
    ("odd UTF-16", [0xFF, 0xFE, 0x61, 0, 0x62], "1:2 invalid-utf16: byte 4 is half of a UTF-16 code unit"),
    (
      "half a pair", [0xFF, 0xFE, 0x3D, 0xD8, 0x61, 0],
      "1:1 invalid-utf16: byte 2 is a UTF-16 surrogate without its pair"
    ),
  ]

  @Test(arguments: broken)
  func brokenText(id: String, bytes: [UInt8], expected: String) {
    let tree = PolicyTreeLoader.load(sources: [("p.yaml", bytes)], now: 0)
    #expect(tree.diagnostics.map { "\($0.line):\($0.column) \($0.code): \($0.message)" } == [expected])
  }
}
