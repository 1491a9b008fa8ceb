import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// What `policyctl run` does not begin, and its words.
@Suite struct RunRefusalTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let words: [String]
    let code: Int32
    let errors: String
    var environment: [String: String] = [:]
    var testDescription: String { words.joined(separator: " ") }
  }

  static let rows = [
    Row(
      words: ["true"], code: 64,
      errors: "policyctl run: --app ID is missing\nNext: policyctl run --help\n"),
    Row(
      words: ["--app", "org.example.Editor"], code: 64,
      errors: "policyctl run: COMMAND is missing\nNext: policyctl run --help\n"),
    Row(
      words: ["--app", "../x", "true"], code: 64,
      errors: "policyctl: '../x' is no domain: a domain's name can't contain '/': ../x\n"),
    Row(
      words: ["--app", "NSGlobalDomain", "true"], code: 64,
      errors: "policyctl: NSGlobalDomain is every application's; a container is one's\n"),
    Row(
      words: ["--app", "org.example.Editor", "--", "no-such-program"], code: 66,
      errors: "policyctl: no-such-program is not on the PATH\n"),
    Row(
      words: ["--app", "org.example.Editor", "--", "./program"], code: 66,
      errors: "policyctl: ./program is not there\n"),
    Row(
      words: ["--app", "org.example.Editor", "--", "/etc/passwd"], code: 77,
      errors: "policyctl: /etc/passwd is no program that can be run\n"),
    Row(
      words: ["--app", "org.example.Editor", "--", "true"], code: 69,
      errors: "policyctl: HOME is '/', where no container can be put\n", environment: ["HOME": "/"]),
    Row(
      words: ["--app", "org.example.Editor", "--", "true"], code: 69,
      errors:
        "policyctl: /usr/share/home is in or around /usr, which contained programs see; nothing can be hidden there\n",
      environment: ["HOME": "/usr/share/home"]),
    Row(
      words: ["--app", "org.example.Editor", "--network", "true"], code: 69,
      errors:
        "policyctl: with --network a bus would be in reach: /tmp/dbus-1 is an abstract socket, which no path hides\n",
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/tmp/dbus-1,guid=2"]),
  ]

  @Test(arguments: rows) func isRefused(_ row: Row) throws {
    let sandbox = try Sandbox(applied: true)
    let before = try sandbox.contents(of: sandbox.home)
    let result = sandbox.runBare(["--root", sandbox.root, "run"] + row.words, environment: row.environment)
    #expect(result.exitCode == row.code)
    #expect(result.output == "")
    #expect(result.errors == row.errors)
    #expect(try sandbox.contents(of: sandbox.home) == before)
  }

  /// A file in a standard stream can be opened anew, and written: so none that holds preferences.
  @Test(.enabled(if: ContainedRuns.isAvailable)) func noPreferencesInStandardStreams() throws {
    let sandbox = try RunSandbox()
    let file = sandbox.configuration + "/org.example.Other.plist"
    try sandbox.write("{ a = 1; }", to: file)
    let result = sandbox.outside("$RUN -- true < \(file)")
    #expect(result.exitCode == 77)
    #expect(
      result.errors
        == "policyctl: standard input can't be \(file), which a contained program could open anew and write: it lies in "
        + "\(sandbox.configuration), where preferences are kept\n")
    #expect(sandbox.outside("$RUN -- cat < /etc/passwd").exitCode == 0)
  }

  /// A link that a contained program left in a shared folder widens nobody's grant.
  @Test(.enabled(if: ContainedRuns.isAvailable)) func aPlantedLinkWidensNoGrant() throws {
    let sandbox = try RunSandbox()
    try sandbox.write("secret\n", to: sandbox.home + "/private/cookies")
    #expect(sandbox.shell("ln -s ../private ~/Documents/sub").exitCode == 0)
    let result = sandbox.run(["cat", "Documents/sub/cookies"], flags: ["--files", sandbox.home + "/Documents/sub"])
    #expect(result.exitCode == 77)
    #expect(result.output == "")
    #expect(
      result.errors.contains(
        "leads through a link in \(sandbox.home)/Documents, where a contained program may have put it"))
  }

  @Test func withoutBubblewrapItSaysWhatToInstall() throws {
    if access("/usr/bin/bwrap", X_OK) == 0 || access("/usr/local/bin/bwrap", X_OK) == 0 { return }
    let result = try Sandbox().run("run", "--app", "org.example.Editor", "true")
    #expect(result.exitCode == 69)
    #expect(
      result.errors == "policyctl: bubblewrap is not installed, and without it nothing can be contained\n"
        + "Next: sudo apt install bubblewrap\n")
  }

  @Test func aPolicyThatCannotBeReadSharesNothing() throws {
    let sandbox = try Sandbox(applied: true)
    for file in ["/forced", "/generations/1/forced", "/generations/0/forced"] {
      try sandbox.write("damaged", to: sandbox.root + "/var/lib/managed-preferences" + file)
    }
    let result = sandbox.run("run", "--app", "org.example.Editor", "true")
    #expect(result.exitCode == 69)
    #expect(
      result.errors.hasPrefix("policyctl: the policy in force can't be read, so nothing is known of what is shared: "),
      "\(result.errors)")
    #expect(result.errors.hasSuffix("\nNext: policyctl --root \(sandbox.root) status\n"), "\(result.errors)")
  }

  static let places: [(path: String, why: String)] = [
    ("~/.config", "it is HOME/.config, where preferences are kept"),
    ("~", "it contains HOME/other, where preferences are kept"),
    ("~/.config/app", "it lies in HOME/.config, where preferences are kept"),
    ("~/link/app", "it lies in HOME/.config, where preferences are kept"),
    ("~/.local", "it contains HOME/.local/share/managed-preferences, where preferences are kept"),
    ("~/other", "it is HOME/other, where preferences are kept"),
    ("/", "it contains HOME/other, where preferences are kept"),
    ("/run", "it is /run, which belongs to the system"),
    ("/proc/self", "it lies in /proc, which belongs to the system"),
    ("/dev/null", "it lies in /dev, which belongs to the system"),
    ("/var", "it contains /var/lib/managed-preferences, which belongs to managed preferences"),
    ("../root", "it contains ROOT/etc/managed-preferences, which belongs to managed preferences"),
    ("~/bus", "it is HOME/bus, the session bus"),
    ("~/pipe", "it is neither a file nor a folder"),
  ]

  @Test(arguments: places.map(\.path)) func whatHoldsPreferencesIsNotShared(_ path: String) throws {
    let sandbox = try Sandbox(applied: true)
    let why = try #require(Self.places.first { $0.path == path }?.why)
    for folder in [".config/app", ".local", "other"] { try Directory.createAll(sandbox.home + "/" + folder) }
    symlink(".config", sandbox.home + "/link")
    try sandbox.write("", to: sandbox.home + "/bus")
    mkfifo(sandbox.home + "/pipe", 0o600)
    let result = sandbox.runBare(
      ["--root", sandbox.root, "run", "--app", "org.example.Editor", "--files", path, "true"],
      environment: [
        "XDG_CONFIG_HOME": sandbox.home + "/other",
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(sandbox.home)/bus,guid=1",
      ])
    #expect(result.exitCode == 77)
    let told = DocumentationTests.replace(
      sandbox.home, with: "HOME", in: DocumentationTests.replace(sandbox.root, with: "ROOT", in: result.errors))
    #expect(told == "policyctl: --files \(path) can't be shared: \(why)\n")
  }

  @Test func aGrantThatCannotBeHadIsLeftOutWithAWarning() throws {
    guard ContainedRuns.isAvailable else { return }
    let sandbox = try RunSandbox()
    try Directory.removeTree(sandbox.home + "/Documents")
    let missing = sandbox.run(["true"])
    #expect(missing.errors == "policyctl: warning: the policy shares ~/Documents, which is not there; left out\n")
    #expect(missing.exitCode == 0)
    // A link that its user made leads where the compiler could not see.
    symlink(".config", sandbox.home + "/Documents")
    let linked = sandbox.shell("ls ~/Documents")
    #expect(
      sandbox.sandbox.plain(linked.errors).hasPrefix(
        "policyctl: warning: the policy shares ~/Documents, which is SANDBOX/home/.config, where preferences are kept; "
          + "left out\n"))
    #expect(linked.exitCode == 2)
  }

  @Test func aFolderAsAStandardStreamIsRefused() throws {
    let sandbox = try Sandbox(applied: true)
    let run = "'\(Sandbox.binary)' --root '\(sandbox.root)' run --app org.example.Editor true"
    for (redirection, name) in [("</etc", "input"), ("3</etc >&3", "output")] {
      let result = sandbox.execute(["sh", "-c", "\(run) \(redirection)"])
      #expect(result.exitCode == 77)
      #expect(
        result.errors
          == "policyctl: standard \(name) is a folder, and would lead a contained program to all that is in it\n")
    }
  }
}

/// What listens without a path is in the network, whatever the environment says of it.
@Suite(.enabled(if: MountNamespace.isAvailable && ContainedRuns.has("python3"))) struct RunNetworkTests {
  @Test(arguments: [("/tmp/dbus-Qx1", Int32(69)), ("/tmp/other", 0)]) func aBusInTheNetworkIsFound(
    _ name: String, _ code: Int32
  ) throws {
    guard ContainedRuns.isAvailable else { return }
    let sandbox = try RunSandbox()
    let listener = """
      import socket, subprocess, sys
      one = socket.socket(socket.AF_UNIX); one.bind("\\0" + sys.argv[1]); one.listen()
      sys.exit(subprocess.call(sys.argv[2:]))
      """
    let result = sandbox.sandbox.execute(
      ["unshare", "-n", "python3", "-c", listener, name] + sandbox.words(["--network"]) + ["true"])
    #expect(result.exitCode == code)
    #expect(
      result.errors
        == (code == 0
          ? ""
          : "policyctl: with --network a bus would be in reach: /tmp/dbus-Qx1 is an abstract socket, which no path hides\n")
    )
  }
}

/// The same where an installation binds the whole system.
@Suite(.enabled(if: MountNamespace.isAvailable && ContainedRuns.isAvailable)) struct RunSystemWideTests {
  @Test func noOtherRootLeadsAUserAway() throws {
    let sandbox = try Sandbox()
    let other = try Sandbox(applied: true)
    chown(sandbox.home, 12345, 12345)
    let result = try SystemWideTests.run(
      """
      as_user '\(Sandbox.binary)' --root '\(other.root)' run --app org.example.Editor -- true; echo $?
      inside='cat /run/managed-preferences/container; echo; ls /run/managed-preferences /var/lib/managed-preferences/forced'
      as_user env MANAGED_PREFERENCES_ROOT='\(other.root)' '\(Sandbox.binary)' run --app org.example.Editor -- sh -c "$inside"
      as_user '\(Sandbox.binary)' run --app org.example.Editor -- sh -c 'echo x > /var/lib/managed-preferences/forced'; echo $?
      """, in: sandbox)
    #expect(
      result.output == """
        77
        {"groups":[],"home":"\(sandbox.home)","identifier":"org.example.Editor","read":[],"root":""}
        /var/lib/managed-preferences/forced

        /run/managed-preferences:
        container
        groups
        read
        2

        """)
    #expect(
      result.errors.hasPrefix(
        "policyctl: managed preferences are installed on this system, and only root runs a program under those of "
          + "another root\nNext: policyctl run --app org.example.Editor -- true\n"), "\(result.errors)")
  }
}
