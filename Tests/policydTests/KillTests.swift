import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import AuditEvents
@testable import AuditLog

/// The agent is killed at each system call of its work; then it is started again.
///
/// What has to hold each time: the log verifies; what the agent had acknowledged is in it exactly once; what it had not is
/// the sender's, in the spool, and comes in from there: once, or a second time as unattested where the agent was killed
/// between writing and saying so.
@Suite(.serialized, .enabled(if: SystemCalls.canBeFollowed)) struct KillTests {
  /// An installation with a log as a crash left it, whose next record begins a new segment; each round begins with it.
  final class Host {
    let agent: AgentSandbox
    var spoolFolder: String { agent.sandbox.home + "/.local/state/managed-preferences" }
    private var kept: String { agent.sandbox.path + "/kept" }
    private var log: String { agent.root + "/var/log/managed-preferences" }

    init() throws {
      agent = try AgentSandbox()
      try makeOld()
      try execute("mkdir \"$1/kept\" && cp -a \"$1/root/var\" \"$1/kept/var\"")
    }

    /// A segment of a month ago, and half a line behind it.
    private func makeOld() throws {
      try execute("rm -f \"$1\"/root/var/log/managed-preferences/audit-*")
      let old = PropertyListDate(unixTime: Double(WallClock.unixSeconds() - 40 * 86_400))
      let id = String(repeating: "0", count: 32)
      let text = LineWriter(after: .beginning, host: "lab-a-03", textBytes: 1024)
      for record in [
        AuditRecord.own(.auditBegan, fields: ["log": .string(id), "format": .integer(1)]),
        AuditRecord.own(.hostEnrolled, fields: ["to": .string("lab-a-03")]),
      ] {
        var record = record
        record.time = old
        text.add([record])
      }
      let torn = Array(#"{"seq":3,"prev":"00"#.utf8)
      try AtomicReplacement.write(Array(text.lines.bytes) + torn, to: log + "/audit-000000000001.jsonl", mode: 0o640)
      var anchor = Anchor(log: id, tip: text.tip)
      anchor.count = 2
      try AtomicReplacement.write(
        anchor.file, to: agent.root + "/var/lib/managed-preferences/audit-anchor", mode: 0o600)
    }

    func reset() throws {
      agent.stop(SIGKILL)
      try execute("rm -rf \"$1/root/var\" \"$1/root/run\" \"$1/home/.local\" && cp -a \"$1/kept/var\" \"$1/root/var\"")
    }

    private func execute(_ script: String) throws {
      let result = agent.sandbox.execute(["sh", "-c", script, "sh", agent.sandbox.path])
      try #require(result.exitCode == 0, "\(result.errors)")
    }

    /// Sends as a program does; what is not acknowledged goes into the spool.
    /// - Returns: what was acknowledged.
    func send(_ keys: [String]) -> [String] {
      let events = keys.map { AgentSandbox.event($0) }
      let count = AgentProtocol.deliver(events.map { $0.jsonLine() }[...], to: agent.socket, patience: 120)
      if count < events.count {
        AuditSpool(of: agent.origin, directory: spoolFolder).write(Array(events[count...]), patience: 120)
      }
      return Array(keys[..<count])
    }

    var isSpoolEmpty: Bool { ((try? Directory.names(in: spoolFolder)) ?? []).allSatisfy { $0 == agent.spoolName.lock } }

    /// Starts the agent again, and holds everything together.
    func check(sent: [String], acknowledged: [String], _ point: SystemCalls.Point?) throws {
      let what = point?.description ?? "nowhere"
      try agent.start("--look", "1")
      wait(while: !isSpoolEmpty)
      #expect(isSpoolEmpty, "killed at \(what): the spool is not taken in: \(agent.errors)")
      try agent.deliver([AgentSandbox.event("After")])
      #expect(agent.stop() == 0)
      let verified = AuditVerification(of: agent.logPlace)
      #expect(verified.verdict == .sound, "killed at \(what): \(verified.findings)")
      var attested: [String: Int] = [:]
      var unattested: [String: Int] = [:]
      for record in try agent.records("forced.write") {
        let key = record["fields", "key"].text ?? ""
        #expect(record["fields", "count"] == nil)
        if record["unattested"] != nil { unattested[key, default: 0] += 1 } else { attested[key, default: 0] += 1 }
      }
      #expect(Set(attested.keys).union(unattested.keys) == Set(sent + ["After"]), "killed at \(what)")
      for key in acknowledged + ["After"] {
        #expect(attested[key] == 1 && unattested[key] == nil, "killed at \(what): \(key)")
      }
      for key in Set(sent).subtracting(acknowledged) {
        #expect(attested[key, default: 0] <= 1 && unattested[key, default: 0] <= 1, "killed at \(what): \(key)")
      }
    }
  }

  /// One life of the thread that serves: recovery of a torn line, the first segment of a month, events, a question, the end.
  @Test func whileItRecoversRotatesServesAndEnds() throws {
    let host = try Host()
    let agent = host.agent
    func live(_ words: [String]) throws -> (acknowledged: [String], exit: Int32?) {
      try host.reset()
      try agent.launch(words)
      _ = agent.waitForStatus()
      let acknowledged = host.send(["a", "b"])
      return (acknowledged, agent.stop())
    }
    let words = [AgentSandbox.program, "--root", agent.root, "--look", "100000"]
    let notes = agent.sandbox.path + "/notes"
    let rehearsal = try live(SystemCalls.rehearsing(words, into: notes))
    #expect(rehearsal.acknowledged == ["a", "b"])
    #expect(rehearsal.exit == 0)
    try host.check(sent: ["a", "b"], acknowledged: ["a", "b"], nil)
    for kind in ["audit.recovered", "audit.rotated"] { #expect(try agent.records(kind).count == 1) }
    let points = SystemCalls.points(in: try SystemCalls.notes(in: notes))
    #expect(points.count > 20)
    var killed = 0
    for point in points {
      let (acknowledged, exit) = try live(SystemCalls.killing(words, at: point))
      if exit == -SIGKILL { killed += 1 }
      try host.check(sent: ["a", "b"], acknowledged: acknowledged, point)
    }
    // Another run may take one question more or less.
    #expect(killed > points.count * 3 / 4)
  }

  /// The thread that looks takes in a spool.
  @Test func whileItTakesInASpool() throws {
    let host = try Host()
    let agent = host.agent
    func live(_ point: SystemCalls.Point?) throws -> (notes: String, exit: Int32?) {
      try host.reset()
      try agent.start("--look", "100000")
      // By its sign of life the thread that looks has done so.
      agent.signal(SIGHUP)
      _ = try agent.waitForRecords("agent.heartbeat")
      let thread = try #require(try SystemCalls.threads(of: agent.processID).first { $0 != agent.processID })
      let follower = try SystemCalls.Follower(
        of: thread, killingAt: point, notes: agent.sandbox.path + "/notes")
      AuditSpool(of: agent.origin, directory: host.spoolFolder).write(
        ["a", "b"].map { AgentSandbox.event($0) }, patience: 120)
      agent.signal(SIGHUP)
      wait(while: agent.isAlive && !host.isSpoolEmpty)
      let notes = follower.leave()
      return (notes, agent.stop())
    }
    let rehearsal = try live(nil)
    #expect(rehearsal.exit == 0)
    try host.check(sent: ["a", "b"], acknowledged: [], nil)
    let points = SystemCalls.points(in: rehearsal.notes)
    #expect(points.count > 8)
    var killed = 0
    for point in points {
      if try live(point).exit == -SIGKILL { killed += 1 }
      try host.check(sent: ["a", "b"], acknowledged: [], point)
    }
    #expect(killed > points.count / 2)
  }
}
