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
