import AuditEvents
import CommandSandbox
import ForcedDomain
import Glibc
import LinuxFiles
import PolicyCompiler
import PropertyList
import Synchronization
import Testing

@testable import policyd

/// What the agent notices by itself.
@Suite struct WatchTests {
  static let policy = """
    version: 1
    kind: Profile
    id: org.example.lab.exam
    title: Exam
    applies:
      users: {names: [root, somebody-unknown]}
      during:
        - {days: [tue], from: "09:00", to: "10:00", timezone: Europe/Berlin}
        - {days: [tue], from: "10:00", to: "11:30", timezone: Europe/Berlin}
    forced:
      org.example.Browser: {HomePage: https://exam.example.org/}

    """

  static func applied() throws -> AgentSandbox {
    let agent = try AgentSandbox()
    try agent.sandbox.write(policy, to: agent.root + "/etc/managed-preferences/policies/exam.yaml")
    let result = agent.policyctl("apply", "--allow-unresolved")
    try #require(result.exitCode == 0, "\(result.errors)")
    return agent
  }

  static func file(_ agent: AgentSandbox) throws -> ForcedDomain {
    guard case .loaded(let file, _) = ForcedDomainLoader(Installation(root: agent.root)).load() else {
      throw Errno.noSuchFile
    }
    return file
  }

  /// Nine o'clock in Berlin, in winter, on the second Tuesday of the year in which the policy was installed.
  static func opening(in file: ForcedDomain) -> Int64 {
    // The epoch was a Thursday.
    let firstDay = file.horizon.lowerBound / 86_400
    let tuesday = (firstDay...).first { ($0 + 4) % 7 == 2 } ?? firstDay
    return (tuesday + 7) * 86_400 + 8 * 3600
  }

  @Test func rulesThatTouchAreOneWindow() throws {
    let file = try Self.file(try Self.applied())
    let edges = WindowEdges(of: file)
    let opening = Self.opening(in: file)
    let hour: Int64 = 3600
    func edge(_ instant: Int64, _ opens: Bool) -> WindowEdges.Edge {
      WindowEdges.Edge(instant: instant, opens: opens, profile: "org.example.lab.exam")
    }
    #expect(
      Array(edges.passed(after: opening - hour, upTo: opening + 8 * 24 * hour)) == [
        edge(opening, true), edge(opening + 9000, false), edge(opening + 168 * hour, true),
        edge(opening + 168 * hour + 9000, false),
      ])
    #expect(edges.next(after: opening) == opening + 9000)
    #expect(edges.next(after: opening - 1) == opening)
    #expect(Array(edges.passed(after: opening, upTo: opening)) == [])
    #expect(Array(edges.passed(after: opening + hour, upTo: opening)) == [])
    #expect(edges.next(after: file.horizon.upperBound) == nil)
  }

  /// The clock comes to a window's edges while the agent runs; edges that it jumps over are told as well.
  @Test func edgesAreToldWhenTheyAreReached() throws {
    let agent = try Self.applied()
    let opening = Self.opening(in: try Self.file(agent))
    let time = Atomic(opening - 2)
    let mailbox = try Mailbox()
    let watch = try HostWatch(
      Installation(root: agent.root), mailbox: mailbox, store: SpoolIntakeTests.MemoryStore(),
      intervals: .init(heartbeat: 100_000, look: 100_000), clock: { time.load(ordering: .relaxed) }, report: { _ in })
    #expect(watch.start())
    // By now it has looked.
    wait(while: mailbox.lastHeartbeat == 0)
    func told(at instant: Int64) -> [String] {
      time.store(instant, ordering: .relaxed)
      let before = mailbox.take()
      var records: [AgentRecord] = []
      // A sign of life is put behind the edges that a look found. The look of the first may have begun before the clock was
      // set, that of the second has not; and the third finds nothing twice.
      wait(
        while: {
          watch.lookAnew()
          usleep(1000)
          records += mailbox.take()
          return records.count { $0.kind == .agentHeartbeat } < 3
        }())
      return (before + records).filter { $0.kind == .windowOpened || $0.kind == .windowClosed }.map {
        "\($0.kind.rawValue) \(PropertyListValue?.some(.dictionary($0.fields)).json)"
      }
    }
    func text(_ kind: String, _ edge: String, late: Bool = false) -> String {
      "policy.window-\(kind) {\"edge\":\"\(edge)\",\"generation\":1,\(late ? "\"late\":true," : "")"
        + "\"profile\":\"org.example.lab.exam\"}"
    }
    #expect(told(at: opening - 1) == [])
    func instant(_ seconds: Int64) -> String { PropertyListDate(unixTime: Double(seconds)).rfc3339 }
    #expect(told(at: opening) == [text("opened", instant(opening))])
    #expect(
      told(at: opening + 8 * 86_400) == [
        text("closed", instant(opening + 9000), late: true), text("opened", instant(opening + 604_800), late: true),
        text("closed", instant(opening + 613_800), late: true),
      ])
    #expect(agent.policyctl("uninstall").exitCode == 0)
    watch.lookAnew()
    wait(while: !mailbox.isEnded)
    #expect(mailbox.isEnded)
  }

  /// A group that gets members changes nothing in the policies, since each process is judged by its own groups; a group
  /// that gets another number does.
  @Test func aGroupWithAnotherNumberIsNarrowedAnew() throws {
    let agent = try AgentSandbox()
    try agent.sandbox.write(
      """
      version: 1
      kind: Profile
      id: org.example.lab.groups
      title: Groups
      applies: {users: {groups: [services]}}
      forced:
        org.example.Browser: {HomePage: https://example.org/}

      """, to: agent.root + "/etc/managed-preferences/policies/groups.yaml")
    try agent.sandbox.write(
      """
      version: 1
      kind: Inventory
      unknownHosts: allow
      users:
        groups:
          services: {unixGroups: [daemon]}

      """, to: agent.root + "/etc/managed-preferences/policies/inventory.yaml")
    let applied = agent.policyctl("apply")
    try #require(applied.exitCode == 0, "\(applied.errors)")
    let file = try Self.file(agent)
    let number = try #require(try UserDatabase.groupID(named: "daemon"))
    #expect(!IdentityCheck(of: file, user: { _ in nil }, group: { _ in number }).hasChanged)
    #expect(IdentityCheck(of: file, user: { _ in nil }, group: { _ in number + 1 }).hasChanged)
  }

  @Test func namesAreHeldAgainstTheIdsInUse() throws {
    let file = try Self.file(try Self.applied())
    func check(_ ids: [String: UInt32]) -> IdentityCheck {
      IdentityCheck(of: file, user: { ids[$0] }, group: { _ in nil })
    }
    #expect(!check(["root": 0]).hasChanged)
    #expect(check(["root": 0]).unknown == ["somebody-unknown"])
    #expect(check(["root": 1]).hasChanged)
    #expect(check(["root": 0, "somebody-unknown": 5000]).hasChanged)
    #expect(check(["root": 0, "somebody-unknown": 5000]).unknown == [])
    // Who can't be asked about keeps the id in use.
    #expect(!check([:]).hasChanged)
    #expect(check([:]).unknown == ["root", "somebody-unknown"])
  }

  @Test func aNameWithAnotherIdIsNarrowedAnewAndOnRecordBefore() throws {
    let agent = try Self.applied()
    let installation = Installation(root: agent.root)
    // As if `root` had had another id when the policies were installed.
    let others = AccountSource(
      userID: { name throws(Errno) in name == "root" ? 4711 : nil }, groupID: { _ throws(Errno) in nil })
    _ = try Installer(installation, accounts: others).refresh()
    #expect(IdentityCheck(of: try Self.file(agent)).hasChanged)
    let store = SpoolIntakeTests.MemoryStore()
    store.state.withLock { $0.isFull = true }
    IdentityRefresh(installation, store: store, report: { _ in }).run()
    #expect(try Self.file(agent).generation == 2)
    store.state.withLock { $0.isFull = false }
    IdentityRefresh(installation, store: store, report: { _ in }).run()
    let generation = try Self.file(agent).generation
    #expect(generation > 2)
    #expect(!IdentityCheck(of: try Self.file(agent)).hasChanged)
    #expect(store.records.map(\.kind.rawValue) == ["policy.refreshed"])
    #expect(store.records.first?.fields["generation"].number == Int(generation))
    #expect(store.records.first?.fields["previous"].number == 2)
  }

  @Test func unknownNamesStaleSourcesAndSignsOfLifeAreOnRecord() throws {
    let agent = try Self.applied()
    try agent.start("--heartbeat", "1")
    let unknown = try #require(try agent.waitForRecords("identity.unknown").last)
    #expect(unknown["fields"].json == #"{"accepted":true,"names":["somebody-unknown"]}"#)
    let heartbeat = try #require(try agent.waitForRecords("agent.heartbeat", count: 2).last)
    #expect(heartbeat["fields", "generation"].number == 1)
    #expect(heartbeat["fields", "boot"].text == WallClock.bootIdentifier())
    #expect(heartbeat["fields", "forced"].text?.utf8.count == 16)
    #expect(heartbeat["fields", "withheld"] == nil)
    #expect(try agent.records("policy.stale").isEmpty)
    try agent.sandbox.write(
      Self.policy + "# edited\n", to: agent.root + "/etc/managed-preferences/policies/exam.yaml")
    let stale = try #require(try agent.waitForRecords("policy.stale").first)
    #expect(stale["fields", "digest"].text == heartbeat["fields", "digest"].text)
    #expect(stale["fields", "found"].text?.utf8.count == 64)
    // Nothing was installed by itself.
    #expect(try Self.file(agent).generation == 1)
    #expect(agent.errors == "")
  }

  /// While the log can't be written, events wait; then they are there, and nothing was said to be kept before.
  @Test func eventsWaitWhileTheLogCanNotBeWritten() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let log = agent.root + "/var/log/managed-preferences"
    rename(log, log + ".away")
    try AtomicReplacement.write([], to: log, mode: 0o600)
    let connection = try PacketSocket.connect(agent.socket)
    try connection.send(AgentSandbox.event("Key").jsonLine())
    #expect(agent.waitForStatus { $0.fault != nil } != nil)
    let isAnswered = connection.wait(seconds: 0)
    #expect(!isAnswered)
    #expect(agent.policyctl("status").exitCode == 1)
    // It would make a folder that it finds missing.
    agent.whileItStandsStill {
      unlink(log)
      rename(log + ".away", log)
    }
    try agent.waitForAnswer(1, on: connection)
    #expect(try agent.records("forced.write").map { $0["fields", "key"].text } == ["Key"])
    let lines = agent.errors.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.last == "policyd: the audit log can be written again")
  }
}
