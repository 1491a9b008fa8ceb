import CommandSandbox
import LinuxFiles
import Testing

/// Bytes that are no text: they never become another text by themselves.
@Suite struct NotUTF8Tests {
  /// Through a shell: the words of a test are text.
  private func run(_ line: String, in sandbox: Sandbox) -> Sandbox.Result {
    let commands =
      "defaults() { '\(Sandbox.binary("defaults"))' --root '\(sandbox.root)' \"$@\"; }\n"
      + "policyctl() { '\(Sandbox.binary("policyctl"))' --root '\(sandbox.root)' \"$@\"; }\n"
    return sandbox.execute(["sh", "-c", commands + "e=$(printf 'caf\\351\\001')\n" + line])
  }

  @Test(arguments: [
    ("defaults write org.lab.t \"$e\" x", #"caf\xe9\x01"#), ("defaults write org.lab.t k \"$e\"", #"caf\xe9\x01"#),
    ("defaults write \"$e\" k x", #"caf\xe9\x01"#), ("defaults \"$e\"", #"caf\xe9\x01"#),
    ("defaults export -g \"./$e\"", #"./caf\xe9\x01"#), ("defaults write org.lab.t k -array a \"$e\"", #"caf\xe9\x01"#),
    ("policyctl get org.lab.t \"$e\"", #"caf\xe9\x01"#), ("policyctl compile -o \"$e\"", #"caf\xe9\x01"#),
    ("policyctl \"--$e\"", #"--caf\xe9\x01"#),
  ])
  func aWordThatIsNoTextIsRefusedFirst(_ line: String, _ word: String) throws {
    let sandbox = try Sandbox()
    expect(
      run(line, in: sandbox), 64,
      errors: "\(line.prefix { $0 != " " }): the word '\(word)' is not UTF-8; names, keys and values are. "
        + "Nothing was done\n", in: sandbox)
    #expect(try Directory.names(in: sandbox.home).isEmpty)
    #expect(try Directory.names(in: sandbox.work).isEmpty)
  }

  @Test func aFileWhoseNameIsNoTextIsNoDomain() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "org.lab.t", "k", "x")
    #expect(
      run("cp ~/.config/org.lab.t.plist ~/.config/\"$e\".plist && : >~/.config/\"$e\"", in: sandbox).exitCode == 0)
    let warning =
      #"defaults: warning: SANDBOX/home/.config/caf\xe9\x01.plist: the file's name is not UTF-8, "#
      + "so it is no domain's\n"
    expect(sandbox.defaults("domains"), output: "org.lab.t\n", errors: warning, in: sandbox)
    let found = sandbox.defaults("find", "x")
    #expect(found.exitCode == 0 && sandbox.plainErrors(found) == warning)
    expect(sandbox.defaults("read", "org.lab.t", "k"), output: "x\n", in: sandbox)
  }

  /// The status of a host names such a file among those for any user.
  @Test func statusNamesSuchAFile() throws {
    let sandbox = try Sandbox(policy: "forced: {org.lab.t: {k: 1}}\n")
    let folder = sandbox.root + "/etc/managed-preferences/defaults"
    #expect(run("mkdir -p '\(folder)' && : >'\(folder)'/\"$e\".plist", in: sandbox).exitCode == 0)
    let status = run("policyctl status", in: sandbox)
    #expect(
      status.output.contains(#"caf\xe9\x01.plist: the file's name is not UTF-8, so it is no domain's"#), "\(status)")
  }
}
