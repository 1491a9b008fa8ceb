import ForcedDomain
import PropertyList
import Testing

/// The law written a second time, as naively as can be, and held against the engine over random policies.
@Suite("The law against a naive reference")
struct LawModelTests {
  struct ModelEntry {
    var action: EntryAction
    var value: PropertyListValue?
    var priority: Int64
    /// nil: undecided.
    var holds: Bool?
  }

  static func reference(_ entries: [ModelEntry]) -> PropertyListValue? {
    var array: [PropertyListValue]?
    var dictionary: [String: PropertyListValue]?
    func gathered() -> PropertyListValue? { array.map { .array($0) } ?? dictionary.map { .dictionary($0) } }
    func add(_ value: PropertyListValue?) {
      switch value {
      case .array(let elements):
        for element in elements where array?.contains(element) != true { array = (array ?? []) + [element] }
        array = array ?? []
      case .dictionary(let members): dictionary = (dictionary ?? [:]).merging(members) { old, _ in old }
      default: break
      }
    }
    for entry in entries.sorted(by: { $0.priority > $1.priority }) {
      switch entry.action {
      case .replace where entry.holds != false:
        if gathered() == nil { return entry.value }
        add(entry.value)
        return gathered()
      case .union where entry.holds != false: add(entry.value)
      case .release where entry.holds == true: return gathered()
      default: continue
      }
    }
    return gathered()
  }

  @Test(arguments: 0..<8)
  func random(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed) + 100)
    for _ in 0..<40 {
      var writer = ForcedDomainWriter(kind: .forced)
      let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
      let holding = writer.addCondition(Condition(notAfter: 100))
      let failing = writer.addCondition(Condition(notAfter: 10))
      let undecided = writer.addCondition(
        Condition(windows: [Sample.window]), intervals: [[]])
      let domain = writer.addDomain("d")
      var expected: [(String, PropertyListValue?)] = []
      for key in 0..<12 {
        let shape = Int.random(in: 0..<3, using: &random)
        let count = Int.random(in: 1...6, using: &random)
        let priorities = Array(Int64(-4)...Int64(4)).shuffled(using: &random)
        var entries: [ModelEntry] = []
        for index in 0..<count {
          let action: EntryAction =
            Int.random(in: 0..<5, using: &random) == 0
            ? .release : shape > 0 && Int.random(in: 0..<4, using: &random) > 0 ? .union : .replace
          let small = { (generator: inout SeededGenerator) in
            PropertyListValue.integer(PropertyListInteger(Int.random(in: 0..<5, using: &generator)))
          }
          let value: PropertyListValue? =
            if action == .release {
              nil
            } else if shape == 0 {
              small(&random)
            } else if shape == 1 {
              .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in small(&random) })
            } else {
              .dictionary(
                Dictionary(
                  (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                    (["a", "b", "c", "d"].randomElement(using: &random)!, small(&random))
                  }, uniquingKeysWith: { $1 }))
            }
          entries.append(
            ModelEntry(
              action: action, value: value, priority: priorities[index],
              holds: [true, false, nil].randomElement(using: &random)!))
        }
        let number = writer.addKey(domain: domain, key: "key\(key)")
        for entry in entries {
          let value = entry.value.map { writer.addValue($0) }
          writer.addEntry(
            key: number, section: .forced, action: entry.action, rank: Rank(priority: entry.priority),
            condition: entry.holds == true ? holding : entry.holds == false ? failing : undecided, profile: profile,
            value: value)
        }
        expected.append(("key\(key)", Self.reference(entries)))
      }
      // The instant is past the horizon, so that the windowed condition is undecided.
      let file = try ForcedDomain(bytes: try writer.finish(FileStamp(horizon: 0..<20)), expecting: [.forced])
      let truth = file.truth(in: EvaluationContext(user: Sample.person, instant: 50))
      for (key, value) in expected {
        #expect(file.value(domain: "d", key: key, section: .forced, under: truth) == value)
        let resolution = file.resolve(domain: "d", key: key, section: .forced, under: truth)
        #expect(resolution.value == value)
        #expect(resolution.contributors.isEmpty == (value == nil))
      }
    }
  }
}
