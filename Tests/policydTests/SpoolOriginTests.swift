import CommandSandbox
import Glibc
import LinuxFiles
import PreferencesCore
import PropertyList
import Testing

@testable import AuditEvents
@testable import policyd

/// A home that several hosts or installations share: each agent takes in what is its own, and leaves alone the rest.
@Suite struct SpoolOriginTests {
  static let host = "0123456789abcdef0123456789abcdef"
  static let ours = SpoolOrigin(host: host, root: "")
  static let otherHost = SpoolOrigin(host: "fedcba9876543210fedcba9876543210", root: "")
  static let otherRoot = SpoolOrigin(host: host, root: "/nonexistent/other")

  @Test func filesOfOtherHostsAndInstallationsAreLeftAsTheyAre() throws {
    let home = try SpoolIntakeTests.Home(Self.ours)
    let theirs = SpoolName(stem: Self.otherHost.stem)
    let tried = SpoolName(stem: Self.otherRoot.stem)
    try home.writeEvents(["ours"])
    let foreign = [
      theirs.file: home.lines(["theirs"], of: Self.otherHost),
      // Another host's agent is at it right now.
      theirs.taken: home.lines(["at it"], of: Self.otherHost),
      tried.file: home.lines(["tried"], of: Self.otherRoot),
    ]
    for (file, lines) in foreign { try home.write(lines, to: file, lock: theirs.lock) }
    for count in [1, 0] {
      #expect(home.take() == count)
      #expect(home.intake.left(in: home.spool) == [tried.file, theirs.file, theirs.taken])
    }
    #expect(home.store.keys == ["ours"])
    for (file, lines) in foreign { #expect(try home.read(file) == lines) }
  }

  /// The name of a file is its user's to change, so each line says whose it is.
  @Test func aLineOfAnotherHostInOurFileIsCountedAndKept() throws {
    let home = try SpoolIntakeTests.Home(Self.ours)
    for (number, key) in ["a", "b"].enumerated() {
      let mixed = home.lines([key]) + home.lines(["theirs \(key)"], of: Self.otherHost)
      try home.write(mixed)
      #expect(home.take() == 2)
      #expect(try home.read(home.name.aside(number + 1)) == mixed)
    }
    #expect(home.store.keys == ["a", nil, "b", nil])
    let record = try #require(home.store.records.last)
    #expect(record.kind == .auditDropped)
    #expect(
      PropertyListValue?.some(.dictionary(record.fields)).json
        == #"{"count":1,"reasons":{"origin":1},"user":\#(home.user)}"#)
    #expect(home.names == [home.name.aside(2), home.name.aside(1), home.name.lock])
    #expect(home.intake.left(in: home.spool) == [])
  }

  /// From before spools said whose they are.
  @Test func anOldSpoolComesInAsOfUnknownOrigin() throws {
    let old = SpoolName(stem: SpoolName.old)
    let line = String(decoding: AgentSandbox.event("old").jsonLine(), as: UTF8.self)
    let tried = try SpoolIntakeTests.Home(Self.otherRoot)
    try tried.write(line, to: old.file, lock: old.lock)
    #expect(tried.take() == 0)
    #expect(tried.intake.left(in: tried.spool) == ["events.jsonl"])
    #expect(try tried.read(old.file) == line)

    let home = try SpoolIntakeTests.Home(Self.ours)
    try home.write(line, to: old.file, lock: old.lock)
    try home.writeEvents(["old"])
    #expect(home.take() == 2)
    #expect(
      home.store.records.map(\.attestation) == [
        .spool(owner: home.user), .spool(owner: home.user, isOfUnknownOrigin: true),
      ])
    #expect(home.names == [home.name.lock, "events.lock"])
  }

  @Test func aRootIsOneOriginByWhicheverName() throws {
    let sandbox = try Sandbox(named: "policyd")
    symlink(sandbox.root, sandbox.path + "/link")
    #expect(
      SpoolOrigin(host: Self.host, root: sandbox.path + "/link") == SpoolOrigin(host: Self.host, root: sandbox.root))
    #expect(
      SpoolOrigin(host: Self.host, root: sandbox.root).stem
        != SpoolOrigin(host: Self.host, root: sandbox.home).stem)
    #expect(Self.ours.stem == "events-0123456789abcdef0123456789abcdef")
    #expect(Self.otherRoot.stem == "events-0123456789abcdef0123456789abcdef-ff21bcbd7db349c4")
  }

  static let policy = """
    version: 1
    kind: Profile
    id: org.example.base
    title: Base
    forced:
      org.example.Editor: {Shape: round}
    """

  /// `defaults` of two installations in one home, and an agent of each.
  @Test func twoInstallationsShareAHome() throws {
    let agents = [try AgentSandbox(policy: Self.policy), try AgentSandbox(policy: Self.policy)]
    let home = agents[0].sandbox.home
    let folder = home + "/.local/state/managed-preferences"
    for (number, agent) in agents.enumerated() {
      let refused = agents[0].sandbox.execute(
        [
          Sandbox.binary("defaults"), "--root", agent.root, "write", "org.example.Editor", "Shape", "of \(number)",
        ])
      #expect(refused.exitCode == 77, "\(refused.errors)")
    }
    let names = agents.map(\.spoolName)
    #expect(try Directory.names(in: folder) == (names.map(\.file) + names.map(\.lock)).sorted())
    let before = try WholeFile.read(folder + "/" + names[0].file).bytes
    try agents[1].start(environment: ["HOME": home])
    #expect(try agents[1].waitForRecords("forced.write").count == 1)
    #expect(agents[1].waitForStatus { $0.spoolsLeft == 1 } != nil)
    #expect(try WholeFile.read(folder + "/" + names[0].file).bytes == before)
    #expect(
      agents[1].errors
        == "policyd: left alone in \(folder), since they are not of this host and installation: \(names[0].file)\n")
    // The command does not wait long for an answer.
    var status = ""
    let words = "; leaves alone 1 spool of other hosts or installations\n"
    wait(
      while: {
        status = agents[1].policyctl("status").output
        return !status.contains(words)
      }())
    #expect(status.contains(words), "\(status)")
    agents[1].signal(SIGHUP)
    let beat = try #require(try agents[1].waitForRecords("agent.heartbeat").last)
    #expect(beat["fields", "spoolsLeft"].number == 1)
    #expect(try agents[1].records("forced.write").count == 1)
    #expect(
      agents[1].errors.split(separator: "\n").count == 1, "once for each state of a folder: \(agents[1].errors)")

    try agents[0].start()
    #expect(try agents[0].waitForRecords("forced.write").count == 1)
    try wait(while: Directory.names(in: folder) != names.map(\.lock).sorted())
    #expect(try Directory.names(in: folder) == names.map(\.lock).sorted())
    agents[1].signal(SIGHUP)
    #expect(agents[1].waitForStatus { $0.spoolsLeft == 0 } != nil)
    for agent in agents { #expect(agent.policyctl("audit", "verify").exitCode == 0) }
  }

  /// A home in the network: a program on another host leaves events, and so does one here.
  @Test func twoHostsShareAHome() throws {
    let agent = try AgentSandbox()
    let folder = agent.sandbox.home + "/.local/state/managed-preferences"
    func leave(_ count: Int, as host: String) {
      let peer = [Sandbox.binary("AgentPeer"), "send", "/nonexistent", folder, "\(count)", host, agent.root]
      #expect(agent.sandbox.execute(peer).output == "0\n")
    }
    let theirs = SpoolName(stem: SpoolOrigin(host: Self.otherHost.host, root: agent.root).stem)
    leave(3, as: Self.otherHost.host)
    leave(2, as: HostIdentifier.current())
    let before = try WholeFile.read(folder + "/" + theirs.file).bytes
    try agent.start()
    _ = try agent.waitForRecords("forced.write", count: 2)
    #expect(agent.waitForStatus { $0.spoolsLeft == 1 } != nil)
    #expect(try agent.records("forced.write").map { $0["fields", "key"].text } == ["Peer 0", "Peer 1"])
    #expect(try WholeFile.read(folder + "/" + theirs.file).bytes == before)
    #expect(agent.stop() == 0)
    #expect(try WholeFile.read(folder + "/" + theirs.file).bytes == before)
    #expect(agent.policyctl("audit", "verify").exitCode == 0)
  }
}
