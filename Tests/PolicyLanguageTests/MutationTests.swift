import PolicyLanguage
import PropertyList
import Testing

/// A bounded, seeded fuzz of the whole path from bytes to a validated tree: it must answer, whatever it is given.
///
/// `Tests/Fuzzing/PolicyLanguageFuzz.swift` drives the same function without end.
@Suite struct MutationTests {
  /// Everything that a caller may do with what was read.
  static func exercise(_ bytes: [UInt8]) {
    let tree = PolicyTreeLoader.load(sources: [("p.yaml", bytes)], now: 1_796_000_000)
    _ = DiagnosticRenderer(sources: tree.sources).render(tree.diagnostics)
    precondition(tree.diagnostics == tree.diagnostics.sortedForReport())
    for document in YAMLStream(bytes: bytes, path: "p").documents where !tree.hasErrors {
      precondition(document.value(document.root).depth <= YAMLStream.Limits.depth)
    }
    for profile in tree.profiles {
      for setting in (profile.forced + profile.recommended).flatMap(\.settings) {
        _ = profile.tree.string(setting.key)
        _ = profile.tree.value(setting.value)
      }
    }
  }

  @Test(arguments: 0..<8)
  func mutations(seed: UInt64) throws {
    var mutator = Mutator(seed: seed)
    let sources = try CaseTests.names.filter { !$0.hasPrefix("Y13") }.flatMap {
      try CaseTests.load($0).sources.map(\.bytes)
    }
    for _ in 0..<150 { Self.exercise(mutator.mutation(of: sources)) }
  }
}

/// Changes to sources that reach far into the reader: bytes, tokens, lines, pieces of other sources.
struct Mutator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }

  private static let tokens = [
    "[", "]", "{", "}", ": ", "- ", "\n", "  ", "\t", "&a ", "*a", "!x ", "!!int ", "!!timestamp ", "~", "\"", "'",
    "|\n",
    ">", "---\n", "...\n", "#", "<<: ", "? ", ",", "%YAML 1.2\n", "0x", "1e999", "\u{85}", "\u{2028}", "\u{FEFF}", "ä",
    "漢",
    "forced:", "null", "no", "01", "1.10", "[01-30]", "*", "\r\n",
  ]

  mutating func mutation(of sources: [[UInt8]]) -> [UInt8] {
    var bytes = sources.randomElement(using: &self) ?? []
    for _ in 0..<Int.random(in: 1...6, using: &self) {
      let place = Int.random(in: 0...bytes.count, using: &self)
      let end = min(bytes.count, place + Int.random(in: 0...12, using: &self))
      switch Int.random(in: 0..<7, using: &self) {
      case 0: bytes.replaceSubrange(place..<end, with: [])
      case 1: bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
      case 2: bytes.insert(contentsOf: Self.tokens.randomElement(using: &self)!.utf8, at: place)
      case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
      case 4 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &self)
      case 5:
        let other = sources.randomElement(using: &self) ?? []
        let start = Int.random(in: 0...other.count, using: &self)
        bytes.insert(contentsOf: other[start..<min(other.count, start + 80)], at: place)
      default:
        let token = Array(Self.tokens.randomElement(using: &self)!.utf8)
        bytes.insert(contentsOf: Array(repeating: token, count: 80).joined(), at: place)
      }
    }
    return bytes
  }
}
