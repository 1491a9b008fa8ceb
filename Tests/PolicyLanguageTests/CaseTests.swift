import LinuxFiles
import PolicyLanguage
import Testing

/// The corpus: each folder below `Cases` is a policy tree and, in `expected.txt`, what `check` says about it.
///
/// A case is added by adding a folder. `RECORD_CASES=1 swift test --filter CaseTests` writes the expected texts anew.
@Suite struct CaseTests {
  static let folder = FilePath.join(FilePath.parent(of: #filePath), "Cases")
  static let names: [String] = (try? Directory.names(in: folder)) ?? []
  /// 2026-11-30T00:00:00Z: the day on which every case is read.
  static let now: Int64 = 1_796_000_000 - 3_200

  static func load(_ name: String) throws -> PolicyTree {
    try PolicyTreeLoader.load(directory: FilePath.join(folder, name), displayedAs: "", now: now)
  }

  @Test(arguments: names)
  func diagnostics(name: String) throws {
    let tree = try Self.load(name)
    let text = DiagnosticRenderer(sources: tree.sources).render(tree.diagnostics)
    let file = FilePath.join(FilePath.join(Self.folder, name), "expected.txt")
    if EnvironmentVariables.nonEmpty("RECORD_CASES") != nil {
      try AtomicReplacement.write(Array(text.utf8), to: file, mode: 0o644)
      return
    }
    let expected = String(decoding: try WholeFile.read(file).bytes, as: UTF8.self)
    #expect(text == expected)
  }

  @Test func thereAreCases() { #expect(Self.names.count > 20) }
}
