import AuditEvents
import AuditLog
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

/// A user without root's power can't change, truncate or forge a record.
@Suite(.enabled(if: geteuid() == 0, "needs root, to be another user")) struct UnprivilegedTests {
  static let user: UInt32 = 65533

  static func words(_ words: [String]) -> [String] {
    ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + words
  }

  /// Every way in which a file can be changed, tried on each file of the log and its folders. Prints what could be done.
  static let attempts = """
    own=$1; shift
    try() { sh -c "$1" sh "$2" "$own" 2>/dev/null && echo "$1: $2"; }
    for file in "$@"; do
      for way in ': >>"$1"' ': >"$1"' 'cat "$1"' 'truncate -s 0 "$1"' 'truncate -s +1 "$1"' 'rm "$1"' 'mv "$1" "$1.moved"' \\
        'mv "$1" "$2/moved"' 'cp "$2/mine" "$1"' 'mv "$2/mine" "$1"' 'chmod 666 "$1"' 'chown 65533 "$1"' 'touch "$1"' \\
        'ln "$1" "$2/hard" && : >>"$2/hard"' 'ln -s "$1" "$2/soft$$" && : >>"$2/soft$$"' 'ln -sf "$2/mine" "$1"'; do
        try "$way" "$file"
      done
    done
    true
    """

  @Test func noFileOfTheLogCanBeChanged() throws {
    let agent = try AgentSandbox()
    try agent.start()
    try agent.deliver([AgentSandbox.event("Key")])
    let own = agent.sandbox.path + "/own"
    try Directory.create(own)
    try AtomicReplacement.write(Array("{}".utf8), to: own + "/mine", mode: 0o666)
    for path in [own, own + "/mine"] { chown(path, Self.user, Self.user) }
    let log = agent.root + "/var/log/managed-preferences"
    let state = agent.root + "/var/lib/managed-preferences"
    var files = try Directory.names(in: log).map { log + "/" + $0 }
    files += [log + "/audit-000000000002.jsonl", log + "/.new", log + "/anchor", state + "/audit-anchor"]
    let before = try agent.sandbox.contents(of: agent.root + "/var")
    let result = agent.sandbox.execute(Self.words(["sh", "-c", Self.attempts, "sh", own] + files))
    #expect(result.exitCode == 0)
    #expect(agent.sandbox.plain(result.output) == "")
    // The socket is for everybody to write to, and for nobody to take away.
    let socket = agent.sandbox.execute(
      Self.words([
        "sh", "-c", "rm -f \"$1\" 2>/dev/null || mv \"$1\" \"$1.x\" 2>/dev/null || echo no", "sh", agent.socket,
      ]))
    #expect(socket.output == "no\n")
    #expect(try agent.sandbox.contents(of: agent.root + "/var") == before)
    try agent.deliver([AgentSandbox.event("After")])
    #expect(agent.policyctl("audit", "verify").exitCode == 0)
  }

  @Test func whateverIsSentStandsUnderTheTrueUserOrIsRefused() throws {
    let agent = try AgentSandbox()
    try agent.start()
    // By the time of its sign of life, the thread that watches has opened what it watches.
    agent.signal(SIGHUP)
    _ = try agent.waitForRecords("agent.heartbeat")
    let descriptors = "/proc/\(agent.processID)/fd"
    let before = try Directory.names(in: descriptors).count
    let peer = Sandbox.binary("AgentPeer")
    let result = agent.sandbox.execute(Self.words([peer, "forge", agent.socket]))
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output == "78\n")
    try agent.deliver([AgentSandbox.event("Ours")])
    // What was passed is not kept open, and those who are gone are not either.
    var open = Int.max
    try wait(
      while: {
        open = try Directory.names(in: descriptors).count
        return open > before
      }())
    #expect(open <= before)
    #expect(agent.stop() == 0)
    let records = try agent.records().filter { $0["attested", "uid"].number == Int(Self.user) }
    #expect(Set(records.compactMap { $0["kind"].text }) == ["forced.write"])
    #expect(Set(records.map { $0["attested", "executable"].text }) == [SymbolicLink.resolved(peer)])
    let claimed = try #require(records.first { $0["fields", "key"].text == "Claimed" })
    #expect(claimed["claimed", "uid"].number == 0)
    #expect(claimed["claimed", "executable"].text == "/usr/bin/policyctl")
    let kinds = try agent.records().compactMap { $0["kind"].text }.filter { $0 != "forced.write" }
    #expect(
      Set(kinds) == [
        "audit.began", "host.enrolled", "agent.started", "agent.heartbeat", "audit.dropped", "agent.stopped",
      ])
    for kind in ["audit.began", "host.enrolled", "agent.started", "agent.heartbeat", "agent.stopped"] {
      #expect(kinds.filter { $0 == kind }.count == 1)
    }
    let dropped = try agent.records("audit.dropped")
    #expect(Set(dropped.map { $0["fields", "user"].number }) == [Int(Self.user)])
    func refused(_ reason: String) -> Int {
      dropped.map { $0["fields", "reasons", reason].number ?? 0 }.reduce(0, +)
    }
    #expect(refused("foreign") == 24, "\(dropped)")
    #expect(refused("oversized") == 1)
    #expect(refused("malformed") == 2)
    #expect(agent.policyctl("audit", "verify").exitCode == 0)
    #expect(agent.errors == "")
  }
}
