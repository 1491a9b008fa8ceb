import CommandSandbox
import LinuxFiles
import Testing

/// From an empty root to a forced key and back, as an administrator walks it.
@Suite struct JourneyTests {
  @Test func initCreatesEnrolsAndSaysWhatIsNext() throws {
    let sandbox = try Sandbox()
    let result = sandbox.run("init", "--host", "lab-a-03")
    #expect(result.exitCode == 0)
    #expect(
      sandbox.plain(result.output) == """
        Created SANDBOX/root/etc/managed-preferences and an empty generation 0.
        Enrolled as lab-a-03.
        Next: write a profile in SANDBOX/root/etc/managed-preferences/policies (rename example.yaml.sample to start \
        from it), then: policyctl --root SANDBOX/root apply

        """)
    let again = sandbox.run("init")
    #expect(again.exitCode == 0)
    #expect(again.output.contains("Enrolled as lab-a-03 before; that stays.\n"))
    let other = sandbox.run("init", "--host", "lab-a-04")
    #expect(
      sandbox.plain(other.output).contains(
        "The name lab-a-04 was not taken; it would be by: policyctl --root SANDBOX/root enroll --host lab-a-04\n"))
  }

  @Test func anEmptyGenerationForcesNothing() throws {
    let sandbox = try Sandbox()
    sandbox.run("init", "--host", "lab-a-03")
    let result = sandbox.run("get", "org.example.Editor", "AutoSaveInterval")
    #expect(result.exitCode == 1)
    #expect(result.output == "")
    let status = sandbox.run("status")
    #expect(status.exitCode == 0, "\(status.errors)")
    #expect(status.output.contains("generation  0"))
    #expect(status.output.contains("faults      none"))
  }

  @Test func applyTellsWhatIsInForce() throws {
    let sandbox = try Sandbox()
    sandbox.run("init", "--host", "lab-a-03")
    let policies = sandbox.root + "/etc/managed-preferences/policies"
    try Directory.rename(policies + "/example.yaml.sample", to: policies + "/example.yaml")
    let result = sandbox.run("apply")
    #expect(result.exitCode == 0)
    #expect(result.errors == "")
    #expect(
      result.output == """
        Checked 1 file: 1 profile, 1 manifest, 2 tests.
        Installed generation 1 for lab-a-03: 3 forced keys in 2 domains, 1 recommended.

        """)
    let again = sandbox.run("apply")
    #expect(again.exitCode == 0, "\(again.errors)")
  }

  @Test func getPrintsBareValuesAndExitsWith1WithoutOne() throws {
    let sandbox = try Sandbox(applied: true)
    #expect(sandbox.run("get", "org.example.Editor", "AutoSaveInterval").output == "30\n")
    #expect(sandbox.run("get", "org.example.Editor", "Theme").output == "light\n")
    #expect(sandbox.run("get", "org.example.Editor", "AppleLanguages").output == "[\"en\"]\n")
    let missing = sandbox.run("get", "org.example.Editor", "AutoSaveIntervall")
    #expect(missing.exitCode == 1)
    #expect(missing.output == "")
    #expect(
      missing.errors
        == "policyctl: org.example.Editor has no value for 'AutoSaveIntervall'; did you mean 'AutoSaveInterval'?\n")
    let unknown = sandbox.run("get", "org.example.Editr")
    #expect(unknown.output.contains("AppleLanguages"))
  }

  @Test func getAsJSONIsTheDocumentedForm() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.run("get", "org.example.Editor", "AutoSaveInterval", "--format", "json")
    #expect(
      result.output == """
        {
          "domain": "org.example.Editor",
          "values": {
            "AutoSaveInterval": {
              "value": 30,
              "type": "integer",
              "layer": "forced",
              "forced": true,
              "forcedBy": [
                {
                  "profile": "org.example.lab.base",
                  "title": "Baseline",
                  "generation": 1
                }
              ]
            }
          }
        }

        """)
    let none = sandbox.run("get", "org.example.Editor", "Nothing", "--format", "json")
    #expect(none.exitCode == 1)
    #expect(try JSON(none.output)["values"].names == [])
  }

  @Test func explainShowsWinnersAndLosers() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write(
      "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>AutoSaveInterval</key><integer>60</integer></dict></plist>",
      to: sandbox.home + "/.config/org.example.Editor.plist")
    let result = sandbox.run("explain", "org.example.Editor", "AutoSaveInterval")
    #expect(result.exitCode == 0)
    #expect(
      result.output == """
        30  (integer)  forced by "Baseline" (org.example.lab.base), generation 1

          rank  profile                         entry      where               holds  why
            10  org.example.lab.base, override  forced 99  example.yaml:22:27  no     host lab-a-07, this is lab-a-03
            10  org.example.lab.base            forced 30  example.yaml:10:23  yes    ● decides
          example.yaml:22:27: reason: projector machine; owner: lab-admins
          other layers: application 60 (~/.config/org.example.Editor.plist), global —, registration —

        """)
  }

  @Test func explainAsJSONCarriesEveryEntryAndLayer() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.run("explain", "org.example.Editor", "AutoSaveInterval", "--format", "json")
    let document = try JSON(result.output)
    #expect(
      document.names == [
        "context", "domain", "entries", "forced", "forcedBy", "key", "layer", "layers", "notes", "roaming", "type",
        "value",
      ])
    #expect(document["value"].text == "30")
    #expect(document["layer"].text == "forced")
    #expect(document["context"]["host"].text == "lab-a-03")
    #expect(document["context"]["source"].text == "installed")
    let entries = document["entries"].elements
    #expect(entries.count == 2)
    #expect(
      entries[0].names == [
        "action", "column", "condition", "decides", "domain", "file", "holds", "line", "override", "owner", "priority",
        "profile", "reason", "section", "ticket", "title", "value", "whyNot",
      ])
    #expect(entries[0]["reason"].text == "projector machine")
    #expect(entries[0]["whyNot"].text == "host lab-a-07, this is lab-a-03")
    #expect(entries[1]["decides"].text == "true")
    #expect(entries[1]["line"].text == "10")
  }

  @Test func aHostWithAnOverrideAnswersOtherwise() throws {
    let sandbox = try Sandbox(applied: true)
    #expect(sandbox.run("get", "org.example.Editor", "AutoSaveInterval", "--host", "lab-a-07").output == "99\n")
    let enrolled = sandbox.run("enroll", "--host", "lab-a-07")
    #expect(
      sandbox.plain(enrolled.output) == """
        Enrolled as lab-a-07, before as lab-a-03.
        Next: policyctl --root SANDBOX/root refresh
        What is in force was made for lab-a-03; refresh takes what the same bundle has for lab-a-07.

        """)
    // What counts is what is installed, not the name before.
    #expect(
      sandbox.run("enroll", "--host", "lab-a-03").output
        == "Enrolled as lab-a-03, before as lab-a-07.\nWhat is in force was made for lab-a-03.\n")
    sandbox.run("enroll", "--host", "lab-a-09")
    #expect(sandbox.run("enroll", "--host", "lab-a-07").output.contains("was made for lab-a-03; refresh takes"))
    let applied = sandbox.run("refresh")
    #expect(applied.output.contains("for lab-a-07"), "\(applied.errors)")
    #expect(sandbox.run("get", "org.example.Editor", "AutoSaveInterval").output == "99\n")
    #expect(sandbox.run("get", "org.example.Editor", "AutoSaveInterval", "--host", "lab-a-03").output == "30\n")
  }

  @Test func aReleasedKeyGivesTheUsersValueBack() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write(
      "{ AutoSaveInterval = 60; }", to: sandbox.home + "/.config/org.example.Editor.plist")
    let policy = sandbox.root + "/etc/managed-preferences/policies/example.yaml"
    try Directory.removeFile(policy)
    let applied = sandbox.run("apply", "--allow-empty")
    #expect(applied.exitCode == 0, "\(applied.errors)")
    #expect(sandbox.run("get", "org.example.Editor", "AutoSaveInterval").output == "60\n")
  }

  @Test func generationsAreListedNewestFirst() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.run("generations")
    #expect(result.exitCode == 0)
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[0].hasPrefix("generation  bundle"))
    #expect(lines[1].contains("lab-a-03") && lines[1].hasSuffix("in use"))
    let json = try JSON(sandbox.run("generations", "--format", "json").output)
    #expect(json["generations"].elements.count == 2)
  }

  @Test func uninstallGivesTheHostBackAsItWas() throws {
    let sandbox = try Sandbox()
    try Directory.createAll(sandbox.root + "/etc")
    try sandbox.write("kept", to: sandbox.root + "/etc/other")
    try sandbox.write("{ A = 1; }", to: sandbox.home + "/.config/org.example.Editor.plist")
    let before = try sandbox.contents(of: sandbox.path)
    sandbox.run("init", "--host", "lab-a-03")
    let policies = sandbox.root + "/etc/managed-preferences/policies"
    try Directory.rename(policies + "/example.yaml.sample", to: policies + "/example.yaml")
    sandbox.run("apply")
    sandbox.run("refresh", "--install-timer")
    try Directory.removeFile(policies + "/example.yaml")
    let result = sandbox.run("uninstall")
    #expect(result.exitCode == 0, "\(result.errors)")
    let after = try sandbox.contents(of: sandbox.path)
    let ignored = { (name: String) in
      !name.hasSuffix("/.stdout") && !name.hasSuffix("/.stderr") && !Sandbox.isAudit(name)
    }
    #expect(after.filter { ignored($0.key) } == before.filter { ignored($0.key) })
    // The audit log stays, with its anchor, and is taken into use again.
    let log = sandbox.root + "/var/log/managed-preferences"
    #expect(result.output.contains("Kept \(log): the audit log. Remove it when nobody needs it any more.\n"))
    #expect(try Directory.names(in: log) == ["anchor", "audit-000000000001.jsonl", "lock"])
    #expect(sandbox.run("audit", "verify").exitCode == 0)
    let again = sandbox.run("uninstall")
    #expect(again.exitCode == 66)
    #expect(again.errors.contains("this host is not set up for managed preferences"))
    sandbox.run("init", "--host", "lab-a-03")
    let verdict = sandbox.run("audit", "verify")
    #expect(verdict.exitCode == 0, "\(verdict.output)")
    #expect(try Directory.names(in: log) == ["audit-000000000001.jsonl", "lock"])
  }
}
