import ForcedDomain
import PropertyList
import Testing

/// A condition that stands within another one holds where both hold.
@Suite struct WithinTests {
  private static let outer = Condition(
    hosts: HostSelector(include: [.group("lab-a")]), users: UserSelector(include: [.people]))
  private static let inner = Condition(
    hosts: HostSelector(include: [.pattern("*-07")]), users: UserSelector(include: [.name("ada")]), notAfter: 2_000,
    within: [outer])

  private static func file() throws -> [UInt8] {
    var writer = ForcedDomainWriter(kind: .fleet)
    writer.setHostGroups([HostGroup(name: "lab-a", patterns: ["lab-a-[01-30]"])])
    let profile = writer.addProfile(ProfileReference(id: "org.example.a", title: "A"))
    _ = writer.addCondition(outer)
    let condition = writer.addCondition(inner)
    let key = writer.addKey(domain: writer.addDomain("org.example.Editor"), key: "Theme")
    writer.addEntry(
      key: key, section: .forced, action: .replace, rank: Rank(), condition: condition, profile: profile,
      value: writer.addValue(.string("light")))
    return try writer.finish(FileStamp())
  }

  struct Row: Sendable {
    let host: String
    let user: UserFacts
    var instant: Int64 = 1_000
    let whyNot: ConditionReason?
  }

  static let rows: [Row] = [
    Row(host: "lab-a-07", user: UserFacts(name: "ada"), whyNot: nil),
    Row(host: "lab-b-07", user: UserFacts(name: "ada"), whyNot: .host),
    Row(host: "lab-a-08", user: UserFacts(name: "ada"), whyNot: .host),
    Row(host: "lab-a-07", user: UserFacts(name: "joan"), whyNot: .user),
    Row(host: "lab-a-07", user: UserFacts(userID: 10, name: "ada"), whyNot: .user),
    Row(host: "lab-a-07", user: UserFacts(name: "ada"), instant: 2_000, whyNot: .expired(at: 2_000)),
  ]

  @Test(arguments: rows)
  func bothMustHold(row: Row) throws {
    let domain = try ForcedDomain(bytes: Self.file(), expecting: [.fleet])
    let truth = domain.truth(
      in: EvaluationContext(host: HostIdentity(name: row.host), user: row.user, instant: row.instant))
    let resolution = domain.resolve(domain: "org.example.Editor", key: "Theme", section: .forced, under: truth)
    #expect(resolution.value == (row.whyNot == nil ? .string("light") : nil))
    #expect(resolution.candidates.map(\.whyNot) == [row.whyNot])
    #expect(truth.nextEdge == (row.instant < 2_000 ? 2_000 : nil))
  }

  @Test func isReadAsItWasWritten() throws {
    let domain = try ForcedDomain(bytes: Self.file(), expecting: [.fleet])
    #expect(domain.conditions == [.always, Self.outer, Self.inner])
    #expect(domain.conditionsPossible(on: HostIdentity(name: "lab-a-07")) == [true, true, true])
    #expect(domain.conditionsPossible(on: HostIdentity(name: "lab-a-08")) == [true, true, false])
    #expect(domain.conditionsPossible(on: HostIdentity(name: "lab-b-07")) == [true, false, false])
  }
}
