import CommandSandbox
import LinuxFiles
import Testing

/// What `defaults` does with the domain of an application that a policy contains.
@Suite struct ContainedDomainTests {
  private static func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.apply("containers:\n  org.lab.edit: {groups: [group.org.lab]}\n")
    return sandbox
  }

  private static func container(_ sandbox: Sandbox) -> String {
    sandbox.home + "/.local/share/managed-preferences/containers/org.lab.edit"
  }

  /// Once the application has its container, the command and the application have one file.
  @Test func theCommandReachesTheContainer() throws {
    let sandbox = try Self.sandbox()
    expect(sandbox.defaults("write", "org.lab.edit", "zip", "-bool", "true"), output: "", in: sandbox)
    // What the application's first start does.
    let folder = Self.container(sandbox) + "/home/.config"
    try Directory.createAll(folder, mode: 0o700)
    try AtomicReplacement.write(
      try WholeFile.read(sandbox.configuration + "/org.lab.edit.plist").bytes, to: folder + "/org.lab.edit.plist",
      mode: 0o600)
    expect(sandbox.defaults("read", "org.lab.edit", "zip"), output: "1\n", in: sandbox)
    expect(sandbox.defaults("write", "org.lab.edit", "zip", "-bool", "false"), output: "", in: sandbox)
    expect(
      sandbox.defaults("read", folder + "/org.lab.edit", "zip"), output: "0\n", in: sandbox)
    expect(sandbox.defaults("read", sandbox.configuration + "/org.lab.edit", "zip"), output: "1\n", in: sandbox)
    expect(sandbox.defaults("domains"), output: "org.lab.edit\n", in: sandbox)
    expect(sandbox.defaults("-currentHost", "write", "org.lab.edit", "here", "x"), output: "", in: sandbox)
    #expect(try Directory.names(in: folder + "/ByHost").count == 1)
    expect(sandbox.defaults("delete", "org.lab.edit"), output: "", in: sandbox)
    #expect(sandbox.defaults("read", "org.lab.edit", "zip").exitCode == 1)
  }

  /// A path with the folder's name as its beginning is another folder.
  @Test(arguments: ["../org.other.app", "a/../../b", "x/"])
  func aPathIsAPathAndNoDomain(_ word: String) throws {
    let sandbox = try Self.sandbox()
    try Directory.createAll(Self.container(sandbox) + "/home/.config", mode: 0o700)
    let before = try sandbox.contents(of: sandbox.home)
    #expect(sandbox.defaults("read", word).exitCode != 0)
    #expect(try sandbox.contents(of: sandbox.home) == before)
  }

  /// A group has its folder for everybody.
  @Test func aGroupHasItsFolder() throws {
    let sandbox = try Self.sandbox()
    let folder = sandbox.home + "/.local/share/managed-preferences/groups/group.org.lab"
    try Directory.createAll(folder, mode: 0o700)
    expect(sandbox.defaults("write", "group.org.lab", "shared", "1"), output: "", in: sandbox)
    expect(sandbox.defaults("read", folder + "/group.org.lab", "shared"), output: "1\n", in: sandbox)
    expect(sandbox.defaults("domains"), output: "group.org.lab\n", in: sandbox)
  }
}
