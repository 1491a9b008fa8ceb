import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

/// The sink of applications, with an agent, without one, and with one that goes away.
@Suite struct SinkTests {
  static let origin = SpoolOrigin(host: "peer", root: "")

  static func spooled(_ folder: String) -> [String] {
    guard let (bytes, _) = try? WholeFile.read(folder + "/" + SpoolName(stem: origin.stem).file) else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
      let time = PropertyListDate(unixTime: 0)
      let nobody = AuditEvent.Claim(processID: 0, userID: 0, executable: nil)
      return SpooledEvent(line: Array($0), orTime: time, orClaim: nobody)?.event.fields["key"]?.stringValue
    }
  }

  @Test func withAnAgentNothingIsSpooled() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let spool = agent.sandbox.path + "/spool"
    let sink = AgentSink(at: agent.socket, spool: AuditSpool(of: Self.origin, directory: spool), patience: 120)
    for number in 0..<300 { sink.send(AgentSandbox.event("Key \(number)")) }
    sink.flush()
    #expect(sink.dropped == 0)
    #expect(Self.spooled(spool) == [])
    #expect(try agent.records("forced.write").count == 300)
  }

  @Test func withoutAnAgentEverythingIsSpooledInOrder() throws {
    let sandbox = try Sandbox(named: "policyd")
    let spool = sandbox.path + "/spool"
    let sink = AgentSink(at: sandbox.path + "/none", spool: AuditSpool(of: Self.origin, directory: spool))
    for number in 0..<300 { sink.send(AgentSandbox.event("Key \(number)")) }
    sink.flush()
    #expect(Self.spooled(spool) == (0..<300).map { "Key \($0)" })
    #expect(sink.dropped == 0)
  }

  /// A socket at which somebody listens and nobody answers, as an agent that hangs.
  @Test func anAgentThatDoesNotAnswerIsPassedOver() throws {
    let sandbox = try Sandbox(named: "policyd")
    let listener = try ListeningSocket.listen(at: sandbox.path + "/deaf", mode: 0o666)
    let spool = sandbox.path + "/spool"
    let sink = AgentSink(at: sandbox.path + "/deaf", spool: AuditSpool(of: Self.origin, directory: spool))
    for number in 0..<10 { sink.send(AgentSandbox.event("Key \(number)")) }
    // What the thread of the queue has taken it has written by then.
    sink.flush()
    #expect(Self.spooled(spool) == (0..<10).map { "Key \($0)" })
    extendLifetime(listener)
  }

  @Test func whatIsTooLongForAPacketIsSpooled() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let spool = agent.sandbox.path + "/spool"
    let sink = AgentSink(at: agent.socket, spool: AuditSpool(of: Self.origin, directory: spool), patience: 120)
    let long = String(repeating: "k", count: AgentProtocol.packetBytes)
    for key in ["Before", long, "After"] { sink.send(AgentSandbox.event(key)) }
    sink.flush()
    #expect(Self.spooled(spool) == [long])
    #expect(
      Set(try agent.records("forced.write").compactMap { $0["fields", "key"]?.stringValue }) == ["Before", "After"])
  }

  /// An agent is killed and started again, over and over, while a program sends; what is in the log and what is in the
  /// spool is together all that was sent.
  @Test func nothingIsLostWhileTheAgentComesAndGoes() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let spool = agent.sandbox.path + "/spool"
    let sink = AgentSink(at: agent.socket, spool: AuditSpool(of: Self.origin, directory: spool))
    for round in 0..<6 {
      for number in 0..<40 { sink.send(AgentSandbox.event("Key \(round) \(number)")) }
      if round % 2 == 0 { agent.stop(SIGKILL) } else { try agent.start() }
      sink.flush()
    }
    if agent.processID == 0 { try agent.start() }
    sink.flush()
    let logged = try agent.records("forced.write").compactMap { $0["fields", "key"]?.stringValue }
    let all = Set((0..<6).flatMap { round in (0..<40).map { "Key \(round) \($0)" } })
    #expect(Set(logged).union(Self.spooled(spool)) == all)
    #expect(sink.dropped == 0)
    #expect(agent.policyctl("audit", "verify").exitCode == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to be another user"))
  func anotherUsersEventsCarryThatUser() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let peer = Sandbox.binary("AgentPeer")
    let result = agent.sandbox.execute([
      "setpriv", "--reuid=65533", "--regid=65533", "--clear-groups", peer, "send", agent.socket, "/nonexistent", "3",
    ])
    #expect(result.output == "0\n", "\(result.errors)")
    let records = try agent.records("forced.write")
    #expect(records.map { $0["attested", "uid"].number } == [65533, 65533, 65533])
    let executable = SymbolicLink.resolved(peer)
    #expect(records.map { $0["attested", "executable"].text } == [executable, executable, executable])
  }
}
