import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
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
    let agent = try AgentSandbox()
    try agent.start()
    let holders = try Holders(users: 100_000..<100_020, of: agent.socket)
    defer { extendLifetime(holders) }
    #expect(AgentStatus.ask(at: agent.socket, patience: 30) != nil)
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
    let refused = try agent.records("audit.dropped").map { $0["fields", "reasons", "connections"]?.integerValue ?? 0 }
    #expect(refused.reduce(0, +) >= 20 * 32 - 480)
  }

  /// Processes of many users, each of which holds 32 connections and keeps asking on them what is refused.
  private final class Holders {
    private var children: [(process: pid_t, output: Int32)] = []

    init(users: Range<UInt32>, of path: String) throws {
      for user in users {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        let line = ["setpriv", "--reuid=\(user)", "--clear-groups", Sandbox.binary("AgentPeer"), "hold", path]
        var words = line.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        let error = posix_spawnp(&child, "setpriv", &actions, nil, &words, environ)
        close(ends[1])
        children.append((child, ends[0]))
        try #require(error == 0)
      }
      // Each says when it holds them.
      for child in children {
        var byte: UInt8 = 0
        #expect(read(child.output, &byte, 1) == 1)
      }
    }

    func stop() {
      for child in children {
        kill(child.process, SIGKILL)
        waitpid(child.process, nil, 0)
        close(child.output)
      }
      children = []
    }

    deinit { stop() }
  }
}
