import ForcedDomain
import PropertyList
import Testing

/// Entries of one key in any order, and what the law makes of them.
struct LawRow: Sendable, CustomTestStringConvertible {
  struct Entry: Sendable {
    var action: EntryAction
    var value: PropertyListValue?
    var rank: Rank
    var holds: Bool
  }
  let id: String
  let entries: [Entry]
  let value: PropertyListValue?
  /// Positions in `entries` of those that decide, in rank order.
  let deciding: [Int]
  var testDescription: String { id }
}

private func replace(_ value: PropertyListValue, _ priority: Int64 = 0, holds: Bool = true) -> LawRow.Entry {
  LawRow.Entry(action: .replace, value: value, rank: Rank(priority: priority), holds: holds)
}

private func union(_ value: PropertyListValue, _ priority: Int64 = 0, holds: Bool = true) -> LawRow.Entry {
  LawRow.Entry(action: .union, value: value, rank: Rank(priority: priority), holds: holds)
}

private func release(_ priority: Int64 = 0, holds: Bool = true) -> LawRow.Entry {
  LawRow.Entry(action: .release, value: nil, rank: Rank(priority: priority), holds: holds)
}

private func ranked(_ value: PropertyListValue, _ rank: Rank) -> LawRow.Entry {
  LawRow.Entry(action: .replace, value: value, rank: rank, holds: true)
}

private func list(_ elements: String...) -> PropertyListValue { .array(elements.map { .string($0) }) }

@Suite("The law of one key")
struct LawTests {
  static let rows: [LawRow] = [
    LawRow(id: "nothing holds", entries: [replace(.integer(1), holds: false)], value: nil, deciding: []),
    LawRow(id: "one", entries: [replace(.integer(1))], value: .integer(1), deciding: [0]),
    LawRow(
      id: "the higher priority wins", entries: [replace(.integer(1), 1), replace(.integer(2), 2)], value: .integer(2),
      deciding: [1]),
    LawRow(
      id: "what does not hold is passed over",
      entries: [replace(.integer(1), 1), replace(.integer(2), 2, holds: false)], value: .integer(1), deciding: [0]),
    LawRow(
      id: "priorities reach from end to end", entries: [replace(.integer(1), .min), replace(.integer(2), .max)],
      value: .integer(2), deciding: [1]),
    LawRow(
      id: "an override beats its profile",
      entries: [
        ranked(.integer(1), Rank(hostClass: .name, userClass: .name)), ranked(.integer(2), Rank(isOverride: true)),
      ], value: .integer(2), deciding: [1]),
    LawRow(
      id: "a priority beats an override",
      entries: [ranked(.integer(1), Rank(priority: 1)), ranked(.integer(2), Rank(isOverride: true))],
      value: .integer(1), deciding: [0]),
    LawRow(
      id: "name beats pattern beats group beats none",
      entries: [
        ranked(.integer(1), Rank(hostClass: .none, userClass: .name)), ranked(.integer(2), Rank(hostClass: .group)),
        ranked(.integer(3), Rank(hostClass: .pattern)), ranked(.integer(4), Rank(hostClass: .name)),
      ], value: .integer(4), deciding: [3]),
    LawRow(
      id: "the host decides before the user",
      entries: [
        ranked(.integer(1), Rank(hostClass: .group, userClass: .name)),
        ranked(.integer(2), Rank(hostClass: .pattern, userClass: .none)),
      ], value: .integer(2), deciding: [1]),
    LawRow(
      id: "the user decides where hosts are equal",
      entries: [
        ranked(.integer(1), Rank(hostClass: .group, userClass: .group)),
        ranked(.integer(2), Rank(hostClass: .group, userClass: .name)),
      ], value: .integer(2), deciding: [1]),
    LawRow(
      id: "release frees what is below it", entries: [replace(.integer(1), 1), release(2)], value: nil,
      deciding: [1]),
    LawRow(
      id: "release leaves what is above it", entries: [replace(.integer(1), 2), release(1)], value: .integer(1),
      deciding: [0]),
    LawRow(
      id: "a release that does not hold frees nothing", entries: [replace(.integer(1), 1), release(2, holds: false)],
      value: .integer(1), deciding: [0]),
    LawRow(
      id: "union gathers in rank order", entries: [union(list("a", "b"), 1), union(list("c"), 2)],
      value: list("c", "a", "b"), deciding: [1, 0]),
    LawRow(
      id: "union repeats nothing", entries: [union(list("a", "b", "a"), 2), union(list("b", "c"), 1)],
      value: list("a", "b", "c"), deciding: [0, 1]),
    LawRow(
      id: "union alone repeats nothing", entries: [union(list("a", "a"))], value: list("a"), deciding: [0]),
    LawRow(
      id: "union keeps types and spellings apart",
      entries: [
        union(.array([.boolean(true), .integer(1), .real(1), .string("1"), .string("\u{e9}"), .string("e\u{301}")]))
      ],
      value: .array([
        .boolean(true), .integer(1), .real(1), .string("1"), .string("\u{e9}"), .string("e\u{301}"),
      ]), deciding: [0]),
    LawRow(
      id: "equal ranks gather in the order of their bytes", entries: [union(list("b")), union(list("a"))],
      value: list("a", "b"), deciding: [1, 0]),
    LawRow(
      id: "dictionaries unite key by key, the higher rank wins",
      entries: [
        union(.dictionary(["a": .integer(1), "b": .integer(1)]), 1),
        union(.dictionary(["b": .integer(2), "c": .dictionary(["x": .integer(2)])]), 2),
        union(.dictionary(["c": .dictionary(["y": .integer(0)])]), 0),
      ], value: .dictionary(["a": .integer(1), "b": .integer(2), "c": .dictionary(["x": .integer(2)])]),
      deciding: [1, 0, 2]),
    LawRow(
      id: "union passes over what does not hold",
      entries: [union(list("a"), 3), union(list("b"), 2, holds: false), union(list("c"), 1)], value: list("a", "c"),
      deciding: [0, 2]),
    LawRow(
      id: "release ends a union with what has been gathered",
      entries: [union(list("a"), 3), release(2), union(list("c"), 1)], value: list("a"), deciding: [0, 1]),
    LawRow(
      id: "replace ends a union, its elements the last",
      entries: [union(list("a"), 3), replace(list("b", "a"), 2), union(list("c"), 1)], value: list("a", "b"),
      deciding: [0, 1]),
    LawRow(
      id: "replace hides unions below it", entries: [replace(list("b", "b"), 3), union(list("a"), 2)],
      value: list("b", "b"), deciding: [0]),
    LawRow(
      id: "empty union", entries: [union(.array([])), union(.array([]), 1)], value: .array([]), deciding: [1, 0]),
  ]

  @Test(arguments: rows)
  func forced(_ row: LawRow) throws {
    try check(row, section: .forced, entries: row.entries)
    // The order of adding is nothing to go by.
    try check(row, section: .forced, entries: row.entries, reversed: true)
  }

  @Test(arguments: rows.filter { row in row.entries.allSatisfy { $0.action != .release } })
  func recommended(_ row: LawRow) throws { try check(row, section: .recommended, entries: row.entries) }

  private func check(
    _ row: LawRow, section: PolicySection, entries: [LawRow.Entry], reversed: Bool = false
  ) throws {
    var writer = ForcedDomainWriter(kind: .forced)
    let never = writer.addCondition(Condition(notAfter: 0))
    let key = writer.addKey(domain: writer.addDomain("d"), key: "k")
    let order = Array(entries.enumerated())
    for (index, entry) in reversed ? order.reversed() : order {
      let profile = writer.addProfile(ProfileReference(id: "p\(index)", title: ""))
      let value = entry.value.map { writer.addValue($0) }
      writer.addEntry(
        key: key, section: section, action: entry.action, rank: entry.rank, condition: entry.holds ? 0 : never,
        profile: profile, value: value)
    }
    let domain = try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.forced])
    let truth = domain.truth(in: EvaluationContext(user: Sample.person, instant: 1))
    let resolution = domain.resolve(domain: "d", key: "k", section: section, under: truth)
    #expect(resolution.value == row.value)
    #expect(domain.value(domain: "d", key: "k", section: section, under: truth) == row.value)
    #expect(resolution.candidates.count == entries.count)
    #expect(resolution.candidates.filter(\.decides).map(\.entry.profile.id) == row.deciding.map { "p\($0)" })
    #expect(
      resolution.contributors.map(\.profile.id)
        == row.deciding.filter { entries[$0].action != .release }.map { "p\($0)" })
    for candidate in resolution.candidates {
      #expect(candidate.holds == (candidate.entry.conditionIndex == 0))
      #expect(candidate.whyNot == (candidate.holds ? nil : .expired(at: 0)))
    }
    let other: PolicySection = section == .forced ? .recommended : .forced
    #expect(
      domain.resolve(domain: "d", key: "k", section: other, under: truth)
        == Resolution.nothing, "sections never meet")
  }
}

extension Resolution {
  fileprivate static let nothing = try! {
    let domain = try ForcedDomain(
      bytes: try ForcedDomainWriter(kind: .forced).finish(FileStamp()), expecting: [.forced])
    let truth = domain.truth(in: EvaluationContext(user: Sample.person, instant: 0))
    return domain.resolve(domain: "d", key: "k", section: .forced, under: truth)
  }()
}
