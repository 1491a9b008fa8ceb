import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// `policyctl report`, through the built command: what it prints, whole, and what it exits with.
@Suite struct ReportTests {
  static let baseline = """
    version: 1
    kind: Profile
    id: org.example.base
    title: Baseline
    forced:
      org.example.Browser: {Telemetry: false, Timeout: 90}
    recommended:
      org.example.Browser: {Home: "https://start/"}
    controls:
      - id: T-1
        title: No telemetry
        severity: high
        references: [CIS 2.3.1]
        expect: {org.example.Browser: {Telemetry: false}}
      - id: T-2
        title: A short timeout, and the home page
        severity: critical
        expect: {org.example.Browser: {Timeout: {max: 60}, Home: "https://start/"}}
      - id: T-3
        title: No downloads
        expect: {org.example.Browser: {Downloads: false}}
    exemptions:
      - control: T-3
        hosts: {names: [lab-a-03]}
        reason: the librarian needs them
        owner: j.doe
        expires: 2027-01-31T00:00:00Z
      - control: T-2
        hosts: {names: [lab-a-03]}
        reason: until the new browser
        owner: j.doe
        expires: 2026-01-31T00:00:00Z
    ---
    version: 1
    kind: Profile
    id: org.example.exam
    title: Exam
    applies: {during: [{from: "09:00", to: "11:00", timezone: Europe/Berlin}]}
    controls:
      - {id: E-1, title: No network, expect: {org.example.Browser: {Network: false}}}

    """
  static let moment = "2026-12-01T12:00:00Z"

  static func installed(_ policies: [String: String] = ["base.yaml": baseline]) throws -> Sandbox {
    let sandbox = try Sandbox()
    for (name, text) in policies { try sandbox.write(text, to: "policies/" + name) }
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    let applied = sandbox.run("apply", "policies", "--serial", "1764500000000")
    try #require(applied.exitCode == 0, "\(applied.errors)")
    return sandbox
  }

  /// Who runs the tests, as a report names her.
  static let caller: (name: String, id: UInt32) = {
    let id = ProcessIdentity.realUserID
    return (((try? UserDatabase.user(id: id)) ?? nil)?.name ?? String(id), id)
  }()

  static func report(_ sandbox: Sandbox, _ words: String...) -> Sandbox.Result {
    sandbox.execute([Sandbox.binary, "--root", sandbox.root, "report", "--at", moment] + words)
  }

  /// The result of each control, and its percentage.
  static func results(_ json: JSON) -> [String] {
    json["controls"].elements.map { "\($0["id"].text) \($0["result"].text)" } + [json["percentage"].text]
  }

  @Test func theTextBeginsWithTheVerdictAndEndsWithTheEvidence() throws {
    let sandbox = try Self.installed()
    let result = Self.report(sandbox)
    #expect(result.exitCode == 1)
    #expect(result.errors == "")
    let digest = try JSON(Self.report(sandbox, "--format", "json").output)["sourceDigest"].text
    #expect(
      sandbox.plain(result.output) == """
        fail: lab-a-03, for \(Self.caller.name) (user \(Self.caller.id)): 50.0 % (1 pass, 1 fail, 1 exempt, 1 not applicable)
        policy     generation 1, bundle 1764500000000, sources \(digest.prefix(16))…
        sources    the sources in SANDBOX/work/policies match the installed bundle
        evaluated  2026-12-01T12:00:00Z

        failed  T-2 (critical): A short timeout, and the home page
                org.example.Browser Timeout: expected max 60, is 90 (forced); it is forced to another value
                org.example.Browser Home: expected "https://start/", is "https://start/" (recommended); the value is right, but not forced: the user can change it
        Next: policyctl --root SANDBOX/root explain org.example.Browser Timeout --at 2026-12-01T12:00:00Z

        exempt  T-3 until 2027-01-31T00:00:00Z: the librarian needs them (j.doe)
        not exempt  T-2: expired 2026-01-31T00:00:00Z: until the new browser (j.doe)

        control  result          key                                     expected          value             layer        forced by
        T-1      pass            org.example.Browser Telemetry           false             false             forced       org.example.base
        T-2      fail            org.example.Browser Timeout             max 60            90                forced       org.example.base
                                 org.example.Browser Home                "https://start/"  "https://start/"  recommended  —
        T-3      exempt          org.example.Browser Downloads           false             —                 —            —
        E-1      not applicable  its profile does not hold at this time

        """)
  }

  @Test func theJSONHasTheAgreedMembersFirstAndInOrder() throws {
    let sandbox = try Self.installed(["base.yaml": Self.baseline])
    let result = Self.report(sandbox, "--format", "json")
    #expect(result.exitCode == 1)
    let output = sandbox.plain(result.output)
    let json = try JSON(output)
    #expect(
      output.hasPrefix(
        """
        {
          "host": "lab-a-03",
          "user": "\(Self.caller.name)",
          "generation": 1,
          "percentage": 50.0,
          "controls": [
            {
              "id": "T-1",
              "title": "No telemetry",
              "severity": "high",
              "result": "pass",
              "findings": [
                {
                  "domain": "org.example.Browser",
                  "key": "Telemetry",
                  "expected": false,
                  "value": false,
                  "layer": "forced",
                  "forced": true,
                  "forcedBy": [
                    {
                      "profile": "org.example.base",
                      "title": "Baseline",
                      "generation": 1
                    }
                  ],
                  "type": "boolean",
                  "problem": null,
                  "message": null,
                  "foundIn": "org.example.Browser",
                  "path": null
                }
              ],
              "references": [
                "CIS 2.3.1"
              ],
              "profile": {
                "profile": "org.example.base",
                "title": "Baseline"
              },
              "exemption": null,
              "reason": null
            },
            {
              "id": "T-2",

        """), "\(output)")
    #expect(
      output.hasSuffix(
        """
          "verdict": "fail",
          "counts": {
            "pass": 1,
            "fail": 1,
            "exempt": 1,
            "not-applicable": 1,
            "error": 0
          },
          "unusable": 0,
          "userID": \(Self.caller.id),
          "source": "installed",
          "serial": 1764500000000,
          "sourceDigest": "\(json["sourceDigest"].text)",
          "sources": {
            "state": "match",
            "text": "the sources in SANDBOX/work/policies match the installed bundle",
            "mistakes": []
          },
          "at": "2026-12-01T12:00:00Z",
          "made": "\(json["made"].text)",
          "idleExemptions": [
            {
              "control": "T-2",
              "why": "expired",
              "reason": "until the new browser",
              "owner": "j.doe",
              "expires": "2026-01-31T00:00:00Z"
            }
          ],
          "faults": [],
          "notes": []
        }

        """), "\(output)")
    #expect(json["sourceDigest"].text.utf8.count == 64)
  }
}

/// Reports of other users and policies, files, and fleets.
@Suite struct ReportFormTests {
  @Test func policiesThatAreNotInstalledAnswerForAnyHostAndUser() throws {
    let sandbox = try Sandbox()
    try sandbox.write(ReportTests.baseline, to: "policies/base.yaml")
    let words = ["--policies", "policies", "--host", "lab-b-01", "--user", "s1", "--at", ReportTests.moment]
    let result = sandbox.runBare(["report", "--format", "json"] + words)
    #expect(result.exitCode == 1)
    let report = try JSON(result.output)
    #expect(
      ReportTests.results(report) == ["T-1 pass", "T-2 fail", "T-3 fail", "E-1 not-applicable", "33.333333333333336"])
    #expect(report["host"].text == "lab-b-01" && report["user"].text == "s1" && report["generation"].isNull)
    #expect(report["source"].text == "policies" && report["sources"]["state"].text == "not-asked")
  }

  @Test func aFileIsItsOwnersAlone() throws {
    let sandbox = try ReportTests.installed()
    for form in ["text", "json", "junit", "html", "csv"] {
      let result = ReportTests.report(sandbox, "--format", form, "-o", "report." + form)
      #expect(result.exitCode == 1)
      #expect(
        result.output
          == "fail: lab-a-03, for \(ReportTests.caller.name) (user \(ReportTests.caller.id)): 50.0 % (1 pass, 1 fail, 1 exempt, 1 not applicable)\n"
      )
      #expect(try FileMetadata.of(sandbox.work + "/report." + form).permissions == 0o600)
      // All but the line that tells when it was made.
      func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n").filter { !$0.lowercased().contains("made") }
      }
      #expect(
        lines(try sandbox.read("report." + form)) == lines(ReportTests.report(sandbox, "--format", form).output))
    }
  }

  @Test func everyPersonHasASection() throws {
    let sandbox = try ReportTests.installed()
    let report = try JSON(ReportTests.report(sandbox, "--all-users", "--format", "json").output)
    let persons = UserDatabase.accounts().filter { $0.userID >= 1000 && $0.userID != 65534 }.sorted {
      $0.userID < $1.userID
    }
    #expect(report["reports"].elements.map { $0["user"].text } == persons.map(\.name))
    for section in report["reports"].elements { #expect(section["host"].text == "lab-a-03") }
  }

  @Test func aFleetIsHeldAgainstItsInventory() throws {
    let sandbox = try ReportTests.installed(["a.yaml": ReportFaultTests.passing])
    try Directory.create(sandbox.work + "/reports")
    #expect(ReportTests.report(sandbox, "--format", "json", "-o", "reports/a.json").exitCode == 0)
    try sandbox.write("notes", to: "reports/README")
    try sandbox.write("{", to: "reports/z.json")
    try sandbox.write(
      "version: 1\nkind: Inventory\nhosts: {groups: {a: {names: [\"LAB-A-[03-05]\", lab-a-03, \"x-*\"]}}}\n",
      to: "hosts.yaml")
    let result = sandbox.runBare(["report", "--collect", "reports", "--expect", "hosts.yaml"])
    #expect(result.exitCode == 1)
    #expect(result.errors == "policyctl: reports/README is passed over: it is no .json file\n")
    #expect(
      result.output == """
        incomplete: 1 of 3 hosts reported: 100.0 % (1 pass)

        missing  2: lab-a-04, lab-a-05
        unreadable  1: z.json (the document ends too early (byte 1))
        note  The inventory lists 'x-*', which names no hosts one by one: who is missing of those is not known.
        note  The inventory lists 'lab-a-03' more than once; it counts as one host.

        """)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let words: [String]
    let exitCode: Int32
    let errors: String
    var testDescription: String { words.joined(separator: " ") }
  }

  static let rows = [
    Row(
      words: ["--all-users", "--user", "x"], exitCode: 64,
      errors: "policyctl report: --all-users and --user exclude each other\nNext: policyctl report --help\n"),
    Row(
      words: ["--collect", ".", "--at", "2026-12-01T12:00:00Z"], exitCode: 64,
      errors: "policyctl report: --collect and --at exclude each other\nNext: policyctl report --help\n"),
    Row(
      words: ["--expect", "x"], exitCode: 64,
      errors: "policyctl report: --collect DIR is missing\nNext: policyctl report --help\n"),
    Row(
      words: ["--collect", "."], exitCode: 66,
      errors: "policyctl: . has no reports (*.json)\nNext: sudo policyctl report --format json -o HOST.json\n"),
    Row(
      words: ["--collect", "gone"], exitCode: 66, errors: "policyctl: cannot list gone: No such file or directory\n"),
    Row(
      words: ["--format", "pdf"], exitCode: 64,
      errors:
        "policyctl report: --format is text or json or junit or html or csv, not 'pdf'\nNext: policyctl report --help\n"
    ),
  ]

  @Test(arguments: rows) func whatCantBeAskedIsSaid(_ row: Row) throws {
    let result = try Sandbox().runBare(["report"] + row.words)
    #expect(result.exitCode == row.exitCode)
    #expect(result.errors == row.errors)
  }
}
