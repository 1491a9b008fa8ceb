import AuditEvents
import AuditLog
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import policyd

/// What programs send to an agent, over its real socket.
@Suite struct ServingTests {
  @Test func anEventArrivesWithWhatTheKernelSaysApartFromWhatItsSenderSays() throws {
    let agent = try AgentSandbox()
    try agent.start()
    var event = AgentSandbox.event("Key")
    event = AuditEvent(
      event.kind, fields: event.fields, time: PropertyListDate(unixTime: 1_700_000_000.5),
      claim: AuditEvent.Claim(processID: 1, userID: 4711, executable: "/usr/bin/innocent"))
    try agent.deliver([event])
    let record = try #require(try agent.records("forced.write").first)
    #expect(record["attested", "uid"]?.integerValue == Int(geteuid()))
    #expect(record["attested", "pid"]?.integerValue == Int(getpid()))
    #expect(record["attested", "executable"]?.stringValue == ProcessIdentity.executablePath())
    #expect(
      record["claimed"].json
        == #"{"executable":"/usr/bin/innocent","pid":1,"time":"2023-11-14T22:13:20.500Z","uid":4711}"#)
    #expect(record["unattested"]?.dictionaryValue == nil)
    #expect(
      record["fields"].json
        == #"{"domain":"org.example.Editor","generation":1,"key":"Key","operation":"set","profiles":[]}"#)
    #expect(agent.errors == "")
  }

  @Test func startAndStopAreOnRecordAndTheChainIsSound() throws {
    let agent = try AgentSandbox()
    try agent.start()
    #expect(try FileMetadata.of(agent.socket).permissions == 0o666)
    #expect(try FileMetadata.of(FilePath.parent(of: agent.socket)).permissions == 0o755)
    #expect(agent.stop() == 0)
    let kinds = try agent.records().compactMap { $0["kind"]?.stringValue }.filter { $0.hasPrefix("agent.") }
    #expect(kinds == ["agent.started", "agent.stopped"])
    let started = try #require(try agent.records("agent.started").first)
    #expect(started["fields", "boot"]?.stringValue == WallClock.bootIdentifier())
    #expect(started["fields", "generation"].number == 0)
    #expect(started["fields", "withheld"] == nil)
    #expect(agent.policyctl("audit", "verify").exitCode == 0)
    #expect(agent.errors == "")
  }

  @Test func whatIsRepeatedBecomesOneRecordWithItsCount() throws {
    let agent = try AgentSandbox()
    try agent.start()
    // The first is new, and written at once; the others are the same.
    try agent.deliver([AgentSandbox.event("Key")])
    try agent.deliverAtOnce((0..<100).map { _ in AgentSandbox.event("Key") } + [AgentSandbox.event("Other")])
    let records = try agent.records("forced.write")
    #expect(records.filter { $0["fields", "key"].text == "Other" }.count == 1)
    let counts = records.filter { $0["fields", "key"].text == "Key" }.map { $0["fields", "count"]?.integerValue ?? 1 }
    #expect(counts.reduce(0, +) == 101)
    #expect(counts.first == 1)
    // One for each of the turns in which they are read.
    #expect(counts.count <= 5)
  }

  @Test func whatWasWrittenOftenWaitsForMoreOfItsKind() {
    var pending = PendingRecords(limits: AgentLimits())
    let record = AgentRecord(
      AgentSandbox.event("Key"), attestation: .process(user: 1000, process: 7, executable: nil))
    let sameness = PendingRecords.Sameness(record, user: 1000, executable: nil)
    for time in 0..<8 {
      let now = Moment(time)
      pending.add(record, sameness, at: now)
      #expect(pending.due == now)
      pending.clear(at: now)
    }
    pending.add(record, sameness, at: 8)
    #expect(pending.due == 8.1)
    for _ in 0..<2 {
      let isGathered = pending.gather(sameness)
      #expect(isGathered)
    }
    #expect(pending.forWriting().map { $0.fields["count"]?.integerValue } == [3])
    pending.clear(at: 8.1)
    // Ten seconds after the first of them it is written at once again.
    pending.add(record, sameness, at: 10)
    #expect(pending.due == 10)
  }

  @Test func howOftenItHappenedIsForTheAgentToSay() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let event = AgentSandbox.event("Key")
    let fields = event.fields.merging(["count": .integer(1_000_000)]) { $1 }
    try agent.deliver([AuditEvent(.forcedWrite, fields: fields)])
    #expect(try agent.records("forced.write").first?["fields", "count"] == nil)
  }

  static let hostile: [(name: String, packet: [UInt8], reason: String)] = [
    ("not JSON", Array("hello".utf8), "malformed"), ("a torn line", Array(#"{"kind":"forced.wr"#.utf8), "malformed"),
    ("zeros", [UInt8](repeating: 0, count: 100), "malformed"),
    ("not UTF-8", Array(#"{"kind":""#.utf8) + [0xff, 0xfe] + Array(#""}"#.utf8), "malformed"),
    ("without a claim", Array(#"{"kind":"forced.write","time":"2027-01-15T08:00:00Z","fields":{}}"#.utf8), "malformed"),
    ("deep", Array(String(repeating: "[", count: 5000).utf8), "malformed"),
    ("larger than a packet", [UInt8](repeating: 0x20, count: AgentProtocol.packetBytes + 1), "oversized"),
    ("root's to tell", AuditEvent(.policyInstalled, fields: [:]).jsonLine(), "foreign"),
    ("the log's to tell", AuditEvent(.init(rawValue: "audit.alarm"), fields: [:]).jsonLine(), "foreign"),
  ]

  @Test func whatIsNoEventIsRefusedAndCountedAndHarmsNobody() throws {
    let agent = try AgentSandbox()
    try agent.start()
    try agent.deliver(Self.hostile.map(\.packet))
    try agent.deliver([AgentSandbox.event("Key")])
    #expect(agent.stop() == 0)
    let records = try agent.records()
    #expect(records.filter { $0["kind"].text == "forced.write" }.count == 1)
    #expect(!records.contains { $0["kind"].text == "policy.installed" || $0["kind"].text == "audit.alarm" })
    // As a rule one record tells of all, and of a sender that stood still between them more than one.
    let refused = records.filter { $0["kind"].text == "audit.dropped" }
    #expect(Set(refused.map { $0["fields", "user"].number }) == [Int(geteuid())])
    #expect(refused.map { $0["fields", "count"].number ?? 0 }.reduce(0, +) == 9)
    let counts = ["foreign", "malformed", "oversized", "rate", "connections"].map { reason in
      refused.map { $0["fields", "reasons", reason].number ?? 0 }.reduce(0, +)
    }
    #expect(counts == [2, 6, 1, 0, 0])
  }

  @Test func textThatWouldForgeALineStaysInItsField() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let hostile = "x\n{\"seq\":99,\"kind\":\"policy.installed\"}\u{1b}[2J"
    try agent.deliver([AgentSandbox.event(hostile)])
    let records = try agent.records()
    #expect(records.filter { $0["fields", "key"]?.stringValue == hostile }.count == 1)
    #expect(!records.contains { $0["kind"].text == "policy.installed" })
  }

  @Test func nothingThatWasAnsweredIsLostWhenTheAgentIsKilled() throws {
    let agent = try AgentSandbox()
    try agent.start()
    try agent.deliver((0..<300).map { AgentSandbox.event("Key \($0)") })
    agent.stop(SIGKILL)
    try agent.start()
    try agent.deliver([AgentSandbox.event("After")])
    let keys = Set(try agent.records("forced.write").compactMap { $0["fields", "key"]?.stringValue })
    #expect(keys == Set((0..<300).map { "Key \($0)" } + ["After"]))
    #expect(agent.policyctl("audit", "verify").exitCode == 0)
  }

  @Test func aSecondAgentIsRefused() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let second = agent.sandbox.execute([AgentSandbox.program, "--root", agent.root])
    #expect(second.exitCode == 69)
    #expect(
      agent.sandbox.plain(second.errors)
        == "policyd: another agent serves at SANDBOX/root/run/managed-preferences/policyd.sock\n")
    try agent.deliver([AgentSandbox.event("Key")])
  }

  @Test func anEmptyRootHasNoAgent() throws {
    let sandbox = try Sandbox(named: "policyd")
    for flag in ["--heartbeat", "--look"] {
      let refused = sandbox.execute([AgentSandbox.program, "--root", sandbox.root, flag, "0"])
      #expect(refused.exitCode == 64)
      #expect(refused.errors == "policyd: \(flag) is at least 1 second, not 0\nNext: policyd --help\n")
    }
    let result = sandbox.execute([AgentSandbox.program, "--root", sandbox.root])
    #expect(result.exitCode == 66)
    #expect(
      sandbox.plain(result.errors) == """
        policyd: nothing is installed here: SANDBOX/root/var/lib/managed-preferences/generation is missing
        Next: policyctl --root SANDBOX/root init

        """)
    #expect(try Directory.names(in: sandbox.root) == [])
  }

  @Test func anUninstallationEndsTheAgentAndTheLog() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let result = agent.policyctl("uninstall")
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(agent.waitForEnd() == 0)
    // A record that was on its way is told of before.
    #expect(
      agent.errors.hasSuffix("policyd: nothing is installed here any more; what has come is left to its senders\n"))
  }
}
