import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// `containers`: what is in the containers of a user, seen from outside.
@Suite struct ContainersTests {
  static let policy = """
    version: 1
    kind: Profile
    id: org.example.lab.containers
    title: Contained applications
    containers:
      org.example.Editor:
        groups: [group.org.example.suite]
        read: [org.example.Fonts]
        files: ["~/Documents"]
    ---
    version: 1
    kind: Manifest
    domain: org.example.Mail
    keys:
      Password: {type: string, secret: true}
    """

  /// A container with copies of two foreign domains.
  private static func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    try sandbox.write(policy, to: "policies/containers.yaml")
    let applied = sandbox.run("apply", "policies")
    try #require(applied.exitCode == 0, "\(applied.errors)")
    let container = sandbox.home + "/.local/share/managed-preferences/containers/org.example.Editor"
    try sandbox.write("{ Theme = dark; Size = 12; }", to: container + "/home/.config/org.example.Other.plist")
    try sandbox.write("{ Password = hunter2; }", to: container + "/home/.config/org.example.Mail.plist")
    try sandbox.write("{ Theme = light; Unseen = 1; }", to: sandbox.home + "/.config/org.example.Other.plist")
    for name in ["Other", "Mail"] {
      var times = [timespec(tv_sec: 1_700_000_000, tv_nsec: 0), timespec(tv_sec: 1_700_000_000, tv_nsec: 0)]
      utimensat(AT_FDCWD, container + "/home/.config/org.example.\(name).plist", &times, 0)
    }
    return sandbox
  }

  private static func run(_ sandbox: Sandbox, _ words: String...) -> Sandbox.Result {
    sandbox.execute([Sandbox.binary, "--root", sandbox.root] + words, environment: ["TZ": "UTC"])
  }

  @Test func aListOfThem() throws {
    let sandbox = try Self.sandbox()
    #expect(
      Self.run(sandbox, "containers").output == """
        org.example.Editor  2 files, 51 B
          contained by  org.example.lab.containers
          shares        group.org.example.suite
          reads         org.example.Fonts
          files         ~/Documents
          redirected    org.example.Mail            2023-11-14 22:13 UTC
          redirected    org.example.Other           2023-11-14 22:13 UTC

        """)
    let json = try JSON(Self.run(sandbox, "containers", "--format", "json").output)
    let container = try #require(json["containers"].elements.first)
    #expect(container["identifier"].text == "org.example.Editor")
    #expect(container["grants"]["groups"].elements.map(\.text) == ["group.org.example.suite"])
    #expect(
      container["redirected"].elements.map { $0["domain"].text + " " + $0["written"].text }
        == ["org.example.Mail 2023-11-14T22:13:20Z", "org.example.Other 2023-11-14T22:13:20Z"])
  }

  @Test func nothingIsThere() throws {
    let sandbox = try Sandbox()
    let none = Self.run(sandbox, "containers")
    #expect(none.exitCode == 0 && none.output == "")
    #expect(none.errors == "policyctl: no application of yours has a container\n")
    let missing = Self.run(sandbox, "containers", "show", "org.example.Editor")
    #expect(missing.exitCode == 66)
    #expect(missing.errors == "policyctl: org.example.Editor has no container\nNext: policyctl containers\n")
    #expect(Self.run(sandbox, "containers", "show", "../x").exitCode == 64)
    #expect(Self.run(sandbox, "containers", "frobnicate").exitCode == 64)
  }

  @Test func eachKeyBesideTheRealOne() throws {
    let sandbox = try Self.sandbox()
    let shown = Self.run(sandbox, "containers", "show", "org.example.Editor")
    #expect(shown.exitCode == 0)
    #expect(
      sandbox.plain(shown.output) == """
        SANDBOX/home/.local/share/managed-preferences/containers/org.example.Editor

        org.example.Mail  2023-11-14 22:13 UTC
          key       in the container  real
          Password  secret

        org.example.Other  2023-11-14 22:13 UTC
          key    in the container  real
          Size   "12"              —
          Theme  "dark"            "light"

        """)
    let json = Self.run(sandbox, "containers", "show", "org.example.Editor", "--format", "json").output
    #expect(!json.contains("hunter2") && !shown.output.contains("hunter2"))
    let keys = try JSON(json)["domains"].elements[1]["keys"].elements
    #expect(keys.map { $0["key"].text } == ["Size", "Theme"])
    #expect(keys.map { $0["hasReal"].text } == ["false", "true"])
  }

  /// Of another user's container, names only, whatever root may read; and nothing of it is changed.
  @Test(.enabled(if: geteuid() == 0, "needs root, to look at another user's"))
  func anotherUsersNamesOnly() throws {
    let sandbox = try Self.sandbox()
    // `nobody` has no home with containers, and is on every machine.
    let shown = Self.run(sandbox, "containers", "--user", "nobody")
    #expect(shown.exitCode == 0)
    #expect(shown.errors == "policyctl: no application of nobody has a container\n")
    #expect(Self.run(sandbox, "containers", "--user", "nobody-of-that-name").exitCode == 66)
  }

  @Test func resetAsksFirst() throws {
    let sandbox = try Self.sandbox()
    try sandbox.write(
      "My essay\n", to: sandbox.home + "/.local/share/managed-preferences/containers/org.example.Editor/home/essay.txt")
    let before = try sandbox.contents(of: sandbox.home)
    let refused = Self.run(sandbox, "containers", "reset", "org.example.Editor")
    #expect(refused.exitCode == 64)
    #expect(
      sandbox.plain(refused.errors)
        == "policyctl: everything in SANDBOX/home/.local/share/managed-preferences/containers/org.example.Editor will be lost "
        + "(3 files, 60 B; one is no settings, documents maybe)\nNext: policyctl --root SANDBOX/root containers reset org.example.Editor --yes\n"
    )
    #expect(try sandbox.contents(of: sandbox.home) == before)
    let done = Self.run(sandbox, "containers", "reset", "org.example.Editor", "--yes")
    #expect(done.output == "The container of org.example.Editor is empty.\n")
    #expect(
      try sandbox.contents(of: sandbox.home).keys.sorted() == [sandbox.home + "/.config/org.example.Other.plist"])
    #expect(Self.run(sandbox, "containers").output.hasPrefix("org.example.Editor  0 files, 0 B\n"))
  }

  /// Not while a program runs in it.
  @Test func resetWaitsForNoProgram() throws {
    let sandbox = try Self.sandbox()
    let container = sandbox.home + "/.local/share/managed-preferences/containers/org.example.Editor"
    let before = try sandbox.contents(of: sandbox.home)
    let use = try FileLock.shared(directory: container)
    let refused = Self.run(sandbox, "containers", "reset", "org.example.Editor", "--yes")
    #expect(refused.exitCode == 69)
    #expect(
      sandbox.plain(refused.errors)
        == "policyctl: a program runs in the container of org.example.Editor; nothing was changed. End it first\n")
    #expect(try sandbox.contents(of: sandbox.home) == before)
    _ = consume use
  }

  /// Whatever a program leaves in its container, the others are listed, and it can be emptied.
  @Test(arguments: [
    "rm -r .config; mkfifo .config", "rm -r .config; ln -s / .config", "chmod 0 .config",
    "touch \"$(printf 'bad\\377.plist')\" \"$(printf '.config/bad\\377.plist')\"",
    "mkdir -p closed/in; chmod 0 closed/in closed", "chmod 0 .",
    "i=0; while [ $i -lt 1500 ]; do mkdir d; cd d; i=$((i + 1)); done",
  ])
  func aHostileContainerIsListedAndReset(_ script: String) throws {
    let sandbox = try RunSandbox()
    try sandbox.write(
      "{ a = 1; }", to: sandbox.containerHome("org.example.Viewer") + "/.config/org.example.Other.plist")
    try sandbox.write("{ a = 1; }", to: sandbox.containerHome() + "/.config/org.example.Other.plist")
    let filled = sandbox.sandbox.execute(
      RunSandbox.asUser + ["sh", "-c", "cd '\(sandbox.containerHome())' && \(script)"])
    try #require(filled.exitCode == 0, "\(filled.errors)")
    func policyctl(_ words: String...) -> Sandbox.Result {
      sandbox.sandbox.execute(RunSandbox.asUser + [Sandbox.binary, "--root", sandbox.sandbox.root] + words)
    }
    let listed = policyctl("containers")
    #expect(listed.exitCode == 0)
    #expect(
      listed.output.contains("org.example.Editor  ") && listed.output.contains("org.example.Viewer  1 file, 10 B\n"))
    let reset = policyctl("containers", "reset", "org.example.Editor", "--yes")
    #expect(reset.exitCode == 0, "\(reset.errors)")
    let containers = FilePath.parent(of: sandbox.container())
    #expect(try Directory.names(in: containers) == ["org.example.Editor", "org.example.Viewer"])
  }

  /// What the application has now is back where it lived: what it changed, and what it removed.
  @Test func removePutsPreferencesBack() throws {
    let sandbox = try Self.sandbox()
    let host = "0123456789abcdef0123456789abcdef"
    let (old, container) = (sandbox.home + "/.config", sandbox.home + "/.local/share/managed-preferences/containers")
    let inside = container + "/org.example.Editor/home/.config"
    try sandbox.write("{ a = old; }", to: old + "/org.example.Editor.plist")
    try sandbox.write("{ gone = 1; }", to: old + "/ByHost/org.example.Editor.\(host).plist")
    try sandbox.write("{ other = 1; }", to: old + "/ByHost/org.example.Editor.Sub.\(host).plist")
    try sandbox.write("{ a = new; }", to: inside + "/org.example.Editor.plist")
    try sandbox.write("{ b = 1; }", to: inside + "/ByHost/org.example.Editor.here.plist")
    let refused = Self.run(sandbox, "containers", "remove", "org.example.Editor", "--yes")
    #expect(refused.exitCode == 77)
    #expect(
      refused.errors.hasPrefix("policyctl: org.example.Editor is contained by org.example.lab.containers, and would"))
    try #require(Self.run(sandbox, "apply", "empty", "--allow-empty").exitCode != 0)
    try Directory.create(sandbox.work + "/none")
    try #require(Self.run(sandbox, "apply", "none", "--allow-empty").exitCode == 0)
    let done = Self.run(sandbox, "containers", "remove", "org.example.Editor", "--yes")
    #expect(done.exitCode == 0, "\(done.errors)")
    #expect(
      sandbox.plain(done.output)
        == "The preferences of org.example.Editor are in SANDBOX/home/.config again; its container is removed.\n")
    #expect(try sandbox.read(old + "/org.example.Editor.plist") == "{ a = new; }")
    #expect(
      try Directory.names(in: old + "/ByHost")
        == ["org.example.Editor.Sub.\(host).plist", "org.example.Editor.here.plist"])
    #expect(try Directory.names(in: container) == [])
  }

  /// Links that a program planted lead no reset, and no count, elsewhere.
  @Test func plantedLinksLeadNowhere() throws {
    let sandbox = try Self.sandbox()
    let home = sandbox.home + "/.local/share/managed-preferences/containers/org.example.Editor/home"
    symlink(sandbox.home + "/.config", home + "/away")
    symlink(sandbox.home + "/.config/org.example.Other.plist", home + "/.config/org.example.Third.plist")
    let shown = Self.run(sandbox, "containers", "show", "org.example.Editor")
    #expect(shown.exitCode == 74)
    #expect(
      sandbox.plain(shown.errors)
        == "policyctl: SANDBOX/home/.local/share/managed-preferences/containers/org.example.Editor/home/.config/"
        + "org.example.Third.plist: is a symbolic link, and none is followed in a container\n")
    #expect(!shown.output.contains("Unseen"))
    #expect(Self.run(sandbox, "containers", "reset", "org.example.Editor", "--yes").exitCode == 0)
    #expect(try sandbox.read(sandbox.home + "/.config/org.example.Other.plist") == "{ Theme = light; Unseen = 1; }")
  }

  /// Containers are told of where keys are, and are not lost unnoticed.
  @Test func theyAreInForceAsKeysAre() throws {
    let sandbox = try Self.sandbox()
    #expect(
      Self.run(sandbox, "status").output.contains("\nforced      0 keys in 0 domains\ncontained   org.example.Editor\n")
    )
    #expect(
      try JSON(Self.run(sandbox, "status", "--format", "json").output)["contained"].elements.map(\.text) == [
        "org.example.Editor"
      ])
    try sandbox.write("", to: "empty/.keep")
    let refused = Self.run(sandbox, "apply", "empty")
    #expect(refused.exitCode == 65)
    #expect(
      sandbox.plain(refused.errors).contains(
        "policyctl: empty contains no application, and generation 1 with 1 contained application is in force here; nothing was changed\n"
      ))
    let freed = Self.run(sandbox, "apply", "empty", "--allow-empty")
    #expect(freed.exitCode == 0)
    let back = Self.run(sandbox, "apply", "policies")
    #expect(back.output.hasSuffix("for lab-a-03: 0 forced keys, 1 contained application.\n"), "\(back.output)")
  }

  /// Questions make no container.
  @Test func askingMakesNone() throws {
    let sandbox = try Sandbox()
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    try sandbox.write(Self.policy, to: "policies/containers.yaml")
    try #require(sandbox.run("apply", "policies").exitCode == 0)
    try sandbox.write("{ Theme = light; }", to: sandbox.home + "/.config/org.example.Editor.plist")
    #expect(Self.run(sandbox, "get", "org.example.Editor", "Theme").output == "light\n")
    #expect(Self.run(sandbox, "explain", "org.example.Editor", "Theme").exitCode == 0)
    #expect(!((try? FileMetadata.of(sandbox.home + "/.local"))?.isDirectory ?? false))
  }
}
