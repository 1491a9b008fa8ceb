import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

/// A socket that a service manager opened and hands over.
@Suite struct ActivationTests {
  /// Starts the agent as systemd does: with a descriptor 3, and the number of its own process.
  func activate(_ agent: AgentSandbox, _ descriptor: Int32) throws {
    try agent.launch(
      [
        "/bin/sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", "sh", AgentSandbox.program, "--root", agent.root,
      ], handing: descriptor)
  }

  @Test func whoConnectedBeforeTheAgentRanIsServed() throws {
    let agent = try AgentSandbox()
    try Directory.createAll(FilePath.parent(of: agent.socket))
    let listener = try ListeningSocket.listen(at: agent.socket, mode: 0o666)
    // Somebody is there before the agent is.
    let early = try PacketSocket.connect(agent.socket)
    try early.send(AgentSandbox.event("Early").jsonLine())
    // Ours closes at exec; the copy is the one that goes on.
    let copy = dup(listener.descriptor)
    defer { close(copy) }
    try activate(agent, copy)
    try agent.waitForAnswer(1, on: early)
    #expect(try agent.records("forced.write").map { $0["fields", "key"].text } == ["Early"])
    // The socket is the manager's: it outlives the agent, and who connects meanwhile waits.
    #expect(agent.stop() == 0)
    let late = try PacketSocket.connect(agent.socket)
    try late.send(AgentSandbox.event("Late").jsonLine())
    try activate(agent, copy)
    try agent.waitForAnswer(1, on: late)
    #expect(try agent.records("forced.write").map { $0["fields", "key"].text } == ["Early", "Late"])
    #expect(agent.errors == "")
  }

  @Test func whatIsNoSuchSocketIsRefused() throws {
    let agent = try AgentSandbox()
    let file = open("/dev/null", O_RDONLY)
    defer { close(file) }
    try activate(agent, file)
    #expect(agent.waitForEnd() == 64)
    #expect(
      agent.errors == """
        policyd: what was handed over is not one listening socket of SOCK_SEQPACKET
        Next: systemctl cat policyd.socket

        """)
  }

  /// The variables of another process, as a child inherits them, mean nothing.
  @Test func whatWasHandedToAnotherProcessIsLeftAlone() throws {
    let agent = try AgentSandbox()
    try agent.start(environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1"])
    try agent.deliver([AgentSandbox.event("Key")])
    #expect(agent.errors == "")
  }
}
