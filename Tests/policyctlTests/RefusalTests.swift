import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// What is refused changes nothing, and says what to do next.
@Suite struct RefusalTests {
  static let conflict = """
    version: 1
    kind: Profile
    id: org.example.lab.clash
    title: Another baseline
    priority: 10
    forced:
      org.example.Editor:
        AutoSaveInterval: 45

    """

  @Test func aConflictNamesBothPlacesAndLeavesEveryByte() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write(Self.conflict, to: "policies/clash.yaml")
    try sandbox.write(
      sandbox.read(sandbox.root + "/etc/managed-preferences/policies/example.yaml"), to: "policies/example.yaml")
    let before = try sandbox.contentsBesideAudit()
    for verb in ["check", "apply"] {
      let result = sandbox.run(verb, "policies")
      #expect(result.exitCode == 65)
      #expect(result.output == "")
      #expect(
        result.errors.contains("policies/clash.yaml:8:23: error: ")
          || result.errors.contains("policies/clash.yaml:8:23: note: "))
      #expect(result.errors.contains("policies/example.yaml:10:23: "))
      #expect(result.errors.contains("[conflict]"))
      #expect(result.errors.contains("1 error. Nothing was written; generation 1 stays in use.\n"))
    }
    #expect(try sandbox.contentsBesideAudit() == before)
    let json = sandbox.run("check", "policies", "--format", "json")
    #expect(json.exitCode == 65)
    #expect(json.errors == "")
    let diagnostics = try JSON(json.output)["diagnostics"].elements
    #expect(diagnostics.count == 1)
    #expect(
      diagnostics[0].names == ["code", "column", "hint", "line", "message", "path", "related", "severity"])
    #expect(diagnostics[0]["code"].text == "conflict")
    #expect(diagnostics[0]["related"].elements.count == 1)
    #expect(diagnostics[0]["related"].elements[0].names == ["column", "line", "message", "path"])
  }

  @Test func aHostThatIsNotListedIsNamedWithTheNextCommand() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write(
      """
      version: 1
      kind: Inventory
      hosts:
        groups:
          lab-b: {names: ["lab-b-[01-30]"]}
      ---

      """ + Self.conflict, to: "policies/inventory.yaml")
    let before = try sandbox.contentsBesideAudit()
    let result = sandbox.run("apply", "policies")
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("lab-a-03"))
    #expect(
      sandbox.plain(result.errors).contains("Next: policyctl --root SANDBOX/root enroll --host "), "\(result.errors)")
    #expect(try sandbox.contentsBesideAudit() == before)
  }

  @Test func aNameThatNobodyKnowsIsUnavailableUnlessAllowed() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write(
      """
      version: 1
      kind: Profile
      id: org.example.lab.nobody
      title: For nobody
      applies:
        users: {names: [no-such-user-zz]}
      forced:
        org.example.Editor:
          AutoSaveInterval: 45

      """, to: "policies/nobody.yaml")
    let before = try sandbox.contentsBesideAudit()
    let result = sandbox.run("apply", "policies")
    #expect(result.exitCode == 69)
    #expect(result.errors.contains("no-such-user-zz"))
    #expect(
      sandbox.plain(result.errors).contains(
        "Next: policyctl --root SANDBOX/root apply policies --allow-unresolved\n"),
      "\(result.errors)")
    #expect(try sandbox.contentsBesideAudit() == before)
    let allowed = sandbox.run("apply", "policies", "--allow-unresolved")
    #expect(allowed.exitCode == 0, "\(allowed.errors)")
    let status = sandbox.run("status")
    #expect(status.output.contains("no-such-user-zz"))
    #expect(status.exitCode == 1)
    // The root stands in front, wherever it was typed.
    let after = sandbox.runBare(["apply", "policies", "--root=" + sandbox.root])
    #expect(
      after.exitCode == 0
        || sandbox.plain(after.errors).contains(
          "Next: policyctl --root SANDBOX/root apply policies --allow-unresolved\n"),
      "\(after.errors)")
  }

  @Test(arguments: ["check", "apply", "compile", "test"]) func aFolderThatIsNotThereIsNoInput(_ verb: String) throws {
    let sandbox = try Sandbox(applied: true)
    let words = verb == "compile" ? [verb, "nowhere", "-o", "x"] : [verb, "nowhere"]
    let result = sandbox.runBare(["--root", sandbox.root] + words)
    #expect(result.exitCode == 66)
    #expect(result.errors.contains("nowhere"))
  }

  @Test func aBundleThatIsNotThereIsNoInput() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.run("install", "nowhere.bundle")
    #expect(result.exitCode == 66)
    #expect(result.errors.hasSuffix("Next: policyctl compile DIR -o nowhere.bundle\n"))
    #expect(sandbox.run("install", sandbox.home).errors.hasSuffix("Next: policyctl compile \(sandbox.home) -o FILE\n"))
    #expect(sandbox.run("get", "D", "--bundle", "nowhere.bundle").exitCode == 66)
  }

  @Test func aFileThatIsNoBundleIsBadInput() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write("no bundle at all", to: "x.bundle")
    let before = try sandbox.contentsBesideAudit()
    let result = sandbox.run("install", "x.bundle")
    #expect(result.exitCode == 65)
    #expect(result.errors.hasPrefix("policyctl: x.bundle"))
    #expect(try sandbox.contentsBesideAudit() == before)
  }

  @Test func anOutputThatCannotBeMadeExitsWith73() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.run("compile", "-o", "no/such/folder/x.bundle")
    #expect(result.exitCode == 73)
    #expect(result.errors.contains("no/such/folder"))
  }

  @Test func standardOutputThatIsFullExitsWith74() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.execute([
      "/bin/sh", "-c", "'\(Sandbox.binary)' --root '\(sandbox.root)' get org.example.Editor > /dev/full",
    ])
    #expect(result.exitCode == 74)
    #expect(result.errors == "policyctl: cannot write to standard output: No space left on device\n")
  }

  @Test func nothingInstalledIsSaid() throws {
    let sandbox = try Sandbox()
    let refresh = sandbox.run("refresh")
    #expect(refresh.exitCode == 66)
    #expect(sandbox.plain(refresh.errors).contains("Next: policyctl --root SANDBOX/root init\n"))
    let status = sandbox.run("status")
    #expect(status.exitCode == 0)
    #expect(status.output.contains("generation  none: nothing is installed here"))
    let apply = sandbox.run("apply")
    #expect(apply.exitCode == 66)
    #expect(sandbox.plain(apply.errors).contains("Next: policyctl --root SANDBOX/root init\n"))
  }

  /// What is in force is not lost to an empty folder, least of all to the standard one.
  @Test func policiesWithoutKeysAreRefusedWhereKeysAreInForce() throws {
    let sandbox = try Sandbox()
    sandbox.run("init", "--host", "lab-a-03")
    #expect(sandbox.run("apply").exitCode == 0)
    try sandbox.write(Self.conflict, to: "policies/a.yaml")
    try #require(sandbox.run("apply", "policies").exitCode == 0)
    let before = try sandbox.contentsBesideAudit()
    let result = sandbox.run("apply")
    #expect(result.exitCode == 65)
    #expect(
      sandbox.plain(result.errors).hasSuffix(
        """
        policyctl: SANDBOX/root/etc/managed-preferences/policies forces and recommends nothing, and generation 2 with 1 key \
        is in force here; nothing was changed
        Next: policyctl --root SANDBOX/root apply SANDBOX/work/policies
        Next: policyctl --root SANDBOX/root apply --allow-empty

        """),
      "\(result.errors)")
    #expect(try sandbox.contentsBesideAudit() == before)
    // Where it can't be known what is in force, neither.
    try Directory.removeFile(sandbox.root + "/var/lib/managed-preferences/forced")
    try Directory.removeTree(sandbox.root + "/var/lib/managed-preferences/generations")
    #expect(sandbox.run("apply").exitCode == 65)
    #expect(sandbox.run("apply", "--allow-empty").exitCode == 0)
    #expect(sandbox.run("get", "org.example.Editor", "AutoSaveInterval").exitCode == 1)
    let compiled = sandbox.run("compile", "-o", "empty.bundle")
    #expect(compiled.exitCode == 0)
    #expect(compiled.errors.contains("every key free"))
  }

  @Test func anOlderBundleIsRefused() throws {
    let sandbox = try Sandbox(applied: true)
    #expect(sandbox.run("compile", "-o", "old.bundle", "--serial", "5").exitCode == 0)
    let before = try sandbox.contentsBesideAudit()
    let result = sandbox.run("install", "old.bundle")
    #expect(result.exitCode == 77)
    #expect(result.errors.contains("older"))
    #expect(result.errors.hasSuffix("Next: policyctl compile DIR -o old.bundle\n"))
    // The folder of the sources is never named as a file to write.
    let applied = sandbox.run("apply", sandbox.root + "/etc/managed-preferences/policies", "--serial", "5")
    #expect(applied.exitCode == 77)
    #expect(
      sandbox.plain(applied.errors).hasSuffix(
        "Next: policyctl --root SANDBOX/root apply SANDBOX/root/etc/managed-preferences/policies\n"),
      "\(applied.errors)")
    #expect(try sandbox.contentsBesideAudit() == before)
    sandbox.run("key", "generate", "-o", "lab.key")
    sandbox.run("key", "trust", "lab.key.pub")
    sandbox.run("compile", "-o", "old.bundle", "--serial", "5", "--sign", "lab.key")
    #expect(
      sandbox.run("install", "old.bundle").errors.hasSuffix("Next: policyctl compile DIR -o old.bundle --sign KEY\n"))
  }

  @Test func theSameBundleTwiceChangesNothing() throws {
    let sandbox = try Sandbox(applied: true)
    #expect(sandbox.run("compile", "-o", "a.bundle").exitCode == 0)
    #expect(sandbox.run("install", "a.bundle").exitCode == 0)
    let before = try sandbox.contentsBesideAudit()
    let again = sandbox.run("install", "a.bundle")
    #expect(again.exitCode == 0)
    #expect(again.output.contains("nothing was changed"))
    #expect(try sandbox.contentsBesideAudit() == before)
  }
}

/// Root's verbs, run by somebody who is not root. They need root themselves to become that somebody.
@Suite(.enabled(if: geteuid() == 0)) struct PermissionTests {
  /// Runs the command as an ordinary user.
  static func runAsUser(_ sandbox: Sandbox, _ words: [String]) -> Sandbox.Result {
    sandbox.execute(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", Sandbox.binary] + words)
  }

  @Test(arguments: [
    ["init"], ["enroll", "--host", "x"], ["apply"], ["install", "x"], ["refresh"], ["uninstall"],
    ["key", "trust", "x"],
    ["key", "generate", "--local"], ["audit", "acknowledge", "--reason", "x"], ["audit", "set-aside", "--reason", "x"],
    ["audit", "prune", "--keep", "1"],
    ["audit", "erase", "--user", "nobody", "--reason", "x"],
  ])
  func rootsVerbsAskBeforeTheyBegin(_ words: [String]) throws {
    let result = try Self.runAsUser(Sandbox(), words)
    #expect(result.exitCode == 77)
    #expect(result.output == "")
    #expect(result.errors.hasSuffix("Next: sudo policyctl \(words.joined(separator: " "))\n"))
  }

  @Test func belowARootOfItsOwnAUserCountsAsRoot() throws {
    let sandbox = try Sandbox()
    for folder in [sandbox.root, sandbox.home, sandbox.work, sandbox.path] { chown(folder, 12345, 12345) }
    let initialised = Self.runAsUser(sandbox, ["--root", sandbox.root, "init", "--host", "lab-a-03"])
    #expect(initialised.exitCode == 0, "\(initialised.errors)")
    let policies = sandbox.root + "/etc/managed-preferences/policies"
    try Directory.rename(policies + "/example.yaml.sample", to: policies + "/example.yaml")
    let applied = Self.runAsUser(sandbox, ["--root", sandbox.root, "apply"])
    #expect(applied.exitCode == 0, "\(applied.errors)")
    let answer = Self.runAsUser(sandbox, ["--root", sandbox.root, "get", "org.example.Editor", "AutoSaveInterval"])
    #expect(answer.output == "30\n")
  }

  @Test func provenanceIsWithheldFromUsers() throws {
    let sandbox = try Sandbox(applied: true)
    let result = Self.runAsUser(
      sandbox, ["--root", sandbox.root, "explain", "org.example.Editor", "AutoSaveInterval", "--format", "json"])
    #expect(result.exitCode == 0, "\(result.errors)")
    let document = try JSON(result.output)
    #expect(document["provenance"].text == "withheld")
    #expect(document["value"].text == "30")
    #expect(document["forced"].text == "true")
    for entry in document["entries"].elements {
      #expect(entry["file"].isNull && entry["line"].isNull && entry["reason"].isNull)
    }
  }

  @Test func aUserCannotWriteBelowAForeignRoot() throws {
    let sandbox = try Sandbox()
    let result = Self.runAsUser(sandbox, ["--root", sandbox.root, "init"])
    #expect(result.exitCode == 77)
    #expect(result.errors.contains("Permission denied"))
  }

  @Test func withoutLibcryptoPoliciesAreReadButNotInstalled() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write("not a library", to: "libraries/libcrypto.so.3")
    let libraries = ["LD_LIBRARY_PATH": sandbox.work + "/libraries"]
    let root = ["--root", sandbox.root]
    let refused = sandbox.runBare(root + ["apply"], environment: libraries)
    #expect(refused.exitCode == 69)
    #expect(
      refused.errors
        == "OpenSSL 3 can't be loaded: \(sandbox.work)/libraries/libcrypto.so.3: file too short\n"
        + "Next: install it (on Debian: apt-get install openssl)\n")
    let answer = sandbox.runBare(root + ["get", "org.example.Editor", "AutoSaveInterval"], environment: libraries)
    #expect(answer.exitCode == 0)
    #expect(answer.errors == "")
    #expect(answer.output == sandbox.run("get", "org.example.Editor", "AutoSaveInterval").output)
  }
}
