import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// A contained program that tries to get out, run by an ordinary user. Nothing outside of its container may answer, none
/// of the words that are planted outside may come out of it, and nothing of the user's may have changed.
@Suite(.enabled(if: ContainedRuns.isAvailable && ContainedRuns.has("cc"))) struct RunEscapeTests {
  static let program = DocumentationTests.packageRoot + "/Tests/policyctlTests/Programs/escape.c"

  /// Preferences outside, each with a word that nobody inside may see.
  private static func plant(_ sandbox: RunSandbox) throws -> [String] {
    let files = [
      sandbox.configuration + "/org.example.Other.plist", sandbox.configuration + "/ByHost/org.example.Other.x.plist",
      sandbox.containerHome("org.example.Other") + "/.config/org.example.Other.plist",
      sandbox.group("group.org.example.other") + "/group.org.example.other.plist", sandbox.work + "/secret",
    ]
    for file in files { try sandbox.write("PLANTED \(file)\n", to: file) }
    return files
  }

  private static func compile(_ sandbox: RunSandbox) throws -> String {
    let program = sandbox.work + "/escape"
    let result = sandbox.sandbox.execute(["cc", "-O1", "-w", "-o", program, Self.program])
    try #require(result.exitCode == 0, "\(result.errors)")
    return program
  }

  @Test(arguments: [[], ["--network"]]) func nothingOutsideAnswers(_ flags: [String]) throws {
    let sandbox = try RunSandbox()
    let secrets = try Self.plant(sandbox)
    let program = try Self.compile(sandbox)
    try #require(sandbox.run(["true"]).exitCode == 0)
    let before = try sandbox.snapshot(without: sandbox.ownPlaces)
    // Sockets outside: one with a path, one without; the caller holds a folder open, and knows a secret.
    let sockets = """
      import os, socket, sys, time
      for name in sys.argv[1:]:
        one = socket.socket(socket.AF_UNIX); one.bind(name.replace("@", "\\0")); one.listen(); globals()[name] = one
      open(sys.argv[1] + ".ready", "w"); time.sleep(1000)
      """
    try sandbox.write(sockets, to: sandbox.work + "/sockets.py")
    let result = sandbox.outside(
      """
      cd '\(sandbox.work)'
      python3 sockets.py '\(sandbox.work)/socket' '@\(sandbox.work)/abstract' & sockets=$!
      wait_for socket.ready
      exec 7<"$HOME" 9<>'\(secrets[0])'
      $RUN \(flags.joined(separator: " ")) -- '\(program)' "$HOME" \
        /run/managed-preferences/root/var/lib/managed-preferences $sockets \
        \(flags.isEmpty ? "'\(sandbox.work)/abstract'" : "''") '\(sandbox.work)/socket' \(secrets.map { "'\($0)'" }.joined(separator: " "))
      code=$?; kill $sockets; exit $code
      """, environment: ["SECRET": "PLANTED in the environment"])
    let lines = result.output.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("REACHED") } == [])
    #expect(!result.output.contains("PLANTED"))
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(lines.last?.hasPrefix("tried ") == true)
    #expect(lines.filter { $0.hasPrefix("refused") }.count > 150)
    let after = try sandbox.snapshot(without: sandbox.ownPlaces)
    #expect(Set(after.keys).symmetricDifference(before.keys) == [])
    for (path, line) in after { #expect(before[path] == line) }
  }

  /// The same program outside reaches what it looks for: that it is refused inside means something.
  @Test func outsideTheSameProgramReachesThem() throws {
    let sandbox = try RunSandbox()
    let secrets = try Self.plant(sandbox)
    let program = try Self.compile(sandbox)
    let result = sandbox.sandbox.execute(
      RunSandbox.asUser + [program, sandbox.home, sandbox.work + "/forced", "1", "none"] + secrets)
    for secret in secrets { #expect(result.output.contains("PLANTED \(secret)\n")) }
    for way in ["read", "symbolic link", "hard link", "upwards"] {
      #expect(result.output.contains("\nREACHED \(way) ") || result.output.hasPrefix("REACHED \(way) "), "\(way)")
    }
  }

  @Test func thereIsNoContainerInAContainer() throws {
    let sandbox = try RunSandbox()
    _ = try Self.plant(sandbox)
    guard sandbox.run([Sandbox.binary, "--version"]).output == "policyctl 0.1\n" else {
      print("SKIPPED: the toolchain's libraries are where a contained program does not see them")
      return
    }
    for app in [RunSandbox.application, "org.example.Other"] {
      let result = sandbox.run([Sandbox.binary, "run", "--app", app, "--", "cat", "/etc/passwd"])
      #expect(result.exitCode == 77)
      #expect(
        result.errors
          == "policyctl: this is already the container of org.example.Editor, and there is none within one\n")
      #expect(result.output == "")
    }
  }

  /// Group files are written by several applications: a link in them leads nobody's program anywhere.
  @Test func aLinkInAGroupLeadsNowhere() throws {
    let sandbox = try RunSandbox()
    let secrets = try Self.plant(sandbox)
    let group = "/run/managed-preferences/groups/group.org.example.suite"
    #expect(sandbox.shell("ln -s '\(secrets[0])' \(group)/link", app: "org.example.Viewer").exitCode == 0)
    let result = sandbox.run(["cat", group + "/link"])
    #expect(result.exitCode == 1)
    #expect(result.output == "")
  }

  /// Of two applications neither sees the other's container, whatever it says that it is.
  @Test func oneContainerDoesNotSeeAnother() throws {
    let sandbox = try RunSandbox()
    #expect(sandbox.shell("echo PLANTED > ~/file", app: "org.example.Viewer").exitCode == 0)
    let result = sandbox.shell(
      "cat '\(sandbox.containerHome("org.example.Viewer"))/file'; find / -name file -user \(RunSandbox.userID) 2>/dev/null"
    )
    #expect(result.output == "")
  }
}
