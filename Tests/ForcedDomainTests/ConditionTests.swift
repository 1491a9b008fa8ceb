import ForcedDomain
import PropertyList
import Testing

/// One condition, one context, and whether an entry with it holds.
struct ConditionRow: Sendable, CustomTestStringConvertible {
  enum Expected: Sendable { case holds, fails, undecided }
  let id: String
  var kind = FileKind.forced
  let condition: Condition
  var host: HostIdentity?
  var user = Sample.person
  var instant = Sample.duringWindow
  let expected: Expected
  var reason: ConditionReason?
  var testDescription: String { id }
}

private func users(_ include: UserAtom..., except: [UserAtom] = []) -> Condition {
  Condition(users: UserSelector(include: include, exclude: except))
}

private func hosts(_ include: HostAtom..., except: [HostAtom] = []) -> Condition {
  Condition(hosts: HostSelector(include: include, exclude: except))
}

@Suite("Conditions")
struct ConditionTests {
  private static let lab = HostIdentity(name: "LAB-a-03.example.org")
  private static let s1 = UserFacts(userID: 1001, groupIDs: [100])
  private static let inUnixGroup = UserFacts(userID: 1234, groupIDs: [100, 2001])
  private static let miller = UserFacts(userID: 1500, groupIDs: [2001])

  static let rows: [ConditionRow] = [
    ConditionRow(id: "always", condition: .always, expected: .holds),
    // Users, as root resolved them.
    ConditionRow(id: "people: a person", condition: users(.people), expected: .holds),
    ConditionRow(
      id: "people: uid 1000", condition: users(.people), user: UserFacts(userID: 1000), expected: .holds),
    ConditionRow(
      id: "people: a service", condition: users(.people), user: UserFacts(userID: 999), expected: .fails, reason: .user),
    ConditionRow(id: "people: root", condition: users(.people), user: Sample.root, expected: .fails, reason: .user),
    ConditionRow(id: "people: nobody in particular", condition: users(.people), user: UserFacts(), expected: .holds),
    ConditionRow(id: "name: the id decides", condition: users(.name("s1")), user: s1, expected: .holds),
    ConditionRow(
      id: "name: another id, whatever the name says", condition: users(.name("s1")),
      user: UserFacts(userID: 3000, name: "s1"), expected: .fails, reason: .user),
    ConditionRow(
      id: "name: a what-if by name", condition: users(.name("s1")), user: UserFacts(name: "s1"), expected: .holds),
    ConditionRow(
      id: "name: a what-if by another name", condition: users(.name("s1")), user: UserFacts(name: "S1"),
      expected: .fails, reason: .user),
    ConditionRow(
      id: "name: never resolved, by ids", condition: users(.name("ghost")), expected: .fails, reason: .user),
    ConditionRow(
      id: "name: never resolved, by name", condition: users(.name("ghost")),
      user: UserFacts(userID: 3000, name: "ghost"), expected: .holds),
    ConditionRow(
      id: "name: spellings of one character differ", condition: users(.name("\u{e9}va")),
      user: UserFacts(name: "e\u{301}va"), expected: .fails, reason: .user),
    ConditionRow(id: "group: by user id", condition: users(.group("students")), user: s1, expected: .holds),
    ConditionRow(
      id: "group: by Unix group", condition: users(.group("students")), user: inUnixGroup, expected: .holds),
    ConditionRow(
      id: "group: not a member", condition: users(.group("students")), expected: .fails, reason: .user),
    ConditionRow(
      id: "group: a what-if's inventory group", condition: users(.group("students")),
      user: UserFacts(userID: 3000, inventoryGroups: ["students"]), expected: .holds),
    ConditionRow(
      id: "group: a Unix group's name is no inventory group", condition: users(.group("teachers")),
      user: UserFacts(userID: 3000, inventoryGroups: ["staff"]), expected: .fails, reason: .user),
    ConditionRow(
      id: "group: a what-if by a member's name", condition: users(.group("students")), user: UserFacts(name: "s1"),
      expected: .holds),
    ConditionRow(
      id: "group: a member's name with a stranger's id", condition: users(.group("students")),
      user: UserFacts(userID: 3000, name: "s1"), expected: .fails, reason: .user),
    ConditionRow(
      id: "except subtracts", condition: users(.group("students"), except: [.group("teachers")]), user: miller,
      expected: .fails, reason: .user),
    ConditionRow(
      id: "except alone: everyone but", condition: users(except: [.name("s1")]), expected: .holds),
    ConditionRow(
      id: "except alone: the one", condition: users(except: [.name("s1")]), user: s1, expected: .fails, reason: .user),
    ConditionRow(
      id: "any of several", condition: users(.name("ghost"), .group("students")), user: s1, expected: .holds),
    // A payload, where nobody has looked names up.
    ConditionRow(
      id: "payload: a name against ids", kind: .fleet, condition: users(.name("s1")), user: s1, expected: .undecided),
    ConditionRow(
      id: "payload: a name against a name", kind: .fleet, condition: users(.name("s1")),
      user: UserFacts(userID: 5, name: "s1"), expected: .holds),
    ConditionRow(
      id: "payload: a Unix group against ids", kind: .fleet, condition: users(.group("students")), user: inUnixGroup,
      expected: .undecided),
    ConditionRow(
      id: "payload: an exception that can't be decided", kind: .fleet, condition: users(except: [.name("s1")]),
      user: s1, expected: .undecided),
    ConditionRow(
      id: "payload: a what-if without id", kind: .fleet, condition: users(.group("students")),
      user: UserFacts(name: "other"), expected: .fails, reason: .user),
    // Hosts.
    ConditionRow(
      id: "host: literal, without case", kind: .fleet, condition: hosts(.pattern("lab-a-03")), host: lab,
      expected: .holds),
    ConditionRow(
      id: "host: range", kind: .fleet, condition: hosts(.pattern("lab-a-[01-30]")), host: lab, expected: .holds),
    ConditionRow(
      id: "host: glob is anchored", kind: .fleet, condition: hosts(.pattern("ab-*")), host: lab, expected: .fails,
      reason: .host),
    ConditionRow(
      id: "host: full name", kind: .fleet, condition: hosts(.pattern("*.example.org")), host: lab, expected: .holds),
    ConditionRow(id: "host: group", kind: .fleet, condition: hosts(.group("lab-a")), host: lab, expected: .holds),
    ConditionRow(
      id: "host: another group", kind: .fleet, condition: hosts(.group("lab-b")), host: lab, expected: .fails,
      reason: .host),
    ConditionRow(
      id: "host: except", kind: .provenance, condition: hosts(.group("lab-a"), except: [.pattern("lab-a-03")]),
      host: lab, expected: .fails, reason: .host),
    ConditionRow(
      id: "host: nobody says which", kind: .fleet, condition: hosts(.group("lab-a")), expected: .undecided),
    // Times.
    ConditionRow(
      id: "before the expiry", condition: Condition(notAfter: 1_100_051), expected: .holds),
    ConditionRow(
      id: "at the expiry", condition: Condition(notAfter: 1_100_050), expected: .fails,
      reason: .expired(at: 1_100_050)),
    ConditionRow(id: "window open", condition: Condition(windows: [Sample.window]), expected: .holds),
    ConditionRow(
      id: "window opens at its first second", condition: Condition(windows: [Sample.window]), instant: 1_100_000,
      expected: .holds),
    ConditionRow(
      id: "window is shut in the second it ends", condition: Condition(windows: [Sample.window]), instant: 1_100_100,
      expected: .fails, reason: .window),
    ConditionRow(
      id: "window shut", condition: Condition(windows: [Sample.window]), instant: Sample.betweenWindows,
      expected: .fails, reason: .window),
    ConditionRow(
      id: "after the last interval", condition: Condition(windows: [Sample.window]), instant: 1_999_999,
      expected: .fails, reason: .window),
    ConditionRow(
      id: "past the horizon", condition: Condition(windows: [Sample.window]), instant: 2_000_000,
      expected: .undecided),
    ConditionRow(
      id: "before the horizon", condition: Condition(windows: [Sample.window]), instant: 999_999,
      expected: .undecided),
    ConditionRow(
      id: "past the horizon, and expired", condition: Condition(windows: [Sample.window], notAfter: 1_500_000),
      instant: 2_000_000, expected: .fails, reason: .expired(at: 1_500_000)),
    ConditionRow(
      id: "past the horizon, for another user",
      condition: Condition(users: UserSelector(include: [.name("s1")]), windows: [Sample.window]),
      instant: 2_000_000, expected: .fails, reason: .user),
    ConditionRow(
      id: "a symbolic window without a zone database", kind: .fleet,
      condition: Condition(windows: [Sample.window]), expected: .undecided),
    ConditionRow(
      id: "user and window", condition: Condition(users: UserSelector(include: [.people]), windows: [Sample.window]),
      expected: .holds),
    ConditionRow(
      id: "the first part that fails is named",
      condition: Condition(users: UserSelector(include: [.name("s1")]), windows: [Sample.window], notAfter: 5),
      instant: Sample.betweenWindows, expected: .fails, reason: .user),
  ]

  private static func file(_ condition: Condition, kind: FileKind) throws -> ForcedDomain {
    var writer = ForcedDomainWriter(kind: kind)
    let isResolved = kind != .fleet
    if kind != .forced {
      writer.setHostGroups([
        HostGroup(name: "lab-a", patterns: ["lab-a-[01-30]"]), HostGroup(name: "lab-b", patterns: ["lab-b-*"]),
      ])
    }
    writer.setUserGroups([
      UserGroup(
        name: "students", names: ["s1", "s2"], unixGroups: ["students"], userIDs: isResolved ? [1001] : [],
        groupIDs: isResolved ? [2001] : []),
      UserGroup(name: "teachers", names: ["miller"], userIDs: isResolved ? [1500] : []),
    ])
    if isResolved {
      writer.setResolvedUsers([
        ResolvedUser(name: "s1", userID: 1001), ResolvedUser(name: "s2", userID: nil),
        ResolvedUser(name: "miller", userID: 1500), ResolvedUser(name: "ghost", userID: nil),
        ResolvedUser(name: "\u{e9}va", userID: nil),
      ])
    }
    let index = writer.addCondition(
      condition, intervals: isResolved ? condition.windows.map { _ in Sample.intervals } : [])
    let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
    let key = writer.addKey(domain: writer.addDomain("d"), key: "k")
    writer.addEntry(
      key: key, section: .forced, action: .replace, rank: Rank(priority: 1), condition: index, profile: profile,
      value: .boolean(true))
    return try ForcedDomain(
      bytes: try writer.finish(FileStamp(horizon: isResolved ? Sample.horizon : 0..<0)), expecting: FileKinds(kind))
  }

  @Test(arguments: rows)
  func evaluated(_ row: ConditionRow) throws {
    let domain = try Self.file(row.condition, kind: row.kind)
    let index = row.condition == .always ? 0 : 1
    #expect(domain.conditions[index] == row.condition)
    let truth = domain.truth(in: EvaluationContext(host: row.host, user: row.user, instant: row.instant))
    #expect(truth.holds(index, for: .replace) == (row.expected != .fails))
    #expect(truth.holds(index, for: .union) == (row.expected != .fails))
    #expect(truth.holds(index, for: .release) == (row.expected == .holds))
    #expect(truth.isUndecided(index) == (row.expected == .undecided))
    #expect(domain.reason(ofCondition: index, under: truth) == row.reason)
  }

  @Test(
    arguments: [
      // (instant, next edge)
      (0, 1_000_000), (999_999, 1_000_000), (1_000_000, 1_100_000), (1_100_000, 1_100_100), (1_100_099, 1_100_100),
      (1_100_100, 1_200_000), (1_200_050, 1_200_100), (1_200_100, 1_900_000), (1_900_000, 2_000_000),
    ] as [(Int64, Int64)])
  func nextEdge(instant: Int64, next: Int64) throws {
    let domain = try Self.file(Condition(windows: [Sample.window], notAfter: 1_900_000), kind: .forced)
    #expect(domain.truth(in: EvaluationContext(user: Sample.person, instant: instant)).nextEdge == next)
  }

  @Test func noEdgeAfterTheHorizon() throws {
    let domain = try Self.file(Condition(windows: [Sample.window]), kind: .forced)
    #expect(domain.truth(in: EvaluationContext(user: Sample.person, instant: 2_000_000)).nextEdge == nil)
    let always = try Self.file(.always, kind: .forced)
    #expect(always.truth(in: EvaluationContext(user: Sample.person, instant: 0)).nextEdge == nil)
  }

  @Test func symbolicWindowsOutsideTheHorizon() throws {
    let domain = try Self.file(Condition(windows: [Sample.window]), kind: .forced)
    let context = EvaluationContext(user: Sample.person, instant: 5_000_000) { window, instant in
      WindowState(isOpen: window == Sample.window && instant == 5_000_000, nextEdge: 5_000_600)
    }
    let truth = domain.truth(in: context)
    #expect(truth.holds(1, for: .release))
    #expect(truth.nextEdge == 5_000_600)
  }

  @Test(
    arguments: [
      (Sample.horizon.lowerBound - 1, true),
      (Sample.horizon.lowerBound, true),
      (Sample.horizon.upperBound, true),
    ] as [(Int64, Bool)])
  func horizonIsShort(instant: Int64, isFault: Bool) throws {
    // The sample's whole horizon is shorter than 90 days.
    let domain = try Self.file(Condition(windows: [Sample.window]), kind: .forced)
    #expect((domain.horizonFault(at: instant) != nil) == isFault)
  }

  @Test func horizonFaultText() throws {
    var writer = ForcedDomainWriter(kind: .forced)
    _ = writer.addCondition(Condition(windows: [Sample.window]), intervals: [[]])
    let end: Int64 = 100_000_000
    let domain = try ForcedDomain(bytes: try writer.finish(FileStamp(horizon: 0..<end)), expecting: [.forced])
    #expect(domain.horizonFault(at: end - 90 * 86_400 - 1) == nil)
    #expect(
      domain.horizonFault(at: end - 90 * 86_400) == "windows are known for 90 more days only. Next: policyctl refresh")
    #expect(
      domain.horizonFault(at: end)
        == "windows are not known any more; all of them count as open. Next: policyctl refresh")
    #expect(
      domain.horizonFault(at: -1)
        == "the clock is before the time from which windows are known; all of them count as open. "
        + "Set the clock, then: policyctl refresh")
    let plain = try ForcedDomain(
      bytes: try ForcedDomainWriter(kind: .forced).finish(FileStamp()), expecting: [.forced])
    #expect(plain.horizonFault(at: 5) == nil)
  }

  /// More conditions than one word of bits.
  @Test func manyConditions() throws {
    var writer = ForcedDomainWriter(kind: .forced)
    for index in 1..<300 { #expect(writer.addCondition(Condition(notAfter: Int64(index))) == UInt32(index)) }
    #expect(writer.addCondition(Condition(notAfter: 17)) == 17)
    let domain = try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.forced])
    let truth = domain.truth(in: EvaluationContext(user: Sample.person, instant: 150))
    for index in 1..<300 { #expect(truth.holds(index, for: .replace) == (index > 150)) }
    #expect(truth.holds(0, for: .release))
    #expect(truth.nextEdge == 151)
  }
}
