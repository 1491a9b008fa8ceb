import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import TestPrograms
import Testing

/// What one user does is counted against that user alone.
@Suite struct FairnessTests {
  @Test func moreThanAShareIsRefusedAndCounted() throws {
    let agent = try AgentSandbox()
    try agent.start()
    // Ever new keys, so that nothing can be gathered.
    try agent.deliver((0..<2000).map { AgentSandbox.event("Key \($0)") })
    #expect(agent.stop() == 0)
    let written = try agent.records("forced.write").count
    let refused = try agent.records("audit.dropped")
    #expect(written >= 500)
    #expect(written < 2000)
    #expect(
      refused.map { $0["fields", "reasons", "rate"]?.integerValue ?? 0 }.reduce(0, +) == 2000 - written)
  }

  @Test func connectionsBeyondAShareAreClosedAtOnce() throws {
    let agent = try AgentSandbox()
    try agent.start()
    // By its answer, those that asked whether the agent serves are gone.
    try agent.deliver([AgentSandbox.event("Key")])
    var held: [Held] = []
    try agent.whileItStandsStill {
      for number in 0..<100 {
        let connection = try PacketSocket.connect(agent.socket)
        try connection.send(AgentSandbox.event("Held \(number)").jsonLine())
        held.append(Held(connection))
      }
    }
    var closed = 0
    for connection in held where !connection.isAnswered() { closed += 1 }
    #expect(closed == 68)
    held = []
    // With the others gone there is room again.
    #expect(agent.waitForStatus() != nil)
    try agent.deliver([AgentSandbox.event("Key")])
    #expect(agent.stop() == 0)
    let reasons = try agent.records("audit.dropped").map { $0["fields", "reasons", "connections"]?.integerValue ?? 0 }
    #expect(reasons.reduce(0, +) >= 68)
  }

  final class Held {
    let socket: PacketSocket
    init(_ socket: consuming PacketSocket) { self.socket = socket }

    /// Whether what was sent over it was answered, also where it was closed later for having nothing to say.
    func isAnswered() -> Bool {
      guard socket.wait(seconds: 120) else { return false }
      var bytes = [UInt8](repeating: 0, count: 64)
      return bytes.withUnsafeMutableBytes { socket.receive(into: $0) } != .end
    }
  }

  /// Another user floods, with connections and with packets, reads no answer, and closes nothing; each of our events is
  /// answered all the same, and none of ours is refused.
  @Test(.enabled(if: geteuid() == 0, "needs root, to be two users"))
  func aFloodOfOneUserTakesNothingFromAnother() throws {
    let agent = try AgentSandbox()
    try agent.start()
    let flood = try Flood(of: 65533, at: agent.socket)
    #expect(agent.waitForStatus { $0.refused >= 1000 } != nil)
    for number in 0..<100 { try agent.deliver([AgentSandbox.event("Ours \(number)")]) }
    // And a hundred at once: they are read in four of our turns, between which come four of theirs.
    try agent.deliverAtOnce((0..<100).map { AgentSandbox.event("At once \($0)") })
    flood.stop()
    #expect(agent.stop() == 0)
    let records = try agent.records("forced.write")
    let ours = records.filter { $0["attested", "uid"].number == 0 }
    #expect(
      Set(ours.compactMap { $0["fields", "key"]?.stringValue })
        == Set((0..<100).flatMap { ["Ours \($0)", "At once \($0)"] }))
    let numbers = ours.filter { $0["fields", "key"].text?.hasPrefix("At once") == true }.compactMap { $0["seq"].number }
    let between = (numbers.max() ?? 0) - (numbers.min() ?? 0) - 99
    #expect((0...5 * 32).contains(between), "\(between) records of others came between ours")
    let theirs = records.filter { $0["attested", "uid"].number == 65533 }
    #expect(!theirs.isEmpty)
    let refused = try agent.records("audit.dropped")
    #expect(Set(refused.compactMap { $0["fields", "user"]?.integerValue }) == [65533])
    #expect(agent.policyctl("audit", "verify").exitCode == 0)
  }

  /// Processes of another user that send as much as they can.
  final class Flood {
    private var programs: [StartedProgram] = []

    init(of user: UInt32, at path: String) throws {
      let words = ["setpriv", "--reuid=\(user)", "--clear-groups", Sandbox.binary("AgentPeer"), "flood", path]
      for _ in 0..<3 { programs.append(try StartedProgram(words)) }
    }

    /// Letting them go kills them.
    func stop() { programs = [] }
  }
}
