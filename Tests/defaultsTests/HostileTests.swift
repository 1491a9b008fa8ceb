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
    mkfifo(sandbox.work + "/pipe.plist", 0o600)
    symlink("loop.plist", sandbox.work + "/loop.plist")
    try Directory.create(sandbox.work + "/folder.plist")
    for name in ["pipe", "loop", "folder"] {
      let before = try FileMetadata.of(sandbox.work + "/\(name).plist", followingLinks: false)
      #expect(sandbox.defaults("read", "./\(name)").exitCode != 0, "\(name)")
      let result = sandbox.defaults("write", "./\(name)", "k", "1")
      #expect(result.exitCode == 74, "\(name): \(result.errors)")
      #expect(try FileMetadata.of(sandbox.work + "/\(name).plist", followingLinks: false) == before)
    }
    #expect(sandbox.defaults("import", "d", "pipe.plist").exitCode == 74)
    #expect(sandbox.defaults("import", "d", "/dev/zero").exitCode == 74)
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
