import ForcedDomain
import PolicyCompiler
import PropertyList
import Testing

/// The law of narrowing: on every host, for every user, at every time, the narrowed file, the provenance file and the
/// payload give one answer.
@Suite struct NarrowingInvariantTests {
  /// A generator of numbers that are the same in every run.
  struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
    mutating func some<Element>(_ elements: [Element], upTo most: Int) -> [Element] {
      (0..<Int.random(in: 1...most, using: &self)).map { _ in elements.randomElement(using: &self)! }
    }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
  }

  static let hostAtoms: [HostAtom] = [
    .pattern("lab-a-07"), .pattern("lab-a-*"), .pattern("*"), .pattern("lab-?-07"), .pattern("lab-a-[01-10]"),
    .pattern("*.example.org"), .group("lab-a"), .group("lab-b"),
  ]
  static let userAtoms: [UserAtom] = [
    .people, .name("ada"), .name("joan"), .group("students"), .group("teachers"),
  ]
  static let windows = [
    WeeklyWindow(days: 0b11111, fromMinute: 540, toMinute: 690, timeZone: "Europe/Berlin"),
    WeeklyWindow(days: 0b1000001, fromMinute: 1320, toMinute: 120, timeZone: "America/New_York"),
    WeeklyWindow(fromMinute: 0, toMinute: 720, timeZone: "UTC", firstDay: 20_788, lastDay: 20_800),
  ]
  static let now = PolicySources.now

  static func condition(_ dice: inout Dice, depth: Int = 0) -> Condition {
    func hosts(_ dice: inout Dice) -> HostSelector {
      HostSelector(
        include: dice.chance(80) ? dice.some(hostAtoms, upTo: 3) : [],
        exclude: dice.chance(30) ? dice.some(hostAtoms, upTo: 2) : [])
    }
    func users(_ dice: inout Dice) -> UserSelector {
      UserSelector(
        include: dice.chance(80) ? dice.some(userAtoms, upTo: 3) : [],
        exclude: dice.chance(30) ? dice.some(userAtoms, upTo: 2) : [])
    }
    var condition = Condition()
    if dice.chance(50) { condition.hosts = hosts(&dice) }
    if dice.chance(40) { condition.users = users(&dice) }
    if dice.chance(30) { condition.windows = dice.some(windows, upTo: 2) }
    if depth == 0 {
      if dice.chance(20) { condition.notAfter = now + Int64.random(in: -86_400...864_000, using: &dice) }
      if dice.chance(25) {
        let outer = Self.condition(&dice, depth: 1)
        if outer != .always { condition.within = [outer] }
      }
    }
    return condition
  }

  /// A payload of a few keys with many entries each; no two of one rank.
  static func payload(_ dice: inout Dice) throws -> ForcedDomain {
    var writer = ForcedDomainWriter(kind: .fleet)
    writer.setHostGroups([
      HostGroup(name: "lab-a", patterns: ["lab-a-[01-30]"]), HostGroup(name: "lab-b", patterns: ["lab-b-*", "x"]),
    ])
    writer.setUserGroups([
      UserGroup(name: "students", names: ["ada"], unixGroups: ["students"]),
      UserGroup(name: "teachers", names: ["miller"], unixGroups: ["staff"]),
    ])
    let profile = writer.addProfile(ProfileReference(id: "org.example.a", title: "A", owner: "root"))
    let file = writer.addSourceFile("a.yaml")
    let domain = writer.addDomain("org.example.Editor")
    for key in 0..<6 {
      let isUnion = key % 3 == 0
      let number = writer.addKey(domain: domain, key: "Key\(key)")
      for priority in 0..<Int64(8) {
        let condition = Self.condition(&dice)
        for outer in condition.within { _ = writer.addCondition(outer) }
        let action: EntryAction = dice.chance(20) ? .release : isUnion ? .union : .replace
        let section: PolicySection = action == .release || dice.chance(80) ? .forced : .recommended
        let value: PropertyListValue? =
          action == .release
          ? nil
          : isUnion
            ? .array(dice.some(["a", "b", "c", "d"].map { .string($0) }, upTo: 3))
            : .integer(PropertyListInteger(priority))
        writer.addEntry(
          key: number, section: section, action: action, rank: Rank(priority: priority),
          condition: writer.addCondition(condition), profile: profile, value: value.map { writer.addValue($0) },
          provenance: ProvenanceReference(file: file, line: UInt32(priority + 1), column: 1))
      }
    }
    return try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.fleet])
  }

  static var resolver: NameLedger {
    NameLedger(
      accounts: AccountSource(
        userID: { ["ada": 1001, "joan": 1002][$0] }, groupID: { ["students": 2001, "staff": 50][$0] }),
      remembering: nil)
  }
  static var nobody: NameLedger {
    NameLedger(accounts: AccountSource(userID: { _ in nil }, groupID: { _ in nil }), remembering: nil)
  }

  static let hosts = ["lab-a-07", "lab-a-12", "lab-b-07.example.org", "other"]
  static let instants: [Int64] =
    [0, 34_200, 100_000, 86_400 * 5 + 30_600, 86_400 * 12]
    .map { now + $0 }
    // Outside the horizon: answered from the windows as they are written.
    + [now + 86_400 * 365 * 6 + 34_200]

  private static func answers(_ domain: ForcedDomain, _ context: EvaluationContext) -> [PropertyListValue?] {
    let truth = domain.truth(in: context)
    return (0..<6).flatMap { key in
      PolicySection.allCases.map { section in
        domain.value(domain: "org.example.Editor", key: "Key\(key)", section: section, under: truth)
      }
    }
  }

  @Test(arguments: 0..<5)
  func oneAnswer(seed: Int) throws {
    var dice = Dice(state: UInt64(seed) &* 7919)
    let payload = try Self.payload(&dice)
    for host in Self.hosts {
      let byName = try WhatIf(
        payload: payload, host: HostIdentity(name: host), now: Self.now, users: Self.nobody, accounts: .none)
      let byID = try WhatIf(
        payload: payload, host: HostIdentity(name: host), now: Self.now, users: Self.resolver, accounts: .none)
      for instant in Self.instants {
        for (user, groups) in [
          ("ada", []), ("joan", ["teachers"]), ("miller", []), (nil, ["students"]), (nil, []),
        ] as [(String?, [String])] {
          let question = WhatIfQuestion(
            host: HostIdentity(name: host), user: user, groups: groups, instant: instant)
          let context = byName.context(question)
          let expected = Self.answers(payload, context)
          #expect(Self.answers(byName.provenance, context) == expected, "\(seed) \(question)")
          #expect(
            Self.answers(byName.forced, byName.context(user: user, groups: groups, instant: instant)) == expected,
            "\(seed) \(question)")
        }
        for user in [
          UserFacts(userID: 1001, groupIDs: [2001]), UserFacts(userID: 1002, groupIDs: [50]),
          UserFacts(userID: 0, groupIDs: [0]), UserFacts(userID: 3000),
        ] {
          var context = byID.context(user: nil, groups: [], instant: instant)
          context.user = user
          let forced = Self.answers(byID.forced, context)
          context.host = HostIdentity(name: host)
          #expect(Self.answers(byID.provenance, context) == forced, "\(seed) \(host) \(user) \(instant)")
        }
      }
    }
  }

  /// The random payloads are worth the trouble: answers differ between hosts, users and times.
  @Test func answersDiffer() throws {
    var dice = Dice(state: 3 &* 7919)
    let payload = try Self.payload(&dice)
    var seen: Set<[PropertyListValue?]> = []
    for host in Self.hosts {
      let what = try WhatIf(
        payload: payload, host: HostIdentity(name: host), now: Self.now, users: Self.nobody, accounts: .none)
      for instant in Self.instants {
        seen.insert(Self.answers(what.forced, what.context(user: "ada", groups: [], instant: instant)))
      }
    }
    #expect(seen.count > 5)
  }
}
