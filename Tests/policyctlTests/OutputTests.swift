import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// Files that the user names for output: only regular files are replaced.
@Suite struct OutputTests {
  @Test func aPipeIsWrittenIntoAndStays() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.execute([
      "/bin/sh", "-c",
      "mkfifo p; cat p >got & '\(Sandbox.binary)' --root '\(sandbox.root)' compile -o p; echo $?; wait; test -p p && echo pipe",
    ])
    #expect(result.output == "0\npipe\n", "\(result.errors)")
    #expect(result.errors.contains("Compiled bundle "))
    #expect(sandbox.run("install", "got").exitCode == 0)
  }

  /// One rule for every verb that writes where `-o` says.
  @Test(arguments: [["compile"], ["audit", "export"], ["report"], ["report", "--format", "json"]])
  func everyVerbWritesIntoAPipeAndADevice(_ words: [String]) throws {
    let sandbox = try Sandbox(applied: true)
    let command = "'\(Sandbox.binary)' --root '\(sandbox.root)' \(words.joined(separator: " ")) -o"
    let device = sandbox.execute(["/bin/sh", "-c", "\(command) /dev/null"])
    #expect(device.exitCode == 0, "\(device.errors)")
    #expect(device.output == "")
    let pipe = sandbox.execute([
      "/bin/sh", "-c", "mkfifo p; cat p >got & \(command) p; echo $?; wait; test -s got && test -p p && echo pipe",
    ])
    #expect(pipe.output == "0\npipe\n", "\(pipe.errors)")
  }

  /// What somebody typed, and what a file or folder is called, comes back in messages without effect on a terminal.
  @Test(arguments: [
    "enroll --host $'\\e[2Jx'", "get $'\\e[2J/x' k", "get org.example.Editor $'\\e[2J'", "install $'\\e[2J'",
    "apply $'\\e[2J'",
    "check $'\\e[2J'", "key trust $'\\e[2J'", "$'\\e[2J'", "get --$'\\e[2J' k", "report --user $'\\e[2J'",
    "rollback $'\\e[2J'",
    "key generate -o $'\\e[2J'", "compile -o $'\\e[2J'", "run --app $'\\e[2J/x' -- true",
  ])
  func nothingTypedSteersTheTerminal(_ line: String) throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write("kind: Profile\nid: \"a\nforced: 3", to: "\u{1b}[2J/\u{1b}[2J.yaml")
    let result = sandbox.execute([
      "/bin/bash", "-c", "'\(Sandbox.binary)' --root '\(sandbox.root)' \(line)",
    ])
    #expect(!(result.output + result.errors).contains("\u{1b}"))
    #expect(result.errors + result.output != "", "\(line)")
  }

  /// What was done stands, though nobody could be told on standard output: the error says so, and what.
  @Test(arguments: [
    ("apply", "Installed generation 1 for lab-a-03"), ("apply --format json", "Installed generation 1 for lab-a-03"),
    ("enroll --host lab-a-04", "Enrolled as lab-a-04, before as lab-a-03."),
    ("key generate --local", "and trusted it as local"), ("key generate -o k", "k is secret, k.pub is for the hosts."),
    ("compile -o b", "Compiled bundle"), ("refresh --install-timer", "managed-preferences-refresh.timer"),
    ("report -o r", "r"), ("uninstall", "No key is forced any more."),
    ("audit erase --user root --reason r --yes", "Erased the personal parts of"),
  ])
  func whatWasDoneIsToldWhereStandardOutputIsFull(_ line: String, _ done: String) throws {
    let sandbox = try Sandbox()
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    let policies = sandbox.root + "/etc/managed-preferences/policies"
    try Directory.rename(policies + "/example.yaml.sample", to: policies + "/example.yaml")
    let result = sandbox.execute([
      "/bin/sh", "-c", "'\(Sandbox.binary)' --root '\(sandbox.root)' \(line) >/dev/full",
    ])
    #expect(result.exitCode == 74)
    let lines = result.errors.split(separator: "\n")
    let first =
      "policyctl: cannot write to standard output: No space left on device; all the same, this was done:"
    #expect(lines.contains { $0 == first }, "\(result.errors)")
    #expect(lines.contains { $0.hasPrefix("policyctl: ") && $0 != first && $0.contains(done) }, "\(result.errors)")
  }

  @Test func initIsToldWhereStandardOutputIsFull() throws {
    let sandbox = try Sandbox()
    let result = sandbox.execute([
      "/bin/sh", "-c", "'\(Sandbox.binary)' --root '\(sandbox.root)' init --host lab-a-03 >/dev/full",
    ])
    #expect(result.exitCode == 74)
    #expect(
      sandbox.plain(result.errors).hasPrefix(
        "policyctl: cannot write to standard output: No space left on device; all the same, this was done:\n"
          + "policyctl: Created SANDBOX/root/etc/managed-preferences and an empty generation 0.\n"
          + "policyctl: Enrolled as lab-a-03.\n"), "\(result.errors)")
  }

  @Test func standardOutputTakesABundle() throws {
    let sandbox = try Sandbox(applied: true)
    let command = "'\(Sandbox.binary)' --root '\(sandbox.root)' compile -o /dev/stdout | cat >got"
    #expect(sandbox.execute(["/bin/sh", "-c", command]).exitCode == 0)
    #expect(sandbox.run("install", "got").exitCode == 0)
    #expect((try FileMetadata.of("/dev/stdout", followingLinks: false)).isSymbolicLink)
  }

  @Test func aDeviceStaysADevice() throws {
    let sandbox = try Sandbox(applied: true)
    let device = sandbox.work + "/null"
    guard mknod(device, S_IFCHR | 0o666, 0x103) == 0 else {
      print("SKIPPED: this user can't make a device, so writing into one can't be tested")
      return
    }
    let result = sandbox.run("compile", "-o", device)
    #expect((try FileMetadata.of(device, followingLinks: false)).isCharacterDevice, "\(result.errors)")
    #expect(sandbox.run("key", "generate", "-o", device).exitCode == 73)
    #expect((try FileMetadata.of(device, followingLinks: false)).isCharacterDevice)
  }

  @Test(arguments: ["folder", "link"]) func whatIsNoFileIsRefused(_ kind: String) throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write("kept", to: "file")
    try Directory.create(sandbox.work + "/folder")
    symlink("file", sandbox.work + "/link")
    let what = kind == "link" ? "a symbolic link" : "a folder"
    for words in [["compile"], ["key", "generate"]] {
      let result = sandbox.runBare(["--root", sandbox.root] + words + ["-o", kind])
      #expect(result.exitCode == 73)
      #expect(result.errors == "policyctl: \(kind) is \(what), which is not replaced by a file\n")
    }
    #expect(try sandbox.read("file") == "kept")
    #expect(SymbolicLink.target(of: sandbox.work + "/link") == "file")
  }

  /// A unit that somebody has masked stays masked.
  @Test func aMaskedUnitStaysMasked() throws {
    let sandbox = try Sandbox(applied: true)
    let unit = sandbox.root + "/etc/systemd/system/managed-preferences-refresh.timer"
    try Directory.createAll(FilePath.parent(of: unit))
    symlink("/dev/null", unit)
    #expect(sandbox.run("refresh", "--install-timer").exitCode == 73)
    #expect(SymbolicLink.target(of: unit) == "/dev/null")
  }
}
