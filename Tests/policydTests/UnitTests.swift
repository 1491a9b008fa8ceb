import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

/// The units in `Documentation/systemd`, held against systemd's own judgement.
@Suite(.enabled(if: SystemdAnalysis.isAvailable)) struct UnitTests {
  static let folder =
    FilePath.parent(of: FilePath.parent(of: FilePath.parent(of: #filePath))) + "/Documentation/systemd"

  /// The units as they would be installed, with commands that are there.
  static func copied(_ sandbox: Sandbox) throws -> [String] {
    var paths: [String] = []
    for name in try Directory.names(in: folder) where !name.hasSuffix(".conf") {
      let lines = try sandbox.read(folder + "/" + name).split(separator: "\n", omittingEmptySubsequences: false).map {
        $0.hasPrefix("ExecStart=") ? "ExecStart=/bin/true" : String($0)
      }
      try sandbox.write(lines.joined(separator: "\n"), to: name)
      paths.append("./" + name)
    }
    return paths.sorted()
  }

  @Test func systemdUnderstandsTheUnits() throws {
    let sandbox = try Sandbox(named: "policyd")
    let paths = try Self.copied(sandbox)
    #expect(paths.count == 4)
    let result = sandbox.execute(["systemd-analyze", "verify", "--man=no"] + paths)
    #expect(result.exitCode == 0)
    #expect(result.errors == "")
  }

  /// 0 is the least exposure, 10 the most.
  @Test func theServiceIsLittleExposed() throws {
    let sandbox = try Sandbox(named: "policyd")
    _ = try Self.copied(sandbox)
    let result = sandbox.execute([
      "systemd-analyze", "security", "--offline=true", "--threshold=35", "--no-pager", "./policyd.service",
    ])
    #expect(result.exitCode == 0, "\(result.output)")
  }

  /// What the unit lets the agent call, held against what it calls in a life with events, a spool and an end.
  @Test(.enabled(if: SystemCalls.canBeFollowed)) func theServiceMayCallWhatItCalls() throws {
    let agent = try AgentSandbox()
    let spool = agent.sandbox.home + "/.local/state/managed-preferences"
    let peer = Sandbox.binary("AgentPeer")
    #expect(
      agent.sandbox.execute([peer, "send", "/nonexistent", spool, "3", agent.origin.host, agent.root]).output == "0\n")
    let notes = agent.sandbox.path + "/notes"
    try agent.launch(["strace", "-D", "-f", "-q", "-s0", "-o", notes, AgentSandbox.program, "--root", agent.root])
    #expect(try agent.waitForRecords("forced.write", count: 3).count == 3)
    try agent.deliver([AgentSandbox.event("Key")])
    #expect(agent.stop() == 0)
    var called: Set<Substring> = []
    for line in try SystemCalls.notes(in: notes).split(separator: "\n") {
      // In front of the call is the thread's number, in a column.
      let text = line.drop { $0.isNumber }.drop { $0 == " " }
      guard let end = text.firstIndex(of: "(") else { continue }
      let name = text[..<end]
      if name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) { called.insert(name) }
    }
    #expect(called.count > 30)
    let unit = try agent.sandbox.read(Self.folder + "/policyd.service")
    let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("SystemCallFilter=") })
    var allowed: Set<Substring> = []
    var waiting = line.dropFirst("SystemCallFilter=".count).split(separator: " ")
    while let name = waiting.popLast() {
      guard allowed.insert(name).inserted, name.hasPrefix("@") else { continue }
      let listed = agent.sandbox.execute(["systemd-analyze", "syscall-filter", String(name)])
      for line in listed.output.split(separator: "\n").dropFirst() {
        let word = line.drop { $0 == " " }
        if !word.hasPrefix("#") { waiting.append(word) }
      }
    }
    #expect(called.subtracting(allowed).sorted() == [])
  }
}

enum SystemdAnalysis {
  static let isAvailable: Bool = {
    guard let sandbox = try? Sandbox(named: "policyd") else { return false }
    let can = sandbox.execute(["systemd-analyze", "--version"]).exitCode == 0
    if !can { print("SKIPPED: no systemd-analyze here, so the units are not held against it") }
    return can
  }()
}
