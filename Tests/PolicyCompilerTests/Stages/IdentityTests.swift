import PolicyCompiler
import PolicyLanguage
import Testing

/// Rule 10: the same sources compile to the same bytes.
@Suite struct IdentityTests {
  private static let files: [(path: String, text: String)] = [
    ("b/exam.yaml", PolicySources.profile("exam", priority: 5, applies: "{hosts: {groups: [lab-a]}}", value: "ä")),
    ("a.yaml", PolicySources.profile("a", value: "one")),
    ("c.yml", PolicySources.profile("c", priority: 3, key: "Ümlaut", value: "[1, 1.5, {b: 1, a: 2}]")),
    ("inventory.yaml", PolicySources.inventory()),
  ]

  private static func tree(_ files: [(path: String, text: String)] = files, now: Int64 = PolicySources.now)
    -> PolicyTree
  {
    PolicyTreeLoader.load(sources: files.map { (path: $0.path, bytes: Array($0.text.utf8)) }, now: now)
  }

  struct Spelling: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let encode: @Sendable (String) -> [UInt8]
  }

  @Test(arguments: [
    Spelling(testDescription: "CRLF") {
      Array($0.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n").utf8)
    },
    Spelling(testDescription: "byte-order mark") { [0xEF, 0xBB, 0xBF] + Array($0.utf8) },
    Spelling(testDescription: "UTF-16, little-endian") {
      [0xFF, 0xFE] + $0.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    },
    Spelling(testDescription: "UTF-16, big-endian") {
      [0xFE, 0xFF] + $0.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    },
  ])
  func spellingOfTheSources(row: Spelling) {
    let plain = PolicyCompiler.compile(Self.tree())
    let other = PolicyCompiler.compile(
      PolicyTreeLoader.load(
        sources: Self.files.map { (path: $0.path, bytes: row.encode($0.text)) }, now: PolicySources.now))
    #expect(plain.payload != nil && plain.payload == other.payload)
    #expect(plain.sourceDigest == other.sourceDigest)
    #expect(plain.sourceDigest.count == 32)
  }

  @Test func everyRunAndEveryTime() {
    let first = PolicyCompiler.compile(Self.tree())
    for run in 0..<20 {
      let again = PolicyCompiler.compile(
        Self.tree(Self.files.shuffled(), now: PolicySources.now + Int64(run) * 1_000_000))
      #expect(again.payload == first.payload)
      #expect(again.sourceDigest == first.sourceDigest)
    }
    #expect(PolicyCompiler.sourceDigest(of: Self.tree()) == first.sourceDigest)
  }

  /// A moved boundary between two files is another tree.
  @Test func digestTellsFilesApart() {
    func digest(_ files: [String: String]) -> [UInt8] { PolicySources.compile(files).compilation.sourceDigest }
    let all = [
      digest(["a.yaml": "x", "b.yaml": "y"]), digest(["a.yaml": "xb.yamly"]), digest(["a.yaml": "", "b.yaml": "xy"]),
      digest(["a.yaml": "x", "c.yaml": "y"]), digest([:]),
    ]
    #expect(Set(all).count == all.count)
  }

  @Test func stagesHaveNames() {
    #expect(
      PolicyCompiler.stages.map(\.name)
        == ["parse", "decode", "validate", "rank", "conflicts", "lay out", "seal"])
  }

  /// Rule 6: any error, and there is no payload; all mistakes are reported together.
  @Test func allOrNothing() {
    let (compilation, _) = PolicySources.compile([
      "a.yaml": PolicySources.profile("a", value: "one"), "b.yaml": PolicySources.profile("b", value: "two"),
      "c.yaml": "version: 1\nkind: Profile\ntitle: x\n", "d.yaml": "a: [",
    ])
    #expect(compilation.payload == nil)
    #expect(Set(compilation.diagnostics.map(\.path)) == ["a.yaml", "c.yaml", "d.yaml"])
    #expect(compilation.errorCount == compilation.diagnostics.count)
    #expect(compilation.warningCount == 0)
  }
}
