import HostPatterns
import Testing

@Suite struct HostNameSearchTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let lists: [[String]]
    var except: [String] = []
    let answer: HostNameSearch.Answer
    var testDescription: String { id }
  }

  static let rows: [Row] = [
    Row(id: "no list, no exception: any host", lists: [], answer: .example("a")),
    Row(id: "an empty list is met by no host", lists: [["*"], []], answer: .none),
    Row(id: "ranges that share their ends", lists: [["pc-[01-10]"], ["pc-[10-20]"]], answer: .example("pc-10")),
    Row(id: "ranges apart", lists: [["pc-[01-09]"], ["pc-[10-20]"]], answer: .none),
    Row(
      id: "pairwise, but never all three", lists: [["a", "b"], ["b", "c"], ["a", "c"]], answer: .none),
    Row(id: "a third list decides", lists: [["a*"], ["*z"], ["a[1-3]z", "b"]], answer: .example("a1z")),
    Row(
      id: "exceptions together cover a range", lists: [["pc-[01-20]"]], except: ["pc-[01-15]", "pc-1?", "pc-20"],
      answer: .none),
    Row(
      id: "one host stays", lists: [["pc-[01-20]"], ["pc-*"]], except: ["pc-[01-15]", "pc-[17-19]", "pc-20"],
      answer: .example("pc-16")),
    Row(
      id: "a full name leaves other domains", lists: [["pc-07"]], except: ["pc-07.lab.example"],
      answer: .example("pc-07")),
    Row(id: "a short name covers every domain", lists: [["pc-07.lab.example"]], except: ["pc-07"], answer: .none),
    Row(
      id: "short against full", lists: [["pc-*"], ["*.lab.example"]], except: ["pc-1?"],
      answer: .example("pc-.lab.example")),
    Row(id: "wide ranges", lists: [["h[000000-999999]"], ["h[999999-999999]"]], answer: .example("h999999")),
  ]

  @Test(arguments: rows)
  func answers(row: Row) throws {
    let search = HostNameSearch(
      oneOfEach: try row.lists.map { try $0.map { try HostPattern(parsing: $0) } },
      noneOf: try row.except.map { try HostPattern(parsing: $0) })
    #expect(search.run() == row.answer)
  }

  /// Many names in each list stay cheap: what they share is walked once.
  @Test func longListsStayWithinTheLimit() throws {
    let left = try (0..<5_000).map { try HostPattern(parsing: "pc-\($0)-left") }
    let right = try (0..<5_000).map { try HostPattern(parsing: "pc-\($0)-right") }
    #expect(HostNameSearch(oneOfEach: [left, right]).run() == .none)
    #expect(HostNameSearch(oneOfEach: [left, right]).run(limit: 1_000) == .undecided)
  }

  /// The search agrees with plain matching over every name of a small world.
  @Test func agreesWithMatching() throws {
    let patterns = try ["*", "a*", "*b", "?", "a", "b1", "[0-1]", "a[0-1]", "[05-21]", "a.b", "*.b"]
      .map { try HostPattern(parsing: $0) }
    let letters = ["a", "b", "0", "1", "2", "."]
    var names: [String] = letters
    for _ in 0..<2 { names += names.flatMap { name in letters.map { name + $0 } } }
    let world = Set(names.filter { !$0.hasPrefix(".") })
    var generator = SplitMix(state: 7)
    for _ in 0..<400 {
      func some(_ most: UInt64) -> [HostPattern] {
        (0...(generator.next() % most)).map { _ in patterns[Int(generator.next() % UInt64(patterns.count))] }
      }
      let lists = (0..<2).map { _ in some(3) }
      let exceptions = some(2)
      func counts(_ name: String) -> Bool {
        lists.allSatisfy { $0.contains { $0.matches(hostName: name) } }
          && !exceptions.contains { $0.matches(hostName: name) }
      }
      switch HostNameSearch(oneOfEach: lists, noneOf: exceptions).run() {
      case .example(let name): #expect(counts(name), "\(name) \(lists) \(exceptions)")
      case .none: #expect(!world.contains(where: counts), "\(lists) \(exceptions)")
      case .undecided: Issue.record("undecided: \(lists) \(exceptions)")
      }
    }
  }

  struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }
}
