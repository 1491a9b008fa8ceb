import ForcedDomain
import PropertyList
import Testing

@testable import PolicyCompiler

/// POLICY-LANGUAGE rule 8: names without ids.
@Suite struct NameResolutionTests {
  static func policy(serial: UInt64 = 1000) -> TestPolicy {
    var policy = TestPolicy(serial: serial, sources: UInt8(serial % 256))
    policy.userGroups = [
      UserGroup(name: "students", names: ["miller"], unixGroups: ["students", "guests"])
    ]
    policy.values = [
      ("A", .integer(1), Condition(users: UserSelector(include: [.group("students")]))),
      ("B", .integer(2), Condition(users: UserSelector(include: [.name("s1")]))),
    ]
    return policy
  }

  static let users: [String: UInt32] = ["miller": 1500, "s1": 1001]
  static let groups: [String: UInt32] = ["students": 2000, "guests": 2001]

  static func installed() throws -> TestHost {
    let host = try TestHost().initialised()
    let report = try host.installer(users: users, groups: groups).install(try policy().bundle(), from: "b")
    #expect(report.faults.isEmpty)
    return host
  }

  @Test func namesGetTheirIDs() throws {
    let host = try Self.installed()
    #expect(try host.value("A", user: 1500) == .integer(1))
    #expect(try host.value("A", user: 1002, groups: [2001]) == .integer(1))
    #expect(try host.value("A", user: 1001) == nil)
    #expect(try host.value("B", user: 1001) == .integer(2))
  }

  @Test func aNameServiceThatIsDownKeepsTheLastIDs() throws {
    let host = try Self.installed()
    let report = try host.installer(isServiceDown: true).refresh()
    #expect(report.outcome == .unchanged)
    #expect(
      report.faults == [
        "Unix group 'guests' can't be resolved (the name service does not answer: Connection timed out); its last id, 2001, stays in use",
        "Unix group 'students' can't be resolved (the name service does not answer: Connection timed out); its last id, 2000, stays in use",
        "user 'miller' can't be resolved (the name service does not answer: Connection timed out); its last id, 1500, stays in use",
        "user 's1' can't be resolved (the name service does not answer: Connection timed out); its last id, 1001, stays in use",
      ])
    // So does a new bundle that mentions them, however often.
    for serial in [1001, 1002] as [UInt64] {
      let next = try host.installer().install(try Self.policy(serial: serial).bundle(), from: "b")
      #expect(next.outcome == .installed && next.faults.count == 4)
      #expect(
        next.faults.first == "Unix group 'guests' can't be resolved (no such name); its last id, 2001, stays in use")
      #expect(try host.value("A", user: 1002, groups: [2001]) == .integer(1))
      #expect(try host.value("B", user: 1001) == .integer(2))
    }
  }

  @Test func changedIDsMakeANewGeneration() throws {
    let host = try Self.installed()
    var users = Self.users
    users["s1"] = 1077
    let report = try host.installer(users: users, groups: Self.groups).refresh()
    #expect(report.outcome == .installed && report.generation == 2)
    #expect(try host.value("B", user: 1077) == .integer(2))
    #expect(try host.value("B", user: 1001) == nil)
  }

  @Test func aNameThatWasNeverResolvedIsRefusedUnlessAllowed() throws {
    let host = try TestHost().initialised()
    let bundle = try Self.policy().bundle()
    let before = try host.contents()
    let groups = ["students": UInt32(2000)]
    let error = InstallerTests.refusal {
      _ = try host.installer(users: Self.users, groups: groups).install(bundle, from: "lab.bundle")
    }
    #expect(error?.exitCode == 69)
    #expect(error?.description == "Unix group 'guests' was never resolved (no such name); it matches nobody")
    #expect(
      error?.next == [
        "getent group guests", "policyctl --root \(host.root) install lab.bundle --allow-unresolved",
      ])
    #expect(try host.contents() == before)

    let installer = host.installer(users: Self.users, groups: groups)
    let report = try installer.install(bundle, from: "lab.bundle", allowUnresolved: true)
    #expect(report.faults == ["Unix group 'guests' was never resolved (no such name); it matches nobody"])
    #expect(try host.value("A", user: 1002, groups: [2000]) == .integer(1))
    #expect(try host.value("A", user: 1002, groups: [2001]) == nil)
    // The nightly refresh goes on with what was accepted; the ids that are known stay known beside it.
    let refreshed = try host.installer(isServiceDown: true).refresh()
    #expect(refreshed.outcome == .unchanged && refreshed.faults.count == 4)
    #expect(try host.value("A", user: 1002, groups: [2000]) == .integer(1))
    // Once the group exists, it counts.
    #expect(try host.installer(users: Self.users, groups: Self.groups).refresh().outcome == .installed)
    #expect(try host.value("A", user: 1002, groups: [2001]) == .integer(1))
  }
}
