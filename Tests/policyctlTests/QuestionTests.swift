import CommandSandbox
import LinuxFiles
import Testing

/// `get`, `explain` and `test` about other hosts, users and times, from sources, bundles and what is installed.
@Suite struct QuestionTests {
  static let exam = """
    version: 1
    kind: Profile
    id: org.example.lab.exam
    title: Exam mode
    priority: 100
    applies:
      users: {groups: [students]}
      during:
        - days: [tue]
          from: "09:00"
          to: "11:30"
          timezone: Europe/Berlin
    forced:
      org.example.Browser:
        AllowNetwork: false
    ---
    version: 1
    kind: Inventory
    unknownHosts: allow
    hosts: {groups: {lab-a: {names: ["lab-a-[01-30]"]}}}
    users: {groups: {students: {names: [root]}}}
    ---
    version: 1
    kind: Manifest
    domain: org.example.Browser
    keys:
      AllowNetwork: {type: boolean}
      Token: {type: string, secret: true}
    ---
    version: 1
    kind: Tests
    cases:
      - name: students have no network in the exam
        given: {host: lab-a-03, user: s1, groups: [students], at: "2026-12-01T09:30:00+01:00"}
        expect: {forced: {org.example.Browser: {AllowNetwork: false}}}
      - name: a wrong expectation
        given: {host: lab-a-03, user: s1, at: "2026-12-01T09:30:00+01:00"}
        expect: {forced: {org.example.Browser: {AllowNetwork: false}}}

    """

  static func examined() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.write(exam, to: "policies/exam.yaml")
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    let applied = sandbox.run("apply", "policies")
    try #require(applied.exitCode == 0, "\(applied.errors)")
    try #require(sandbox.run("compile", "policies", "-o", "lab.bundle").exitCode == 0)
    return sandbox
  }

  static let sources: [[String]] = [[], ["--policies", "policies"], ["--bundle", "lab.bundle"]]

  @Test(arguments: sources) func timeUserAndGroupsDecide(_ source: [String]) throws {
    let sandbox = try Self.examined()
    func ask(_ words: [String]) -> String {
      sandbox.runBare(["--root", sandbox.root, "get", "org.example.Browser", "AllowNetwork"] + source + words).output
    }
    let student = ["--user", "s1", "--group", "students"]
    #expect(ask(student + ["--at", "2026-12-01T09:30:00+01:00"]) == "false\n")
    #expect(ask(student + ["--at", "2026-12-01 09:30"]) == "false\n")
    #expect(ask(student + ["--at", "2026-12-01T08:59:59+01:00"]) == "")
    #expect(ask(student + ["--at", "2026-12-01T11:30:00+01:00"]) == "")
    #expect(ask(student + ["--at", "2046-12-04T09:30:00+01:00"]) == "false\n")
    #expect(ask(["--user", "s1", "--at", "2026-12-01T09:30:00+01:00"]) == "")
    #expect(ask(["--user", "root", "--at", "2026-12-01T09:30:00+01:00"]) == "false\n")
  }

  @Test func aWhatIfSaysThatItLeavesOutTheUsersFiles() throws {
    let sandbox = try Self.examined()
    try sandbox.write("{ AllowNetwork = 1; }", to: sandbox.home + "/.config/org.example.Browser.plist")
    let own = sandbox.run("explain", "org.example.Browser", "AllowNetwork", "--at", "2026-12-01T12:00:00+01:00")
    #expect(own.output.contains("application \"1\""))
    let other = sandbox.run(
      "explain", "org.example.Browser", "AllowNetwork", "--user", "s1", "--at", "2026-12-01T12:00:00+01:00")
    #expect(!other.output.contains("application \"1\""))
    #expect(other.output.contains("AllowNetwork has no value"))
    #expect(
      other.output.contains(
        "This is about another user or host: the files of the user who asks are left out.\n"), "\(other.output)")
  }

  @Test func aSecretIsNeverPrinted() throws {
    let sandbox = try Self.examined()
    try sandbox.write("{ Token = \"s3cr3t\"; }", to: sandbox.home + "/.config/org.example.Browser.plist")
    for words in [
      ["get", "org.example.Browser", "Token"], ["get", "org.example.Browser"],
      ["explain", "org.example.Browser", "Token"],
      ["get", "org.example.Browser", "--format", "json"],
      ["explain", "org.example.Browser", "Token", "--format", "json"], ["status", "--user-set"],
      ["status", "--user-set", "--format", "json"],
    ] {
      let result = sandbox.runBare(["--root", sandbox.root] + words)
      #expect(!(result.output + result.errors).contains("s3cr3t"), "\(words)")
      #expect(result.output.contains("(secret)") || result.output.contains("\"secret\": true"), "\(words)")
    }
  }

  @Test func userSetKeysOfManagedDomainsAreListed() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write(
      "{ AutoSaveInterval = 60; Zoom = 2; }", to: sandbox.home + "/.config/org.example.Editor.plist")
    let result = sandbox.run("status", "--user-set")
    #expect(result.output.contains("1 user-set key in managed domains:\n"))
    #expect(result.output.contains("  org.example.Editor  Zoom  \"2\"  ~/.config/org.example.Editor.plist\n"))
    let domain = sandbox.run("get", "org.example.Editor")
    #expect(domain.output.contains("Zoom              \"2\"      string   application  "), "\(domain.output)")
  }

  @Test func failedTestsExitWith1AndSayWhy() throws {
    let sandbox = try Self.examined()
    let result = sandbox.run("test", "policies")
    #expect(result.exitCode == 1)
    #expect(result.output.contains("a wrong expectation"))
    #expect(!result.output.contains("students have no network"))
    #expect(result.output.hasSuffix("2 tests: 1 passed, 1 failed.\n"))
    let json = try JSON(sandbox.run("test", "policies", "--format", "json").output)
    #expect(json["failed"].text == "1")
    #expect(json["tests"].elements.map { $0["passed"].text } == ["true", "false"])
  }

  @Test func aFolderWithoutTestsIsNotSilentlyGreen() throws {
    let sandbox = try Sandbox()
    try sandbox.write(RefusalTests.conflict, to: "policies/a.yaml")
    let result = sandbox.run("test", "policies")
    #expect(result.exitCode == 66)
    #expect(result.errors == "policyctl: policies has no tests\nNext: add a document of the kind Tests\n")
  }

  @Test func theSourcesAreComparedByDigestNotByTime() throws {
    let sandbox = try Sandbox(applied: true)
    #expect(sandbox.run("status").output.contains("sources     match the installed bundle\n"))
    let policy = sandbox.root + "/etc/managed-preferences/policies/example.yaml"
    let text = try sandbox.read(policy)
    try sandbox.write(text, to: policy)
    #expect(sandbox.run("status").output.contains("sources     match the installed bundle\n"))
    try sandbox.write(text + "# a comment\n", to: policy)
    #expect(sandbox.run("status").output.contains("sources     differ from the installed bundle"))
    let json = try JSON(sandbox.run("status", "--format", "json").output)
    #expect(json["sources"].text == "differ")
    #expect(json["agent"].text == "not running")
    #expect(json["agentEnd"].text == "never-ran")
  }

  /// Sources are held against what was installed from, not against a folder that was never applied.
  @Test func statusRemembersWhatWasInstalledFrom() throws {
    let sandbox = try Self.examined()
    let standard = sandbox.root + "/etc/managed-preferences/policies"
    func sources() throws -> String {
      let line = try #require(
        sandbox.plain(sandbox.run("status").output).split(separator: "\n").first { $0.hasPrefix("sources ") })
      return String(line.dropFirst(12))
    }
    #expect(try sources() == "in SANDBOX/work/policies match the installed bundle")
    try Directory.rename(standard + "/example.yaml.sample", to: standard + "/example.yaml")
    #expect(try sources() == "in SANDBOX/work/policies match the installed bundle")
    try sandbox.write(Self.exam + "# changed\n", to: "policies/exam.yaml")
    #expect(
      try sources()
        == "in SANDBOX/work/policies differ from the installed bundle: policyctl --root SANDBOX/root apply "
        + "SANDBOX/work/policies puts them in force")
    try Directory.removeFile(sandbox.work + "/policies/exam.yaml")
    #expect(try sources() == "in SANDBOX/work/policies are gone; what was installed stays in force")
    try Directory.removeTree(sandbox.work + "/policies")
    #expect(try sources() == "in SANDBOX/work/policies are gone; what was installed stays in force")
    // A bundle has no folder to apply.
    #expect(sandbox.run("compile", "-o", "new.bundle").exitCode == 0)
    try sandbox.write(sandbox.read(standard + "/example.yaml") + "# changed\n", to: standard + "/example.yaml")
    #expect(sandbox.run("install", "new.bundle").exitCode == 0)
    #expect(try sources() == "were compiled elsewhere; the bundle SANDBOX/work/new.bundle was installed")
    sandbox.run("enroll", "--host", "lab-a-04")
    #expect(sandbox.run("refresh").exitCode == 0)
    #expect(try sources() == "were compiled elsewhere; the bundle SANDBOX/work/new.bundle was installed")
    #expect(try JSON(sandbox.run("status", "--format", "json").output)["source"].text == sandbox.work + "/new.bundle")
  }

  @Test func aDamagedForcedFileIsReportedAndTheLastGoodOneAnswers() throws {
    let sandbox = try Sandbox(applied: true)
    let forced = sandbox.root + "/var/lib/managed-preferences/forced"
    var bytes = try WholeFile.read(forced).bytes
    bytes[bytes.count / 2] ^= 1
    try AtomicReplacement.write(bytes, to: forced, mode: 0o644)
    let get = sandbox.run("get", "org.example.Editor", "AutoSaveInterval")
    #expect(get.output == "30\n")
    #expect(get.errors.hasPrefix("policyctl: warning: ") && get.errors.contains("/forced: "), "\(get.errors)")
    let status = sandbox.run("status")
    #expect(status.exitCode == 1)
    #expect(status.output.contains("fault       "), "\(status.output)")
    #expect(sandbox.plain(status.output).contains("next        policyctl --root SANDBOX/root refresh\n"))
    #expect(sandbox.run("refresh").exitCode == 0)
    #expect(sandbox.run("status").exitCode == 0)
  }

  @Test func nothingReadableLocksEverything() throws {
    let sandbox = try Sandbox(applied: true)
    let state = sandbox.root + "/var/lib/managed-preferences"
    try Directory.removeFile(state + "/forced")
    try Directory.removeTree(state + "/generations")
    let result = sandbox.run("explain", "org.example.Editor", "AutoSaveInterval")
    #expect(result.output.hasPrefix("locked: the forced domain can't be read, so every key counts as forced\n"))
    let get = sandbox.run("get", "org.example.Editor", "Theme")
    #expect(get.exitCode == 69)
    #expect(get.output == "")
    #expect(get.errors.hasSuffix("only registered defaults answer\nNext: policyctl status\n"), "\(get.errors)")
    let shown = sandbox.run("status", "--format", "json")
    #expect(shown.exitCode == 1)
    let status = try JSON(shown.output)
    #expect(status["state"].text == "unavailable")
    #expect(!status["faults"].elements.isEmpty)
  }

  /// What a missing marker leaves behind is a fault, not "nothing is installed".
  @Test func aMissingMarkerIsAFault() throws {
    let sandbox = try Sandbox(applied: true)
    try Directory.removeFile(sandbox.root + "/var/lib/managed-preferences/generation")
    let status = sandbox.run("status")
    #expect(status.exitCode == 1)
    #expect(!status.output.contains("nothing is installed here"))
    #expect(
      status.output.contains("fault       \(sandbox.root)/var/lib/managed-preferences/generation"), "\(status.output)")
    #expect(sandbox.plain(status.output).contains("next        policyctl --root SANDBOX/root refresh\n"))
    #expect(sandbox.run("refresh").exitCode == 0)
    #expect(sandbox.run("status").exitCode == 0)
  }

  /// A key whose window is closed is known: nothing like "did you mean" itself.
  @Test func aKeyWithoutAValueNowIsNotCalledUnknown() throws {
    let sandbox = try Self.examined()
    let result = sandbox.run("get", "org.example.Browser", "AllowNetwork", "--at", "2026-12-01T12:00:00+01:00")
    #expect(result.exitCode == 1)
    #expect(
      sandbox.plain(result.errors) == """
        policyctl: org.example.Browser has no value for 'AllowNetwork' now: no entry of the policy for it holds
        Next: policyctl --root SANDBOX/root explain org.example.Browser AllowNetwork --at 2026-12-01T12:00:00+01:00

        """)
    let domain = sandbox.run("get", "org.example.Browser", "--at", "2026-12-01T12:00:00+01:00")
    #expect(domain.errors == "policyctl: org.example.Browser has no values now: no entry of the policy for it holds\n")
  }

  @Test func nothingInstalledIsSaidToWhoeverAsks() throws {
    let sandbox = try Sandbox()
    for words in [["get", "org.example.Browser", "K"], ["get", "org.example.Browser"]] {
      let result = sandbox.runBare(["--root", sandbox.root] + words)
      #expect(result.exitCode == 1)
      #expect(
        sandbox.plain(result.errors).hasSuffix(
          "; nothing is installed here\nNext: policyctl --root SANDBOX/root init\n"),
        "\(result.errors)")
    }
    let explained = sandbox.run("explain", "org.example.Browser", "K")
    #expect(explained.output.contains("Nothing is installed here: there is no policy to ask.\n"))
  }

  /// A misspelt name in a what-if gets no plausible answer.
  @Test(arguments: sources) func misspeltNamesAreFound(_ source: [String]) throws {
    let sandbox = try Self.examined()
    func ask(_ words: String...) -> Sandbox.Result {
      sandbox.runBare(["--root", sandbox.root, "get", "org.example.Browser", "AllowNetwork"] + source + words)
    }
    let group = ask("--group", "studnts")
    #expect(group.exitCode == 64)
    #expect(
      group.errors
        == "policyctl: 'studnts' is no user group of the inventory; did you mean 'students'?; its groups: students\n")
    #expect(
      ask("--user", "rot").errors.contains(
        "No user 'rot' is known here; the answer is for a person in no group; did you mean 'root'?\n"))
    #expect(!ask("--user", "s1", "--group", "students").errors.contains("is known here"))
    let inventory = Self.replaced("unknownHosts: allow", by: "unknownHosts: refuse", in: Self.exam)
    try sandbox.write(inventory, to: "policies/exam.yaml")
    #expect(sandbox.run("apply", "policies").exitCode == 0)
    #expect(sandbox.run("compile", "policies", "-o", "lab.bundle").exitCode == 0)
    let host = ask("--host", "lab-a-99")
    #expect(host.exitCode == 65)
    #expect(
      host.errors
        == "policyctl: host 'lab-a-99' is not in the inventory, and the inventory refuses unknown hosts; "
        + "it lists lab-a-[01-30]\n")
    #expect(ask("--host", "lab-a-07").exitCode == 1)
  }

  private static func replaced(_ old: String, by new: String, in text: String) -> String {
    DocumentationTests.replace(old, with: new, in: text)
  }

  /// An edge is told by the clock of the rule, not by that of the machine that shows it.
  @Test func theNextEdgeIsToldInTheRulesOwnZone() throws {
    let sandbox = try Sandbox()
    try sandbox.write(Self.exam, to: "policies/exam.yaml")
    let tokyo = ["TZ": "Asia/Tokyo"]
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    let applied = sandbox.runBare(["--root", sandbox.root, "apply", "policies"], environment: tokyo).output
    let status = sandbox.runBare(["--root", sandbox.root, "status"], environment: tokyo).output
    for text in [applied, status] {
      let edge = try #require(text.firstRange(of: "next edge")).upperBound
      let line = text[edge...].prefix { $0 != "\n" }
      #expect(line.contains(" 09:00 CE") || line.contains(" 11:30 CE"), "\(text)")
    }
  }

  @Test func aFileIsNoFolderOfPolicies() throws {
    let sandbox = try Self.examined()
    let result = sandbox.run("check", "policies/exam.yaml")
    #expect(result.exitCode == 66)
    #expect(
      sandbox.plain(result.errors) == """
        policyctl: policies/exam.yaml is a file; policies are read from a folder
        Next: policyctl --root SANDBOX/root check policies

        """)
    #expect(sandbox.run("get", "D", "--policies=policies/exam.yaml").errors.hasSuffix(" get D --policies=policies\n"))
  }

  static let plain = """
    version: 1
    kind: Profile
    id: org.example.lab.plain
    title: Everything
    forced:
      org.example.Plain:
        Text: "two\\nlines, ünd \\u202E turned"
        Empty: ""
        Number: -42
        Real: 2.0
        Flag: true
        Date: !!timestamp 2026-12-01T09:30:00Z
        Data: !!binary CgsM
        List: [one, two]
        Members: {a: 1, b: {c: [true]}}
      NSGlobalDomain:
        Everywhere: everywhere
        Flag: false
    recommended:
      org.example.Plain:
        Advice: recommended
    ---
    version: 1
    kind: Profile
    id: org.example.lab.more
    title: More
    priority: 5
    forced:
      org.example.Plain:
        List: [three, one]
    ---
    version: 1
    kind: Manifest
    domain: org.example.Plain
    keys:
      List: {type: array, merge: union}
      Token: {type: string, secret: true}

    """

  /// `get` has a short way for plain questions (`PlainGet`); a flag behind the verb leads past it.
  @Test(
    arguments: [
      "Text", "Empty", "Number", "Real", "Flag", "Date", "Data", "List", "Members", "Everywhere", "Advice", "Nothing",
      "-Dash", "", "--help",
    ])
  func theShortWayAnswersAsTheVerbDoes(_ key: String) throws {
    let sandbox = try Sandbox()
    try sandbox.write(Self.plain, to: "policies/plain.yaml")
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    let applied = sandbox.run("apply", "policies")
    try #require(applied.exitCode == 0, "\(applied.errors)")
    for domain in ["org.example.Plain", "NSGlobalDomain", "other", "a/b", ""] {
      let short = sandbox.runBare(["--root", sandbox.root, "get", domain, key])
      let long = sandbox.runBare(["get", "--root", sandbox.root, domain, key])
      #expect(short.exitCode == long.exitCode, "\(domain)")
      #expect(short.output == long.output, "\(domain)")
      #expect(short.errors == long.errors, "\(domain)")
    }
  }

  @Test func theShortWayLeavesFaultsToTheVerb() throws {
    let sandbox = try Self.examined()
    let path = sandbox.root + "/var/lib/managed-preferences/forced"
    var bytes = try WholeFile.read(path).bytes
    bytes[bytes.count / 2] ^= 1
    try AtomicReplacement.write(bytes, to: path, mode: 0o644)
    let short = sandbox.runBare(["--root", sandbox.root, "get", "org.example.Browser", "AllowNetwork"])
    let long = sandbox.runBare(["get", "--root", sandbox.root, "org.example.Browser", "AllowNetwork"])
    #expect(short.errors.contains("warning: \(path): "))
    #expect(short.exitCode == long.exitCode)
    #expect(short.output == long.output)
    #expect(short.errors == long.errors)
  }
}
