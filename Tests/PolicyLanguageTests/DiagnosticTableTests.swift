import Glibc
import LinuxFiles
import PolicyLanguage
import Testing

/// The table of codes: complete, documented, and each code really reported by something.
@Suite struct DiagnosticTableTests {
  static let page = FilePath.join(
    FilePath.parent(of: FilePath.parent(of: FilePath.parent(of: #filePath))), "Documentation/diagnostics.md")

  /// `RECORD_CASES=1` writes the page anew.
  @Test func documentationIsFresh() throws {
    let text = DiagnosticCode.documentationPage()
    if EnvironmentVariables.nonEmpty("RECORD_CASES") != nil {
      try AtomicReplacement.write(Array(text.utf8), to: Self.page, mode: 0o644)
      return
    }
    #expect(String(decoding: try WholeFile.read(Self.page).bytes, as: UTF8.self) == text)
  }

  @Test func codesAreUniqueAndWellFormed() {
    let codes = DiagnosticCode.table.map(\.code.rawValue)
    #expect(Set(codes).count == codes.count)
    #expect(codes.allSatisfy { $0.allSatisfy { $0.isLowercase || $0 == "-" || $0.isNumber } })
    #expect(DiagnosticCode.table.allSatisfy { !$0.meaning.isEmpty })
  }

  static func repeated(_ line: (Int) -> String) -> [UInt8] {
    let head = "version: 1\nkind: Profile\nid: org.example.p\ntitle: P\nforced:\n  org.example.App:\n"
    return Array((head + (0..<1_100).map(line).joined()).utf8)
  }

  @Test func everyCodeIsReportedBySomeCase() throws {
    var seen: Set<DiagnosticCode> = []
    for name in CaseTests.names { seen.formUnion(try CaseTests.load(name).diagnostics.map(\.code)) }
    for row in EncodingTests.broken { seen.formUnion(YAMLStream(bytes: row.1, path: "p").diagnostics.map(\.code)) }
    for bytes in [Self.repeated { "    k\($0):\n" }, Self.repeated { "    k\($0): no\n" }] {
      seen.formUnion(PolicyTreeLoader.load(sources: [("p.yaml", bytes)], now: 0).diagnostics.map(\.code))
    }
    let large = [UInt8](repeating: UInt8(ascii: "#"), count: YAMLStream.Limits.fileBytes + 1)
    seen.formUnion(YAMLStream(bytes: large, path: "p").diagnostics.map(\.code))
    let documents = Array(String(repeating: "---\n", count: YAMLStream.Limits.documents + 1).utf8)
    seen.formUnion(YAMLStream(bytes: documents, path: "p").diagnostics.map(\.code))
    try TemporaryFolder.with { folder in
      symlink("nowhere", FilePath.join(folder, "link.yaml"))
      seen.formUnion(try PolicyTreeLoader.load(directory: folder).diagnostics.map(\.code))
    }
    let expected = Set(DiagnosticCode.table.filter { $0.stage != .compilation }.map(\.code))
    #expect(expected.subtracting(seen) == [])
    #expect(seen.subtracting(DiagnosticCode.table.map(\.code)) == [])
  }

  /// Of errors and of warnings a thousand are kept, and warnings never crowd out errors.
  @Test func manyMistakesAreBounded() {
    let bytes = Self.repeated { $0 < 1_050 ? "    w\($0): no\n" : "    k\($0):\n" }
    let diagnostics = PolicyTreeLoader.load(sources: [("p.yaml", bytes)], now: 0).diagnostics
    #expect(diagnostics.count { $0.severity == .error } == 50)
    #expect(diagnostics.count { $0.code == .ambiguousBoolean } == 1_000)
    #expect(diagnostics.filter { $0.code == .moreWarnings }.map(\.line) == [1_007])
  }
}

/// A folder that is gone when the test is done.
enum TemporaryFolder {
  static func with<Result>(_ body: (String) throws -> Result) throws -> Result {
    var template = Array("/tmp/policy-language-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template).map({ String(cString: $0) }) else { throw Errno.current }
    defer { try? Directory.removeTree(path) }
    return try body(path)
  }
}
