import LinuxFiles
import PolicyLanguage
import PropertyList
import Testing

/// Rule 5: hostile or merely large input ends in an answer, not in a crash or a long wait.
@Suite struct BoundTests {
  private func load(_ text: String) -> [String] {
    PolicyTreeLoader.load(sources: [("p.yaml", Array(text.utf8))], now: 0).diagnostics
      .map { "\($0.line):\($0.column) \($0.code)" }
  }

  @Test(arguments: [900, 20_000, 200_000])
  func deepFlow(levels: Int) {
    let text = "forced: {k: " + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}\n"
    #expect(load(text).first == "1:75 nesting-too-deep")
  }

  @Test(arguments: [65, 200, 2_000])
  func deepBlock(levels: Int) {
    let text = (0..<levels).map { String(repeating: " ", count: $0) + "k:\n" }.joined()
    #expect(load(text).contains("65:65 nesting-too-deep"))
  }

  /// A value at the limit is read back; one level more is refused.
  @Test func theLimitItself() {
    let inside = YAMLStream.Limits.depth - 1
    for (levels, isFine) in [(inside, true), (inside + 1, false)] {
      let text = "k: " + String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels) + "\n"
      let stream = YAMLStream(bytes: Array(text.utf8), path: "p")
      #expect(stream.diagnostics.isEmpty == isFine)
      if isFine { #expect(stream.documents[0].value(stream.documents[0].root).depth == 64) }
    }
  }

  @Test func chainsOfGroups() {
    let chain = (0..<5_000).map { "    g\($0): {groups: [g\($0 + 1)]}\n" }.joined() + "    g5000: {names: [pc]}\n"
    let head = "version: 1\nkind: Inventory\nhosts:\n  groups:\n"
    #expect(load(head + chain) == [])
    #expect(load(head + chain + "    h: {groups: [h]}\n") == ["5006:18 cyclic-group"])
  }

  @Test func denseGroups() {
    let groups = (0..<200).map { group in
      let below = ((group + 1)...200).map { "g\($0)" }.joined(separator: ", ")
      return "    g\(group): {groups: [\(below)]}\n"
    }
    #expect(
      load("version: 1\nkind: Inventory\nhosts:\n  groups:\n" + groups.joined() + "    g200: {names: [pc]}\n") == [])
  }

  @Test func largeCycle() {
    let ring = (0..<1_000).map { "    g\($0): {groups: [g\(($0 + 1) % 1_000)]}\n" }.joined()
    let tree = PolicyTreeLoader.load(
      sources: [("p.yaml", Array(("version: 1\nkind: Inventory\nhosts:\n  groups:\n" + ring).utf8))], now: 0)
    #expect(
      tree.diagnostics.map(\.message) == [
        "the host group contains itself: g0 -> g1 -> g2 -> g3 -> g4 -> g5 -> … (989 more) -> "
          + "g995 -> g996 -> g997 -> g998 -> g999 -> g0"
      ])
  }

  /// Many anchors, many aliases, a bomb of ten to the eighth: sizes that would take gigabytes when written out.
  @Test func aliasBomb() {
    var text = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...8 {
      let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      text += "b\(level): &a\(level) [\(aliases)]\n"
    }
    #expect(YAMLStream(bytes: Array(text.utf8), path: "p").diagnostics.map(\.code) == [.aliasExpansion])
  }

  /// What the aliases of a file stand for is bounded in bytes too: one long text, listed a hundred thousand times.
  @Test(arguments: [
    ("values", "a: &a \"\(String(repeating: "x", count: 1_000_000))\"\n", "*a", 100_000),
    ("keys", "a: &a \"\(String(repeating: "x", count: 1_000_000))\"\n", "{? *a : 1}", 100_000),
    ("lists", "a: &a [\"\(String(repeating: "x", count: 1_000_000))\"]\n", "*a", 5),
    ("nested", "a: &a {k: &b \"\(String(repeating: "x", count: 500_000))\", l: *b}\n", "*a", 5),
    ("tagged", "a: &a !!binary \"\(String(repeating: "A", count: 1_000_000))\"\n", "*a", 5),
  ])
  func aliasesOfLongTexts(id: String, anchor: String, alias: String, count: Int) {
    let text = anchor + "b: [" + Array(repeating: alias, count: count).joined(separator: ", ") + "]\n"
    let stream = YAMLStream(bytes: Array(text.utf8), path: "p")
    #expect(
      stream.diagnostics.map { "\($0.message) [\($0.code)]" } == [
        "the aliases of the file stand for more than 4194304 bytes of text [alias-expansion]"
      ])
  }

  /// At the limit of values a file is fine, one more is refused; what is written out does not count.
  @Test func theLimitOfAliases() {
    let hundred = "[" + (1...99).map { _ in "1" }.joined(separator: ", ") + "]"
    let written = "w: [" + (0..<200_000).map { _ in "1" }.joined(separator: ", ") + "]\n"
    for (count, codes) in [(1_010, [] as [DiagnosticCode]), (1_011, [.aliasExpansion])] {
      let aliases = Array(repeating: "*a", count: count).joined(separator: ", ")
      let stream = YAMLStream(bytes: Array("\(written)a: &a \(hundred)\nb: [\(aliases)]\n".utf8), path: "p")
      #expect(stream.diagnostics.map(\.code) == codes)
    }
  }

  /// Forty files that are fine by themselves, and together stand for more than a tree may.
  @Test func aliasesOfManyFiles() {
    func load(files: Int) -> PolicyTree {
      let sources = (10..<(10 + files)).map { file in
        let list = (0..<100).map { "v\($0)" }.joined(separator: ", ")
        let aliases = Array(repeating: "*a", count: 99).joined(separator: ", ")
        let text =
          "version: 1\nkind: Profile\nid: org.example.p\(file)\ntitle: P\n"
          + "forced: {org.example.App\(file): {a: &a [\(list)], b: [\(aliases)]}}\n"
        return (path: "p\(file).yaml", bytes: Array(text.utf8))
      }
      return PolicyTreeLoader.load(sources: sources, now: 0)
    }
    let fine = load(files: 10)
    #expect(fine.diagnostics == [])
    #expect(fine.profiles.count == 10)
    let bomb = load(files: 40)
    #expect(
      bomb.diagnostics.map { "\($0.path):\($0.line): \($0.message) [\($0.code)]" } == [
        "p20.yaml:1: with this file, the aliases of the tree stand for more than 100000 values [alias-expansion]"
      ])
    #expect(bomb.profiles.isEmpty)
  }

  /// Swift normalises text in a time that grows with the square of a run of combining marks.
  @Test(arguments: ["key", "group", "title", "user", "control", "value"])
  func combiningMarks(place: String) {
    let text = "\"a\(String(repeating: "\u{301}\u{323}", count: 150_000))\""
    func put(_ name: String) -> String { name == place ? text : "x" }
    let source = """
      version: 1
      kind: Profile
      id: org.example.p
      title: \(put("title"))
      applies: {users: {names: [\(put("user"))]}}
      forced:
        org.example.App:
          ? \(put("key"))
          : \(put("value"))
      controls:
        - id: \(put("control"))
          title: C
          expect: {org.example.App: {k: 1}}
      overrides:
        - users: {names: [y], except: {names: [\(put("group"))]}}
          reason: r
          release: {org.example.App: [k]}
      """
    let codes = PolicyTreeLoader.load(sources: [("p.yaml", Array(source.utf8))], now: 0).diagnostics.map(\.code)
    #expect(codes == (place == "value" ? [] : [.combiningMarks]))
  }

  /// The same key over and over, and keys that share a hash but for their case.
  @Test func manyEqualKeys() {
    let text = (0..<3_000).map { $0 % 2 == 0 ? "key: \($0)\n" : "KEY: \($0)\n" }.joined()
    let stream = YAMLStream(bytes: Array(text.utf8), path: "p")
    #expect(stream.diagnostics.count { $0.code == .duplicateKey } == 1_000)
    #expect(stream.diagnostics.count { $0.code == .moreErrors } == 1)
  }

  /// Shapes that a careless reader would take quadratic time or gigabytes for.
  private static let shapes: [String: @Sendable () -> String] = [
    "documents": { String(repeating: "---\n", count: 500_000) },
    "spellings of one key": { (0..<60_000).map { "\(spelling($0)): 1\n" }.joined() },
    "quoted brackets": { (0..<60_000).map { "\"\(brackets($0))\": 1\n" }.joined() },
    "mistakes below many keys": { (0..<40_000).map { "k\($0): {a: 1, a: 2}\n" }.joined() },
    "list items": { String(repeating: "- \n", count: 1_200_000) },
  ]

  @Test(arguments: [
    ("documents", 1), ("spellings of one key", 0), ("quoted brackets", 0), ("mistakes below many keys", 1_001),
    ("list items", 1),
  ])
  func hostileShapes(id: String, errors: Int) throws {
    let shape = Self.shapes[id]
    let text = try #require(shape?())
    let stream = YAMLStream(bytes: Array(text.utf8), path: "p")
    #expect(stream.diagnostics.count { $0.severity == .error } == errors)
  }

  private static func spelling(_ number: Int) -> String {
    String((0..<17).map { number >> $0 & 1 == 0 ? "k" as Character : "K" })
  }

  private static func brackets(_ number: Int) -> String {
    String((0..<17).map { number >> $0 & 1 == 0 ? "[" as Character : "{" })
  }

  @Test func longScalarsAndLines() {
    let long = String(repeating: "x", count: 200_000)
    let stream = YAMLStream(bytes: Array("\"\(long)\": \(long)\n".utf8), path: "p")
    // YAML limits implicit keys to 1,024 characters.
    #expect(stream.isComplete == false)
    let value = YAMLStream(bytes: Array("k: \(long)\n".utf8), path: "p")
    #expect(value.documents[0].value(value.documents[0].root) == .dictionary(["k": .string(long)]))
  }
}
