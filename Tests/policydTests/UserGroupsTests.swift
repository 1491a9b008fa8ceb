import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import TestPrograms
import Testing

@testable import policyd

/// Many users can be one person, who then takes no more than one could.
@Suite struct UserGroupsTests {
  private static func connection(
    _ user: UInt32, _ descriptor: Int32, heard: Moment, waits: Bool = false
  ) -> UserGroups.Connection {
    UserGroups.Connection(user: user, descriptor: descriptor, lastHeard: heard, isWaiting: waits)
  }

  @Test func whoHoldsTheMostLosesTheLongestSilent() throws {
    let sandbox = try Sandbox(named: "policyd")
    let path = sandbox.path + "/subuid"
    let connections = [
      Self.connection(1000, 1, heard: 1), Self.connection(1000, 2, heard: 2),
      Self.connection(100_000, 3, heard: 5), Self.connection(100_001, 4, heard: 3),
      Self.connection(165_535, 5, heard: 2, waits: true), Self.connection(165_536, 6, heard: 0),
    ]
    var groups = UserGroups(path: path)
    #expect(groups.dispensable(of: connections) == connections[0], "nobody has ids of an account")
    try AtomicReplacement.write(Array("# none\ntrial:100000:65536\n".utf8), to: path, mode: 0o644)
    #expect(groups.dispensable(of: connections) == connections[3])
    try AtomicReplacement.write(Array("trial:100000:65537\n".utf8), to: path, mode: 0o644)
    #expect(groups.dispensable(of: connections) == connections[5], "the file is read again")
    #expect(groups.dispensable(of: [connections[4]]) == nil)
  }

  @Test func whatIsNoLineIsPassedOver() {
    let text = "trial:100000:65536\n\ntrial:x:1\n:1:0\nodd:4294967295:9\nodd:1:-1\nlong:1:2:3\n"
    let ranges = UserGroups.ranges(in: Array(text.utf8))
    #expect(ranges.map { "\($0.name) \($0.ids)" } == ["trial 100000...165535", "odd 4294967295...4294967295"])
  }

  /// Twenty users hold all that they may; root and one more user are served all the same.
  @Test(.enabled(if: geteuid() == 0, "needs root, to be many users"))
  func nobodyIsKeptOutByWhoHoldsAll() throws {
    // Where processes begin so slowly that the first connections are closed for their silence before the last are opened,
    // there is room for everybody, and nothing is shown: then once more.
    for attempt in 1...10 {
      let displaced = try serveBesideHolders()
      if displaced >= 20 * 32 - 480 { return }
      #expect(attempt < 10, "\(displaced) connections were refused")
    }
  }

  /// - Returns: how many connections were refused or closed for want of room.
  private func serveBesideHolders() throws -> Int {
    let agent = try AgentSandbox()
    try agent.start()
    let holders = try Holders(users: 100_000..<100_020, of: agent.socket)
    defer { extendLifetime(holders) }
    #expect(agent.waitForStatus() != nil)
    try agent.deliver([AgentSandbox.event("Ours")])
    let sent = agent.sandbox.execute(
      [
        "setpriv", "--reuid=65533", "--clear-groups", Sandbox.binary("AgentPeer"), "send", agent.socket, "/nowhere",
        "1",
      ])
    #expect(sent.output == "0\n", "\(sent.errors)")
    holders.stop()
    #expect(agent.stop() == 0)
    #expect(try agent.records("forced.write").compactMap { $0["attested", "uid"].number }.sorted() == [0, 65533])
    return try agent.records("audit.dropped").map { $0["fields", "reasons", "connections"]?.integerValue ?? 0 }
      .reduce(0, +)
  }

  /// Processes of many users, each of which holds 32 connections and keeps asking on them what is refused.
  private final class Holders {
    private var programs: [StartedProgram] = []

    init(users: Range<UInt32>, of path: String) throws {
      for user in users {
        let words = ["setpriv", "--reuid=\(user)", "--clear-groups", Sandbox.binary("AgentPeer"), "hold", path]
        programs.append(try StartedProgram(words, errors: .read))
      }
      // Each says when it holds them.
      for program in programs { try #require(program.line() != nil) }
    }

    /// Letting them go kills them.
    func stop() { programs = [] }
  }
}
