import AuditEvents
import AuditLog
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

/// An agent whose disk is full or can't be written, or who lacks descriptors (case A10 of the faults, through the agent).
@Suite struct ShortageTests {
  static let canMount: Bool = {
    guard geteuid() == 0, let sandbox = try? Sandbox(named: "policyd") else { return false }
    let result = sandbox.execute(["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "t", sandbox.work])
    if result.exitCode != 0 { print("SKIPPED: no mount namespace can be made, so no disk of an agent can be filled") }
    return result.exitCode == 0
  }()

  /// An agent in a mount namespace of its own, in which the log has a file system of one megabyte.
  final class Host {
    let agent: AgentSandbox
    private let log: String

    init() throws {
      agent = try AgentSandbox(policy: Host.policy("first"))
      log = agent.root + "/var/log/managed-preferences"
      let script = """
        set -e
        cp -a "$1" "$1.kept"; mount -t tmpfs -o size=1m,mode=0750 t "$1"; cp -a "$1.kept/." "$1"; rm -r "$1.kept"
        exec "$2" --root "$3" --look 100000
        """
      try agent.launch(["unshare", "-m", "sh", "-c", script, "sh", log, AgentSandbox.program, agent.root])
      try #require(agent.waitForStatus() != nil, "\(agent.errors)")
    }

    static func policy(_ value: String) -> String {
      """
      version: 1
      kind: Profile
      id: org.example.lab.shortage
      title: Shortage
      forced:
        org.example.Editor: {Font: \(value)}

      """
    }

    /// Runs a command where the agent is.
    @discardableResult
    func execute(_ words: String...) -> Sandbox.Result {
      agent.sandbox.execute(["nsenter", "-t", "\(agent.processID)", "-m"] + words)
    }

    func policyctl(_ words: String...) -> Sandbox.Result {
      agent.sandbox.execute(
        ["nsenter", "-t", "\(agent.processID)", "-m", Sandbox.binary("policyctl"), "--root", agent.root] + words)
    }

    func fill() {
      execute("sh", "-c", "cat /dev/zero >\"$1/filler\" 2>/dev/null", "sh", log)
    }

    func free() { execute("rm", log + "/filler") }

    func remount(_ mode: String) {
      let result = execute("mount", "-o", "remount,\(mode)", log)
      #expect(result.exitCode == 0, "\(result.errors)")
    }

    func apply(_ value: String) throws -> Int32 {
      try agent.sandbox.write(Self.policy(value), to: agent.root + "/etc/managed-preferences/policies/base.yaml")
      return policyctl("apply").exitCode
    }

    var font: String { policyctl("get", "org.example.Editor", "Font").output }

    func records(_ kind: String) throws -> [PropertyListValue] {
      var place = agent.logPlace
      place.directory = "/proc/\(agent.processID)/root" + log
      return try AgentSandbox.records(in: place).filter { $0["kind"].text == kind }
    }
  }

  @Test("A10: a policy and twenty writes while the disk is full", .enabled(if: canMount))
  func aFullDiskKeepsRoomForTheAdministratorAndCountsTheRest() throws {
    let host = try Host()
    let agent = host.agent
    try agent.deliver([AgentSandbox.event("Before")])
    host.fill()
    // The events of programs are counted, and the agent goes on.
    try agent.deliver((0..<20).map { AgentSandbox.event("Lost \($0)") })
    // What an administrator does lands in the reserve, and takes effect.
    #expect(try host.apply("second") == 0)
    #expect(host.font == "second\n")
    #expect(try host.records("policy.installed").last?["fields", "generation"].number == 2)
    // One or another may still have fitted behind what was there; every one of them is accounted for.
    let fitted = try host.records("forced.write").count - 1
    #expect((0...4).contains(fitted))
    #expect(host.policyctl("audit", "verify").exitCode == 0)
    // With room again the log tells how many are lost, and since when.
    host.free()
    try agent.deliver([AgentSandbox.event("After")])
    let keys = try host.records("forced.write").map { $0["fields", "key"].text }
    #expect(keys.first == "Before" && keys.last == "After" && keys.count == fitted + 2)
    let gap = try #require(try host.records("audit.dropped").last)
    #expect(gap["fields", "count"].number == 20 - fitted)
    #expect(gap["fields", "since"].text.flatMap { PropertyListDate(rfc3339: $0) } != nil)
    #expect(host.policyctl("audit", "verify").exitCode == 0)
    #expect(agent.stop() == 0)
    #expect(agent.errors == "")
  }

  @Test("A10: the folder was made read-only", .enabled(if: canMount))
  func aLogThatCanNotBeWrittenStopsAnInstallationAndLosesNothing() throws {
    let host = try Host()
    let agent = host.agent
    try agent.deliver([AgentSandbox.event("Before")])
    host.remount("ro")
    let connection = try PacketSocket.connect(agent.socket)
    try connection.send(AgentSandbox.event("Waits").jsonLine())
    #expect(agent.waitForStatus { $0.fault != nil } != nil)
    #expect(try host.apply("second") == 74)
    #expect(host.font == "first\n")
    #expect(host.policyctl("status").output.contains("generation  1"))
    #expect(host.policyctl("audit", "verify").exitCode == 0)
    host.remount("rw")
    try agent.waitForAnswer(1, on: connection)
    #expect(try host.apply("second") == 0)
    #expect(host.font == "second\n")
    #expect(try host.records("forced.write").map { $0["fields", "key"].text } == ["Before", "Waits"])
    // What was refused is no part of the history.
    #expect(try host.records("policy.installed").compactMap { $0["fields", "previous"].number } == [0, 1])
    #expect(host.policyctl("audit", "verify").exitCode == 0)
    #expect(agent.stop() == 0)
  }

  /// Fewer descriptors than programs want, and than the log needs beside them.
  @Test func withoutDescriptorsItRefusesAndLives() throws {
    let agent = try AgentSandbox()
    // What the test's process inherited, or another test has open just now, would count against the limit.
    let closing = "for f in /proc/self/fd/*; do n=${f##*/}; [ $n -lt 3 ] || eval \"exec $n>&-\"; done"
    try agent.launch([
      "bash", "-c", "\(closing); ulimit -n 18 && exec \"$1\" --root \"$2\"", "bash", AgentSandbox.program, agent.root,
    ])
    #expect(agent.waitForStatus() != nil)
    var held: [FairnessTests.Held] = []
    // All of them are there, each with something to say, before one is let in.
    try agent.whileItStandsStill {
      for _ in 0..<60 {
        held.append(FairnessTests.Held(try PacketSocket.connect(agent.socket)))
        try held.last?.socket.send(AgentSandbox.event("Held").jsonLine())
      }
    }
    wait(while: agent.isAlive && agent.errors == "")
    #expect(agent.isAlive)
    #expect(
      agent.errors.hasPrefix("policyd: cannot let a program in: ")
        || agent.errors.hasPrefix("policyd: the audit log can't be written: "), "\(agent.errors)")
    // With the others gone it serves as before.
    held = []
    #expect(agent.waitForStatus { $0.fault == nil } != nil)
    try agent.deliver([AgentSandbox.event("After")])
    #expect(agent.stop() == 0)
    #expect(try agent.records("forced.write").contains { $0["fields", "key"].text == "After" })
    #expect(agent.policyctl("audit", "verify").exitCode == 0)
  }
}
