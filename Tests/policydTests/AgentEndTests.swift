import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

/// What `policyctl status` says of an agent that runs, was stopped, was killed, or never ran.
@Suite struct AgentEndTests {
  static func line(_ agent: AgentSandbox) -> String {
    let lines = agent.policyctl("status").output.split(separator: "\n")
    return lines.first { $0.hasPrefix("agent ") }.map { String($0.dropFirst("agent       ".count)) } ?? ""
  }

  /// A time that is told in seconds becomes N.
  static func plain(_ line: String) -> String {
    line.split(separator: " ", omittingEmptySubsequences: false).map { Int($0) == nil ? String($0) : "N" }
      .joined(separator: " ").replacing("just now", with: "N s ago").replacing("N min ago", with: "N s ago")
  }

  /// What status says at last of an agent that runs: the command does not wait long for its answer.
  static func waitFor(_ expected: String, _ agent: AgentSandbox) -> String {
    var found = ""
    wait(
      while: {
        found = plain(line(agent))
        return found != expected
      }())
    return found
  }

  /// Whether the same is so of its JSON form.
  static func waitForRunning(_ agent: AgentSandbox) throws -> Bool {
    var isSo = false
    try wait(
      while: {
        isSo = try json(agent) == ("running", "null", true)
        return !isSo
      }())
    return isSo
  }

  static func json(_ agent: AgentSandbox) throws -> (agent: String?, end: String?, hasHeartbeat: Bool) {
    let text = agent.policyctl("status", "--format", "json").output
    // null is none of the values that property lists have.
    let value = try PropertyListCoding.decode(Array(text.replacing(": null", with: ": \"null\"").utf8), as: .json)
    return (value["agent"].text, value["agentEnd"].text, value["heartbeat"].text != "null")
  }

  @Test func statusTellsWhyNoAgentIsThere() throws {
    let agent = try AgentSandbox()
    #expect(Self.line(agent) == "none (optional); the log tells of none")
    #expect(try Self.json(agent) == ("not running", "never-ran", false))

    try agent.start()
    let running = "running, last heartbeat N s ago"
    #expect(Self.waitFor(running, agent) == running)
    #expect(try Self.waitForRunning(agent))

    #expect(agent.stop() == 0)
    #expect(Self.plain(Self.line(agent)) == "stopped N s ago (optional)")
    #expect(try Self.json(agent) == ("not running", "stopped", true))

    // Its socket stays where it was; nobody listens there.
    try agent.start()
    #expect(agent.stop(SIGKILL) == -SIGKILL)
    #expect(
      Self.plain(Self.line(agent)) == "killed, or crashed: it ended without a word; last heard of N s ago")
    #expect(try Self.json(agent) == ("not running", "killed", true))
    #expect(agent.policyctl("status").exitCode == 0)

    // Started again, and killed after a heartbeat.
    try agent.start("--heartbeat", "1")
    _ = try agent.waitForRecords("agent.heartbeat")
    #expect(try Self.waitForRunning(agent))
    agent.stop(SIGKILL)
    #expect(try Self.json(agent) == ("not running", "killed", true))

    #expect(agent.policyctl("uninstall").exitCode == 0)
    #expect(agent.policyctl("init", "--host", "lab-a-03").exitCode == 0)
    #expect(Self.line(agent) == "none has run since the uninstallation (optional)")
    #expect(try Self.json(agent) == ("not running", "uninstalled", false))
  }

  /// Stopped in its tracks: a process is there, and does not answer.
  @Test func anAgentThatHangsIsNotCalledGone() throws {
    let agent = try AgentSandbox()
    try agent.start()
    var line = ""
    var isSaid = false
    try agent.whileItStandsStill {
      line = Self.plain(Self.line(agent))
      isSaid = try Self.json(agent) == ("not answering", "null", true)
    }
    #expect(
      line == "not answering: its socket is there, and nobody answers in time; by the log, last heard of N s ago")
    #expect(isSaid)
    #expect(try Self.waitForRunning(agent))
  }

  @Test func aSignOfLifeOfAnEarlierBoot() throws {
    let agent = try AgentSandbox()
    try LateEdgeTests.replaceLog(
      of: agent,
      [
        (
          .agentHeartbeat, WallClock.unixSeconds() - 7200,
          ["generation": .integer(1), "boot": .string("00000000-0000-0000-0000-000000000000")]
        )
      ])
    #expect(
      Self.line(agent)
        == "not running since this boot: it ended without a word, or the machine did; last heard of 2 h ago")
    #expect(try Self.json(agent) == ("not running", "earlier-boot", true))
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to be another user"))
  func whoMayNotReadTheLogIsToldSo() throws {
    let agent = try AgentSandbox()
    try agent.start()
    agent.stop(SIGKILL)
    let status = agent.sandbox.execute(
      UnprivilegedTests.words([Sandbox.binary("policyctl"), "--root", agent.root, "status"]))
    #expect(
      status.output.split(separator: "\n").contains(
        "agent       not running (optional); the log, which may say why, can't be read"), "\(status.output)")
  }
}
