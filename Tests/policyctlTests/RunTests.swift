import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// `policyctl run` for a program that means no harm: what it gets, and what its caller gets back.
@Suite(.enabled(if: ContainedRuns.isAvailable)) struct RunTests {
  @Test(arguments: [0, 1, 7, 64, 255]) func theExitCodeIsTheProgramsOwn(_ code: Int32) throws {
    let result = try RunSandbox().shell("exit \(code)")
    #expect(result.exitCode == code)
    #expect(result.errors == "")
  }

  @Test func aProgramThatASignalEndedIs128AndItsNumber() throws {
    #expect(try RunSandbox().shell("kill -SEGV $$").exitCode == 128 + 11)
  }

  @Test func standardStreamsGoThrough() throws {
    let result = try RunSandbox().run(["sh", "-c", "tr a-z A-Z; echo two >&2"], input: Array("one\n".utf8))
    #expect(result.output == "ONE\n")
    #expect(result.errors == "two\n")
  }

  /// A slip in the name is said, or the program would find nothing of its own and nobody would know why.
  @Test func aNameThatNoPolicyKnowsIsSaid() throws {
    let result = try RunSandbox().run(["true"], app: "org.example.Edtior")
    #expect(result.exitCode == 0)
    #expect(
      result.errors
        == "policyctl: warning: no policy in force contains org.example.Edtior, so nothing is shared with it; "
        + "did you mean 'org.example.Editor'?\n")
  }

  @Test func theHomeIsTheContainers() throws {
    let sandbox = try RunSandbox()
    try sandbox.write("{ Secret = 1; }", to: sandbox.configuration + "/org.example.Other.plist")
    let result = sandbox.shell("echo $HOME; pwd; ls -A; echo mine > ~/file; echo 1 > ~/.config/a")
    #expect(result.output == "\(sandbox.home)\n\(sandbox.home)\n.config\nDocuments\n")
    #expect(result.errors == "")
    #expect(try sandbox.sandbox.read(sandbox.containerHome() + "/file") == "mine\n")
    #expect(try Directory.names(in: sandbox.configuration) == ["org.example.Other.plist"])
    #expect(try FileMetadata.of(sandbox.containerHome()).permissions == 0o700)
    #expect(try Directory.names(in: sandbox.container() + "/read") == [])
  }

  @Test func theEnvironmentIsAList() throws {
    let result = try RunSandbox().run(
      ["env"],
      environment: [
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1/bus", "SSH_AUTH_SOCK": "/tmp/agent", "LD_PRELOAD": "",
        "XDG_CONFIG_HOME": "", "XDG_DATA_DIRS": "/x", "GPG_AGENT_INFO": "x", "TERM": "vt100", "LC_TIME": "C",
        "LANG": "C.UTF-8", "SECRET": "x", "EDITOR": "nano",
      ])
    let names = result.output.split(separator: "\n").map { $0.prefix { $0 != "=" } }.sorted()
    #expect(
      names == [
        "EDITOR", "GSETTINGS_BACKEND", "HOME", "LANG", "LC_ALL", "LC_TIME", "MANAGED_PREFERENCES_ROOT", "PATH", "PWD",
        "TERM", "TZ",
        "XDG_RUNTIME_DIR",
      ])
    #expect(result.output.contains("XDG_RUNTIME_DIR=/run/user/\(RunSandbox.userID)\n"))
  }

  @Test func theWordThatIsLeftInside() throws {
    let sandbox = try RunSandbox()
    let result = sandbox.run(["cat", "/run/managed-preferences/container"])
    #expect(
      result.output
        == #"{"groups":["group.org.example.suite"],"home":"\#(sandbox.home)","identifier":"org.example.Editor","#
        + #""read":["org.example.Fonts","org.example.Viewer"],"root":"/run/managed-preferences/root"}"#)
    let unknown = sandbox.run(["cat", "/run/managed-preferences/container"], app: "org.example.Unknown")
    #expect(
      unknown.output
        == #"{"groups":[],"home":"\#(sandbox.home)","identifier":"org.example.Unknown","read":[],"#
        + #""root":"/run/managed-preferences/root"}"#)
  }

  @Test func theForcedDomainHoldsInside() throws {
    let sandbox = try RunSandbox()
    let forced = "/run/managed-preferences/root/var/lib/managed-preferences/forced"
    let result = sandbox.run(["sha256sum", forced])
    let outside = sandbox.sandbox.execute([
      "sha256sum", sandbox.sandbox.root + "/var/lib/managed-preferences/forced",
    ])
    #expect(result.output.prefix(64) == outside.output.prefix(64))
    #expect(result.exitCode == 0)
  }

  @Test func aProgramOutsideOfTheSystemsFoldersIsShownAlone() throws {
    let sandbox = try RunSandbox()
    for (file, place) in [
      (sandbox.work + "/tool", sandbox.work + "/tool"),
      (sandbox.home + "/bin/tool", "/run/managed-preferences/program/tool"),
    ] {
      try sandbox.sandbox.writeProgram("echo $0; ls $(dirname $0); cat < $0 | wc -l; echo x >> $0", to: file)
      sandbox.give()
      try sandbox.write("secret", to: FilePath.parent(of: file) + "/beside")
      let result = sandbox.run([file])
      #expect(result.output == "\(place)\ntool\n2\n")
      #expect(result.exitCode == 2)
      let found = sandbox.run(["tool"], environment: ["PATH": FilePath.parent(of: file) + ":/usr/bin:/bin"])
      #expect(found.output == result.output)
    }
  }

  @Test func theWorkFolderStaysWhereItIsSeen() throws {
    let sandbox = try RunSandbox()
    try Directory.create(sandbox.home + "/Documents/in")
    sandbox.give()
    func directory(_ folder: String, _ flags: String = "") -> String {
      sandbox.outside("cd \(folder) && $RUN \(flags) -- pwd").output
    }
    #expect(directory("/usr/lib") == "/usr/lib\n")
    #expect(directory("~/Documents/in") == "\(sandbox.home)/Documents/in\n")
    #expect(directory(sandbox.work) == "\(sandbox.home)\n")
    #expect(directory(sandbox.work, "--files .") == "\(sandbox.work)\n")
    #expect(directory("~/.config") == "\(sandbox.home)\n")
  }

  @Test func concurrentRunsShareTheContainer() throws {
    let result = try RunSandbox().outside(
      """
      $RUN -- sh -c 'echo one > ~/new.one; mv ~/new.one ~/one; while ! test -e ~/two; do sleep 0.02; done; cat ~/two' &
      $RUN -- sh -c 'while ! test -e ~/one; do sleep 0.02; done; cat ~/one; echo two > ~/new.two; mv ~/new.two ~/two'
      wait
      """)
    #expect(result.output == "one\ntwo\n")
  }
}
