import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// What root's verbs record, and the verbs of the audit log.
@Suite struct AuditTests {
  static func kinds(_ sandbox: Sandbox) throws -> [String] {
    try JSON(sandbox.run("audit", "show", "--format", "json").output)["records"].elements.map { $0["kind"].text }
  }

  static func log(_ sandbox: Sandbox) -> String { sandbox.root + "/var/log/managed-preferences" }

  @Test func rootsVerbsPutWhatTheyDoOnRecord() throws {
    let sandbox = try Sandbox(applied: true)
    sandbox.run("apply")
    sandbox.run("key", "generate", "--local")
    sandbox.run("enroll", "--host", "lab-a-04")
    sandbox.run("refresh")
    try sandbox.write("version: 1\nkind: Profile\nid: [", to: "bad/bad.yaml")
    #expect(sandbox.run("apply", "bad").exitCode == 65)
    #expect(
      try Self.kinds(sandbox) == [
        "audit.began", "host.enrolled", "policy.installed", "key.trusted", "host.enrolled", "policy.refused",
        "policy.refused",
      ])
    let records = try JSON(sandbox.run("audit", "show", "--format", "json").output)["records"].elements
    #expect(records[2]["fields"]["generation"].text == "1")
    #expect(records[2]["fields"]["previous"].text == "0")
    #expect(records[2]["attested"]["uid"].text == "\(geteuid())")
    #expect(records[4]["fields"]["from"].text == "lab-a-03")
    #expect(records[4]["fields"]["to"].text == "lab-a-04")
    #expect(records[6]["fields"]["reason"].text == "policies")
    #expect(sandbox.run("audit", "verify").exitCode == 0)
  }

  /// A key whose trust can't be put on record is not trusted.
  @Test func aLogThatTakesNothingKeepsAKeyFromBeingTrusted() throws {
    let sandbox = try Sandbox(applied: true)
    #expect(sandbox.run("key", "generate", "-o", "lab.key").exitCode == 0)
    let log = Self.log(sandbox)
    chmod(log, 0o777)
    let before = try sandbox.contents(of: log)
    for words in [["key", "trust", "lab.key.pub"], ["key", "generate", "--local"]] {
      let result = sandbox.execute([Sandbox.binary, "--root", sandbox.root] + words)
      #expect(result.exitCode == 74)
      #expect(
        result.errors.hasSuffix(
          "policyctl: nothing was changed, since the audit log can't tell of it: \(log): others may write it (mode 777)\n"
        ))
      #expect(sandbox.run("key", "list").output == "No key is trusted: bundles without a signature are accepted.\n")
    }
    #expect(try sandbox.contents(of: log) == before)
    chmod(log, 0o750)
    #expect(sandbox.run("key", "trust", "lab.key.pub").exitCode == 0)
    // Again: nothing changes, so nothing is on record.
    #expect(sandbox.run("key", "trust", "lab.key.pub").exitCode == 0)
    #expect(sandbox.run("key", "generate", "--local").exitCode == 0)
    let trusted = try JSON(sandbox.run("audit", "show", "--format", "json", "--kind", "key").output)["records"].elements
    #expect(trusted.map { $0["fields"]["name"].text } == ["lab.key", "local"])
  }

  /// Every refusal of root's verbs says what and why in a word, and nothing of what was refused.
  @Test func whatIsRefusedIsOnRecord() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write("secret-of-a-bundle", to: "no.bundle")
    try Directory.createAll(sandbox.work + "/empty")
    sandbox.run("key", "generate", "-o", "lab.key")
    sandbox.run("key", "generate", "-o", "other.key")
    for (words, exit) in [
      (["install", "missing.bundle"], 66), (["install", "no.bundle"], 65), (["apply", "missing"], 66),
      (["apply", "empty"], 65), (["key", "trust", "missing.pub"], 66), (["key", "trust", "no.bundle"], 65),
      (["key", "trust", "lab.key"], 65), (["key", "trust", "lab.key.pub"], 0),
      (
        ["compile", sandbox.root + "/etc/managed-preferences/policies", "-o", "other.bundle", "--sign", "other.key"], 0
      ),
      (["install", "other.bundle"], 77), (["key", "generate", "--local"], 0), (["key", "generate", "--local"], 73),
    ] {
      let result = sandbox.execute([Sandbox.binary, "--root", sandbox.root] + words)
      #expect(result.exitCode == Int32(exit), "\(words): \(result.errors)")
    }
    let output = sandbox.run("audit", "show", "--format", "json", "--kind", "policy.refused").output
    let fields = try JSON(output)["records"].elements.map { $0["fields"] }
    #expect(
      fields.map { "\($0["verb"].text) \($0["path"].text) \($0["exit"].text) \($0["reason"].text)" } == [
        "install missing.bundle 66 reading", "install no.bundle 65 damaged-bundle", "apply missing 66 reading",
        "apply empty 65 empty", "key trust missing.pub 66 reading", "key trust no.bundle 65 malformed-key",
        "key trust lab.key 65 private-key", "install other.bundle 77 unknown-signer",
        "key generate \(sandbox.root)/etc/managed-preferences/trusted-keys 73 key-exists",
      ])
    #expect(!output.contains("secret-of-a-bundle"))
    #expect(sandbox.run("audit", "verify").exitCode == 0)
  }

  @Test func aNameThatNobodyKnowsIsOnRecord() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write(
      """
      version: 1
      kind: Profile
      id: org.example.who
      title: Who
      forced:
        org.example.Editor: {A: 1}
      applies: {users: {names: [nobody-knows-this-one]}}

      """, to: "who/who.yaml")
    #expect(sandbox.run("apply", "who").exitCode == 69)
    #expect(sandbox.run("apply", "who", "--allow-unresolved").exitCode == 0)
    let records = try JSON(sandbox.run("audit", "show", "--format", "json", "--kind", "identity").output)["records"]
      .elements
    #expect(records.map { $0["fields"]["accepted"].text } == ["false", "true"])
    #expect(records[0]["fields"]["names"].elements.map(\.text) == ["nobody-knows-this-one"])
  }

  @Test func aLogThatTakesNothingStopsAnInstallation() throws {
    let sandbox = try Sandbox(applied: true)
    let log = Self.log(sandbox)
    try sandbox.write(
      "version: 1\nkind: Profile\nid: org.example.n\ntitle: N\nforced:\n  org.example.Editor: {A: 1}\n",
      to: "new/n.yaml")
    // A folder that others may write is no place for evidence.
    chmod(log, 0o777)
    let before = try sandbox.contents(of: sandbox.root)
    let result = sandbox.run("apply", "new")
    #expect(result.exitCode == 74)
    #expect(
      result.errors
        == "policyctl: nothing was changed, since the audit log can't tell of it: \(log): others may write it (mode 777)\n"
    )
    #expect(try sandbox.contents(of: sandbox.root) == before)
    #expect(sandbox.run("get", "org.example.Editor", "A").exitCode == 1)
    chmod(log, 0o750)
    #expect(sandbox.run("apply", "new").exitCode == 0)
    #expect(sandbox.run("get", "org.example.Editor", "A").output == "1\n")
  }

  @Test func verifyTellsTheThreeWaysInWhichALogIsNotSound() throws {
    let sandbox = try Sandbox(applied: true)
    let log = Self.log(sandbox)
    let segment = log + "/audit-000000000001.jsonl"
    let head = sandbox.run("audit", "head").output
    #expect(head.hasPrefix("audit-head host=lab-a-03 log="))
    let sound = sandbox.run("audit", "verify", "--against", head)
    #expect(sound.exitCode == 0)
    #expect(
      sound.output.hasPrefix("Sound: 3 records in 1 segment, as they were written, as far as this host can tell.\n"))
    #expect(sound.output.contains("note: record 3 is the one that the head has that was kept\n"))

    let text = try sandbox.read(segment)
    try AtomicReplacement.write(
      Array(text.replacing("host.enrolled", with: "host.enrollec").utf8), to: segment, mode: 0o640)
    let tampered = sandbox.run("audit", "verify")
    #expect(tampered.exitCode == 1)
    #expect(
      tampered.output == """
        \(segment):2: record 2: the record was changed: its digest is not the one that record 3 has
        Tampered with: 3 records in 1 segment; see above.

        """)
    try AtomicReplacement.write(Array(text.utf8), to: segment, mode: 0o640)
    try Directory.removeFile(sandbox.root + "/var/lib/managed-preferences/audit-anchor")
    let incomplete = sandbox.run("audit", "verify")
    #expect(incomplete.exitCode == 66)
    #expect(
      incomplete.output == """
        \(log): no anchor: completeness unknown
        Incomplete: 3 records in 1 segment; what is there is sound, but it may not be all.

        """)
    try Directory.removeFile(segment)
    #expect(sandbox.run("audit", "verify").exitCode == 66)
    #expect(sandbox.run("audit", "head").exitCode == 66)
    #expect(sandbox.run("audit", "show").exitCode == 66)
  }

  @Test func verifySaysWhereItCannotTell() throws {
    let sandbox = try Sandbox(applied: true)
    let segment = Self.log(sandbox) + "/audit-000000000001.jsonl"
    chmod(sandbox.root + "/var/lib/managed-preferences/audit-anchor", 0o666)
    let anchor = sandbox.run("audit", "verify")
    #expect(anchor.exitCode == 69)
    #expect(
      anchor.output == """
        \(Self.log(sandbox)): the anchor can't be read: \(sandbox.root)/var/lib/managed-preferences/audit-anchor: others may write it (mode 666)
        Undecided: 3 records in 1 segment were read; the rest can't be.

        """)
    chmod(sandbox.root + "/var/lib/managed-preferences/audit-anchor", 0o600)
    chmod(segment, 0o666)
    let verdict = sandbox.run("audit", "verify")
    #expect(verdict.exitCode == 69)
    #expect(
      verdict.output.hasPrefix(
        "\(segment): it can't be read: \(segment): others may write it (mode 666)\n"))
  }

  @Test func hostileTextIsShownEscaped() throws {
    let sandbox = try Sandbox(applied: true)
    let name = "x\n     9  2026-11-30T07:02:11Z  policy.unforced  root\u{1b}[2J\u{202e}"
    #expect(sandbox.run("apply", name).exitCode == 66)
    try Directory.createAll(sandbox.work + "/" + name)
    sandbox.run("apply", name, "--allow-empty")
    let result = sandbox.run("audit", "show")
    #expect(result.exitCode == 0)
    #expect(result.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0 != "\u{202e}" })
    #expect(!result.output.contains("\n     9  2026"))
    #expect(sandbox.run("audit", "verify").exitCode == 0)
  }

  @Test(arguments: ["json", "csv", "html"]) func anExportHoldsEveryRecord(form: String) throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.run("audit", "export", "--format", form, "-o", "out")
    #expect(result.output == "Wrote 3 records into out.\n")
    #expect(result.exitCode == 0)
    let text = try sandbox.read("out")
    let lines = try sandbox.read(Self.log(sandbox) + "/audit-000000000001.jsonl").split(separator: "\n")
    switch form {
    case "json":
      let document = try JSON(text)
      #expect(document["verdict"].text == "sound")
      #expect(document["lines"].elements.count == 3)
      for line in lines { #expect(text.contains("\n\(line)")) }
    case "csv":
      #expect(text.split(separator: "\r\n").count == 4)
      #expect(text.hasPrefix("seq,time,kind,host,clock,attested uid,"))
    default:
      #expect(text.contains("<strong class=\"good\">sound</strong>"))
      for line in lines { #expect(text.contains(line.replacing("\"", with: "&quot;"))) }
      // One file: nothing is fetched.
      for word in ["http://", "https://", "src=", "@import", "url("] { #expect(!text.contains(word), "\(word)") }
    }
  }
}

/// Other users and the log. They need root themselves to become that somebody.
@Suite(.enabled(if: geteuid() == 0)) struct AuditPermissionTests {
  @Test func anotherUserCanNeitherReadNorChangeTheLog() throws {
    let sandbox = try Sandbox(applied: true)
    let log = AuditTests.log(sandbox)
    let before = try sandbox.contents(of: log)
    func asUser(_ words: String...) -> Sandbox.Result {
      sandbox.execute(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"] + words)
    }
    let anchor = sandbox.root + "/var/lib/managed-preferences/audit-anchor"
    for path in [log + "/audit-000000000001.jsonl", anchor] {
      #expect(asUser("cat", path).exitCode != 0)
      #expect(asUser("truncate", "-s", "0", path).exitCode != 0)
      #expect(asUser("rm", "-f", path).exitCode != 0)
      #expect(asUser("mv", path, sandbox.work).exitCode != 0)
    }
    #expect(asUser("touch", log + "/audit-000000000009.jsonl").exitCode != 0)
    let verdict = asUser(Sandbox.binary, "--root", sandbox.root, "audit", "verify")
    #expect(verdict.exitCode == 69)
    let shown = asUser(Sandbox.binary, "--root", sandbox.root, "audit", "show")
    #expect(shown.exitCode == 77)
    #expect(try sandbox.contents(of: log) == before)
    #expect(sandbox.run("audit", "verify").exitCode == 0)
  }
}
