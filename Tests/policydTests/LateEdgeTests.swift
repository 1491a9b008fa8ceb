import AuditEvents
import CommandSandbox
import ForcedDomain
import Glibc
import LinuxFiles
import PolicyCompiler
import PropertyList
import Testing

@testable import AuditLog
@testable import policyd

/// Windows that opened or closed while no agent ran are on record when one starts: late, and once.
@Suite(.enabled(if: WindowsOfToday.areInstalled)) struct LateEdgeTests {
  static let hour: Int64 = 3600

  /// A window that is open from three hours ago to two hours ago, by the minute, and each day.
  static func policy(title: String = "Exam", now: Int64) -> String {
    func time(_ instant: Int64) -> String {
      let minutes = instant % 86_400 / 60
      return "\(minutes / 60 < 10 ? "0" : "")\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
    }
    return """
      version: 1
      kind: Profile
      id: org.example.lab.exam
      title: \(title)
      applies:
        during:
          - {from: "\(time(now - 3 * hour))", to: "\(time(now - 2 * hour))", timezone: UTC}
      forced:
        org.example.Browser: {HomePage: https://exam.example.org/}

      """
  }

  static func text(_ instant: Int64) -> String { PropertyListDate(unixTime: Double(instant)).rfc3339 }

  /// Puts a log in the place of the agent's: records of other times.
  static func replaceLog(of agent: AgentSandbox, _ records: [(AuditEvent.Kind, Int64, [String: PropertyListValue])])
    throws
  {
    let log = agent.logPlace.directory
    for name in try Directory.names(in: log) where name.hasPrefix("audit-") { unlink(log + "/" + name) }
    let id = String(repeating: "0", count: 32)
    let text = LineWriter(after: .beginning, host: "lab-a-03", textBytes: 1024)
    let began: (AuditEvent.Kind, Int64, [String: PropertyListValue]) = (
      .auditBegan, records[0].1, ["log": .string(id), "format": .integer(1)]
    )
    for (kind, time, fields) in [began] + records {
      var record = AuditRecord.own(kind, fields: fields)
      record.time = PropertyListDate(unixTime: Double(time))
      text.add([record])
    }
    try AtomicReplacement.write(Array(text.lines.bytes), to: log + "/audit-000000000001.jsonl", mode: 0o640)
    var anchor = Anchor(log: id, tip: text.tip)
    anchor.count = 2
    try AtomicReplacement.write(anchor.file, to: agent.logPlace.anchor, mode: 0o600)
  }

  static func edges(_ agent: AgentSandbox) throws -> [String] {
    try agent.records().filter { $0["kind"].text?.hasPrefix("policy.window-") == true }.map {
      "\($0["kind"].text ?? "") \($0["fields"].json)"
    }
  }

  static func edge(_ kind: String, _ instant: Int64, generation: Int = 1) -> String {
    "policy.window-\(kind) {\"edge\":\"\(text(instant))\",\"generation\":\(generation),\"late\":true,"
      + "\"profile\":\"org.example.lab.exam\"}"
  }

  /// By the minute, and not so near to one that it passes while the test runs.
  static func now() -> Int64 {
    let now = WallClock.unixSeconds()
    return now - now % 60
  }

  @Test func anAgentThatStartsRecordsWhatNobodyWatched() throws {
    let now = Self.now()
    let agent = try AgentSandbox(policy: Self.policy(now: now))
    let generation: [String: PropertyListValue] = ["generation": .integer(1)]
    try Self.replaceLog(
      of: agent,
      [
        (.policyInstalled, now - 50 * Self.hour, ["generation": .integer(1), "previous": .integer(0)]),
        (.agentStarted, now - 40 * Self.hour, generation), (.agentHeartbeat, now - 5 * Self.hour, generation),
      ])
    let expected = [Self.edge("opened", now - 3 * Self.hour), Self.edge("closed", now - 2 * Self.hour)]
    for number in 1...3 {
      try agent.start()
      #expect(try Self.edges(agent) == expected, "start \(number)")
      #expect(try agent.records().last?["kind"].text == "agent.started")
      #expect(agent.errors == "")
      agent.stop(number == 1 ? SIGKILL : SIGTERM)
      #expect(agent.policyctl("audit", "verify").exitCode == 0)
    }
  }

  @Test func whereNoAgentEverRanNothingIsLate() throws {
    let agent = try AgentSandbox(policy: Self.policy(now: Self.now()))
    try agent.start()
    #expect(try Self.edges(agent) == [])
  }

  /// Killed between an edge's record and the next sign of life: what is there is not recorded again.
  @Test func whatIsOnRecordSinceTheLastSignOfLifeIsNotRecordedTwice() throws {
    let now = Self.now()
    let agent = try AgentSandbox(policy: Self.policy(now: now))
    let generation: [String: PropertyListValue] = ["generation": .integer(1)]
    let opened = generation.merging([
      "profile": .string("org.example.lab.exam"), "edge": .string(Self.text(now - 3 * Self.hour)),
    ]) { $1 }
    try Self.replaceLog(
      of: agent,
      [
        (.agentStarted, now - 4 * Self.hour, generation), (.windowOpened, now - 3 * Self.hour, opened),
      ])
    try agent.start()
    #expect(
      try Self.edges(agent) == [
        Self.edge("opened", now - 3 * Self.hour).replacing("\"late\":true,", with: ""),
        Self.edge("closed", now - 2 * Self.hour),
      ])
  }

  /// An administrator stops the agent, sets aside a log that was edited, and starts it again.
  @Test func aLogThatWasSetAsideStillTellsWhereToBegin() throws {
    let now = Self.now()
    let agent = try AgentSandbox(policy: Self.policy(now: now))
    let generation: [String: PropertyListValue] = ["generation": .integer(1)]
    try Self.replaceLog(
      of: agent,
      [
        (.keyTrusted, now - 6 * Self.hour, ["name": .string("before")]),
        (.agentHeartbeat, now - 5 * Self.hour, generation), (.agentStopped, now - 4 * Self.hour, generation),
      ])
    let segment = agent.logPlace.directory + "/audit-000000000001.jsonl"
    let edited = try agent.sandbox.read(segment).replacing("before", with: "behind")
    try AtomicReplacement.write(Array(edited.utf8), to: segment, mode: 0o640)
    let done = agent.policyctl("audit", "set-aside", "--reason", "ticket 17")
    #expect(done.exitCode == 0, "\(done.errors)")
    for _ in 1...2 {
      try agent.start()
      #expect(
        try Self.edges(agent) == [Self.edge("opened", now - 3 * Self.hour), Self.edge("closed", now - 2 * Self.hour)])
      agent.stop(SIGKILL)
      #expect(agent.policyctl("audit", "verify").exitCode == 0)
    }
  }

  /// Each generation's windows count for the time for which it was in force.
  @Test func generationsThatWereReplacedMeanwhileAreAsked() throws {
    let now = Self.now()
    let agent = try AgentSandbox(policy: Self.policy(now: now))
    try agent.apply(
      Self.policy(title: "Another", now: now).replacing("org.example.lab.exam", with: "org.example.lab.later"))
    let file = try WatchTests.file(agent)
    #expect(file.generation == 2)
    let log: [(AuditEvent.Kind, Int64, [String: PropertyListValue])] = [
      (.agentHeartbeat, now - 4 * Self.hour, ["generation": .integer(1)]),
      (.policyInstalled, now - 5 * Self.hour / 2, ["generation": .integer(2), "previous": .integer(1)]),
    ]
    try Self.replaceLog(of: agent, log)
    let installation = Installation(root: agent.root)
    func late() throws -> (records: [String], untold: [String]) {
      let found = try LateEdges(of: installation, file: file, in: agent.logPlace, now: now)
      #expect(found.through == now)
      return (
        found.records.map { "\($0.kind.rawValue) \(PropertyListValue?.some(.dictionary($0.fields)).json)" },
        found.untold
      )
    }
    let closed = Self.edge("closed", now - 2 * Self.hour, generation: 2)
      .replacing("org.example.lab.exam", with: "org.example.lab.later")
    #expect(try late() == ([Self.edge("opened", now - 3 * Self.hour), closed], []))

    // A generation that was on record and never came into force: the next record tells what was.
    try Self.replaceLog(
      of: agent,
      [
        (.agentHeartbeat, now - 4 * Self.hour, ["generation": .integer(1)]),
        (.policyInstalled, now - 7 * Self.hour / 2, ["generation": .integer(2), "previous": .integer(1)]), log[1],
      ])
    #expect(try late().records == [Self.edge("opened", now - 3 * Self.hour), closed])

    // What is no longer kept can't be asked, and that is said.
    try Self.replaceLog(of: agent, log)
    try Directory.removeTree(installation.generationDirectory(1))
    #expect(
      try late() == (
        [closed],
        [
          "windows of generation 1 that opened or closed from \(Self.text(now - 4 * Self.hour)) to "
            + "\(Self.text(now - 5 * Self.hour / 2)) are not on record: it is no longer kept"
        ]
      ))
  }

  /// A clock that was set back before the last sign of life: nothing is late yet, and nothing fails.
  @Test func aClockBeforeTheLastSignOfLife() throws {
    let now = Self.now()
    let agent = try AgentSandbox(policy: Self.policy(now: now))
    try Self.replaceLog(of: agent, [(.agentHeartbeat, now + 100 * Self.hour, ["generation": .integer(1)])])
    try agent.start()
    #expect(try Self.edges(agent) == [])
  }
}

/// What is installed tells of windows from the beginning of the year on, and those of the tests are of the last hours.
enum WindowsOfToday {
  static let areInstalled: Bool = {
    let now = WallClock.unixSeconds()
    let areInstalled = now - WindowExpansion.horizon(at: now).lowerBound > 6 * 3600
    if !areInstalled { print("SKIPPED: the year has just begun, so no window of an hour ago can be installed") }
    return areInstalled
  }()
}
