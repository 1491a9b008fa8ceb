import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// Names, paths and values of somebody who means harm.
@Suite struct HostileTests {
  @Test(arguments: ["..", ".hidden", "", String(repeating: "x", count: 217)])
  func aNameThatLeadsElsewhereIsRefused(_ name: String) throws {
    let sandbox = try Sandbox()
    for words in [["read", name], ["write", name, "k", "1"], ["delete", name], ["export", name, "-"]] {
      let result = sandbox.defaults(words)
      #expect(result.exitCode == 64, "\(words)")
      #expect(result.output == "")
    }
    #expect(try Directory.names(in: sandbox.home).isEmpty)
  }

  @Test func aPathToNoRegularFileHarmsNobody() throws {
    let sandbox = try Sandbox()
    symlink("loop.plist", sandbox.work + "/loop.plist")
    let before = try FileMetadata.of(sandbox.work + "/loop.plist", followingLinks: false)
    #expect(sandbox.defaults("read", "./loop").exitCode == 74)
    #expect(sandbox.defaults("write", "./loop", "k", "1").exitCode == 74)
    #expect(try FileMetadata.of(sandbox.work + "/loop.plist", followingLinks: false) == before)
    for (file, what) in [("pipe", "a pipe"), ("/dev/zero", "a device"), (".", "a directory")] {
      mkfifo(sandbox.work + "/pipe", 0o600)
      expect(
        sandbox.defaults("import", "d", file), 66, errors: "defaults: cannot read \(file): it is \(what), not a file\n",
        in: sandbox)
    }
  }

  struct NoFile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable (String) -> Void
    var isDirectory = false

    static let all = [
      NoFile(testDescription: "a pipe", make: { mkfifo($0, 0o600) }),
      NoFile(testDescription: "a socket", make: { mknod($0, S_IFSOCK | 0o600, 0) }),
      NoFile(testDescription: "a device", make: { symlink("/dev/null", $0) }),
      NoFile(testDescription: "a directory", make: { mkdir($0, 0o700) }, isDirectory: true),
    ]
  }

  /// In a domain's place by name and by path: what it is is said, nothing waits for it, and it stays what it is.
  @Test(arguments: NoFile.all) func whatIsNoFileIsNamed(_ row: NoFile) throws {
    let sandbox = try Sandbox()
    try Directory.createAll(sandbox.configuration)
    for (domain, path) in [
      ("d", sandbox.configuration + "/d.plist"), ("./d", "./d.plist"), ("./d.plist", "./d.plist"),
      (sandbox.work + "/exact", sandbox.work + "/exact"),
    ] {
      if domain.hasSuffix("exact"), row.isDirectory { continue }
      let place = path.hasPrefix("/") ? path : sandbox.work + path.dropFirst()
      row.make(place)
      let before = try FileMetadata.of(place, followingLinks: false)
      let cannot =
        "cannot \(row.testDescription == "a socket" ? "open" : "read") \(sandbox.plain(path)): "
        + "it is \(row.testDescription), not a file"
      let shown = sandbox.plain(domain)
      expect(
        sandbox.defaults("read", domain), 66,
        errors: "defaults: warning: \(cannot)\ndefaults: Domain \(shown) can't be read\n", in: sandbox)
      expect(
        sandbox.defaults("write", domain, "k", "1"), 73, errors: "defaults: \(cannot); nothing was written\n",
        in: sandbox)
      #expect(try FileMetadata.of(place, followingLinks: false).inode == before.inode)
    }
  }

  /// A directory of a domain's name is no domain; the file beside it is, whether it is there or is made.
  @Test func aFolderBesideADomainIsPassedOver() throws {
    let sandbox = try Sandbox()
    try Directory.create(sandbox.work + "/app")
    let missing = sandbox.defaults("read", "./app")
    expect(
      missing, 1,
      errors: "defaults: Domain ./app does not exist; ./app is a directory, and there is no ./app.plist\n"
        + "Next: defaults --root SANDBOX/root domains\n", in: sandbox)
    expect(sandbox.defaults("write", "./app", "k", "1"), in: sandbox)
    expect(sandbox.defaults("read", "./app", "k"), output: "1\n", in: sandbox)
    #expect(try Directory.names(in: sandbox.work + "/app").isEmpty)
    for verb in [["read", "./app/"], ["write", "./app/", "k", "1"]] {
      expect(
        sandbox.defaults(verb), 64,
        errors: "defaults \(verb[0]): './app/' is the path of a directory, not of a file\n"
          + "Next: defaults \(verb[0]) --help\n", in: sandbox)
    }
    #expect(try Directory.names(in: sandbox.work + "/app").isEmpty)
  }

  /// On a terminal no value, key or message acts on it; in a pipe a string is its bytes.
  @Test func aTerminalIsNotWrittenOn() throws {
    let sandbox = try Sandbox()
    let attack = "\u{1b}]0;x\u{7}\u{202e}\nsecond"
    sandbox.defaults("write", "d", "k", "-string", attack)
    sandbox.defaults("write", "d", attack, "-dict", attack, attack)
    let command = "'\(Sandbox.binary("defaults"))'"
    for line in [
      "read d k", "read d", "read", "find second", "read --layers d", "read d \"$BAD\"", "read d \"x$BAD\"",
      "read \"x$BAD\"", "write d k -int \"$BAD\"", "\"$BAD\"", "--\"$BAD\"", "write d k -array a \"-$BAD\"",
      "import d \"$BAD\"", "rename d \"y$BAD\" z", "delete \"$BAD\"", "read -app \"$BAD\"", "-host \"$BAD\" read d",
      "read \"./$BAD\"", "write \"./no/$BAD\" k 1",
    ] {
      let result = sandbox.execute(
        ["script", "-qec", "\(command) \(line)", "/dev/null"],
        environment: ["BAD": attack, "TERM": "dumb", "SHELL": "/bin/sh"])
      #expect(!result.output.isEmpty, "\(line)")
      for scalar in result.output.unicodeScalars {
        let isHarmless = scalar.value >= 0x20 && !(0x7f..<0xa0 ~= scalar.value) && scalar.value != 0x202e
        #expect(isHarmless || ["\n", "\r", "\t"].contains(scalar), "\(line): \(result.output)")
      }
    }
    let shown = sandbox.execute(
      ["script", "-qec", "\(command) read d k", "/dev/null"], environment: ["SHELL": "/bin/sh"])
    #expect(shown.output == "\\u{1b}]0;x\\u{7}\\u{202e}\r\nsecond\r\n")
    expect(sandbox.defaults("read", "d", "k"), output: attack + "\n", in: sandbox)
  }

  /// What a folder anybody may write to holds is not followed into another file's place.
  @Test func aPlantedLinkIsNotReplacedByAFile() throws {
    let sandbox = try Sandbox()
    try sandbox.write("not yours\n", to: "victim")
    symlink("victim", sandbox.work + "/d.plist")
    let result = sandbox.defaults("write", "./d", "k", "1")
    #expect(try sandbox.read("victim") == "not yours\n")
    #expect(result.exitCode == 0 || result.exitCode == 65)
  }

  @Test func aFullOutputIsAFailure() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "d", "k", "1")
    let result = sandbox.execute(["sh", "-c", "'\(Sandbox.binary("defaults"))' read d k >/dev/full"])
    #expect(result.exitCode == 74)
    #expect(result.errors == "defaults: cannot write to standard output: No space left on device\n")
  }

  /// Values deep and wide: told, or stored, never a crash.
  @Test func deepValuesAreRefusedOrStored() throws {
    let sandbox = try Sandbox()
    let deep = String(repeating: "(", count: 2000) + String(repeating: ")", count: 2000)
    let result = sandbox.defaults("write", "d", "k", deep)
    #expect(result.exitCode == 64)
    #expect(result.errors.contains("containers nest deeper than 512 levels"))
    let allowed = String(repeating: "(", count: 400) + String(repeating: ")", count: 400)
    expect(sandbox.defaults("write", "d", "k", allowed), in: sandbox)
    let read = sandbox.defaults("read", "d")
    #expect(read.exitCode == 0 && read.output.utf8.count > 400 * 400)
  }
}
