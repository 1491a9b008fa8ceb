import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// The report halves of faults that products of this kind have had, through the built command; each names its case.
@Suite struct ReportCaseTests {
  private static let moment = ["--at", ReportTests.moment]

  private func json(_ sandbox: Sandbox, _ words: String...) throws -> JSON {
    try JSON(
      sandbox.execute([Sandbox.binary, "--root", sandbox.root, "report", "--format", "json"] + Self.moment + words)
        .output)
  }

  /// P02: that the update was refused is on record, with what stays in force.
  @Test func aRefusedUpdateIsOnRecordAndInTheReport() throws {
    let sandbox = try ReportTests.installed(["a.yaml": ReportFaultTests.passing])
    try sandbox.write(ReportFaultTests.passing.replacing("title: a", with: "title a"), to: "policies/a.yaml")
    #expect(sandbox.run("apply", "policies").exitCode == 65)
    #expect(try AuditTests.kinds(sandbox).last == "policy.refused")
    let report = try json(sandbox)
    #expect(report["generation"].text == "1")
    #expect(report["verdict"].text == "fail")
    usleep(1_100_000)
    let history = try JSON(
      sandbox.run("report", "--from", "2025-01-01T00:00:00Z", "--format", "json").output)
    #expect(history["events"].elements.map(\.["text"].text).last == "an update was refused (policies)")
    #expect(history["generations"].elements.last?["generation"].text == "1")
  }

  /// P09: forced is what takes effect here: also where the user has the same value, never an entry of another host.
  @Test func forcedIsWhatTakesEffectHere() throws {
    let sandbox = try ReportTests.installed([
      "a.yaml": FaultCaseTests.profile(
        "a",
        """
        forced: {org.example.D: {motion: true}}
        overrides:
          - {hosts: {names: [lab-b-01]}, reason: why, forced: {org.example.D: {idle: 60}}}
        controls:
          - {id: M, title: Motion, expect: {org.example.D: {motion: true}}}
          - {id: I, title: Idle, expect: {org.example.D: {idle: 60}}}

        """)
    ])
    try sandbox.write(
      "<plist version=\"1.0\"><dict><key>motion</key><true/><key>idle</key><integer>60</integer></dict></plist>",
      to: sandbox.home + "/.config/org.example.D.plist")
    let findings = try json(sandbox)["controls"].elements.map { $0["findings"].elements[0] }
    #expect(findings.map(\.["forced"].text) == ["true", "false"])
    #expect(findings.map(\.["value"].text) == ["true", "60"])
    #expect(findings.map(\.["layer"].text) == ["forced", "application"])
    #expect(findings[1]["problem"].text == "not-forced")
  }

  /// H04: one row and one spelling for a host, however it and the inventory spell its name; what stands twice counts once.
  @Test func aHostIsOneHostInEverySpelling() throws {
    let sandbox = try Sandbox()
    try sandbox.write(
      "version: 1\nkind: Inventory\nhosts: {groups: {labA: {names: [PC-07, pc-08, Pc-07]}}}\n", to: "inv/inventory.yaml"
    )
    let control = [("C", "pass")]
    try sandbox.write(Self.collected("pc-07", control), to: "reports/1.json")
    try sandbox.write(Self.collected("PC-08", control), to: "reports/2.json")
    try sandbox.write(Self.collected("Pc-07", control), to: "reports/3.json")
    let result = sandbox.run("report", "--collect", "reports", "--expect", "inv", "--format", "json")
    let fleet = try JSON(result.output)
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(fleet["expected"].text == "2")
    #expect(fleet["hosts"].elements.map(\.["host"].text) == ["pc-07", "pc-08"])
    #expect(sandbox.run("check", "inv").errors.contains("warning: "))
  }

  static func collected(_ host: String, _ results: [(String, String)]) -> String {
    let controls = results.map {
      "{\"id\": \"\($0.0)\", \"title\": \"t\", \"severity\": \"low\", \"result\": \"\($0.1)\", \"findings\": []}"
    }
    return
      "{\"host\": \"\(host)\", \"user\": \"alice\", \"generation\": 1, \"controls\": [\(controls.joined(separator: ", "))], "
      + "\"made\": \"2026-12-01T08:00:00Z\"}\n"
  }

  /// F02: 6 passed and 2 failed of 10 are 75 %, whatever the two exempt ones would be; idle exemptions are listed.
  @Test func exemptControlsCountNeitherWay() throws {
    // An exemption frees its control's keys, so each has its own.
    var controls = ""
    for number in 0..<10 {
      controls +=
        "  - {id: C\(number), title: t, expect: {org.example.D: {k\(number): \((6...8) ~= number ? 2 : 1)}}}\n"
    }
    let exemption = { (id: String, year: Int) in
      "  - {control: \(id), hosts: {names: [lab-a-03]}, reason: r, owner: o, expires: \(year)-01-31T00:00:00Z}\n"
    }
    let sandbox = try ReportTests.installed([
      "a.yaml": FaultCaseTests.profile(
        "a",
        "forced: {org.example.D: {\((0..<10).map { "k\($0): 1" }.joined(separator: ", "))}}\ncontrols:\n\(controls)exemptions:\n"
          + exemption("C8", 2027) + exemption("C9", 2027) + exemption("C0", 2026))
    ])
    let report = try json(sandbox)
    #expect(report["percentage"].text == "75.0")
    #expect(
      ["pass", "fail", "exempt", "not-applicable", "error"].map { report["counts"][$0].text } == [
        "6", "2", "2", "0", "0",
      ])
    #expect(
      report["idleExemptions"].elements.map { "\($0["control"].text) \($0["why"].text)" } == [
        "C0 expired"
      ])
  }

  /// F02: nothing asked is no percentage.
  @Test func nothingAskedIsNoPercentage() throws {
    let sandbox = try ReportTests.installed([
      "a.yaml": FaultCaseTests.profile("a", "forced: {org.example.D: {k: 1}}\n")
    ])
    let result = ReportTests.report(sandbox)
    #expect(result.exitCode == 0)
    #expect(result.output.hasPrefix("nothing checked: lab-a-03, for \(ReportTests.caller.name)"))
    #expect(result.output.contains(": n/a (no controls)\n"))
  }

  /// F06: a control is judged on the result of all profiles that apply: what two of them force together passes.
  @Test func aControlIsJudgedOnTheCombinedResult() throws {
    let sandbox = try ReportTests.installed([
      "a.yaml": FaultCaseTests.profile(
        "base",
        "forced: {org.example.D: {a: 1}}\ncontrols:\n  - {id: C, title: t, expect: {org.example.D: {a: 1, b: 2}}}\n"),
      "b.yaml": FaultCaseTests.profile(
        "group", priority: 5, applies: "applies: {hosts: {names: [lab-a-03]}}\n", "forced: {org.example.D: {b: 2}}\n"),
    ])
    let control = try json(sandbox)["controls"].elements[0]
    #expect(control["result"].text == "pass")
    #expect(
      control["findings"].elements.map { $0["forcedBy"].elements.map(\.["profile"].text) } == [
        ["org.example.base"], ["org.example.group"],
      ])
  }

  // MARK: Bad input

  /// What lies in a collection is no more than text: links, pipes and devices are not followed, and named.
  @Test func aHostileCollectionIsReadSafely() throws {
    let sandbox = try Sandbox()
    try sandbox.write(Self.collected("lab-1", [("C", "pass")]), to: "reports/a.json")
    try sandbox.write(Self.collected("<script>alert(1)</script>", [("C", "fail")]), to: "reports/b.json")
    try sandbox.write(
      Self.collected("lab-2", [("=1+1", "pass"), ("<img src=x>\\u001b[2J", "fail")]), to: "reports/c.json")
    #expect(mkfifo(sandbox.work + "/reports/d.json", 0o600) == 0)
    #expect(symlink("/etc/passwd", sandbox.work + "/reports/e.json") == 0)
    #expect(symlink("/dev/zero", sandbox.work + "/reports/f.json") == 0)
    try Directory.create(sandbox.work + "/reports/g.json")
    for form in ["text", "json", "html", "csv", "junit"] {
      let result = sandbox.run("report", "--collect", "reports", "--format", form)
      #expect(result.exitCode == 1)
      #expect(!result.output.contains("\u{1b}") && !result.output.contains("<script") || form == "json")
      #expect(!result.output.contains("<img") || form != "html" && form != "junit")
      #expect(!result.output.contains(",=1+1"))
    }
    let fleet = try JSON(sandbox.run("report", "--collect", "reports", "--format", "json").output)
    #expect(fleet["hosts"].elements.map(\.["host"].text) == ["lab-1", "lab-2"])
    #expect(
      fleet["unreadable"].elements.map { "\($0["file"].text): \($0["why"].text)" } == [
        "b.json: it names a host that can't be one", "d.json: is a pipe, not a file",
        "e.json: is a symbolic link, which is not followed", "f.json: is a symbolic link, which is not followed",
        "g.json: is a directory, not a file",
      ])
  }

  @Test func whereAReportCannotBeWrittenItSaysSo() throws {
    let sandbox = try ReportTests.installed(["a.yaml": ReportFaultTests.passing])
    let missing = ReportTests.report(sandbox, "-o", "nowhere/report.html")
    #expect(missing.exitCode == 73)
    try sandbox.write("kept", to: "target")
    #expect(symlink("target", sandbox.work + "/link") == 0)
    let link = ReportTests.report(sandbox, "-o", "link")
    #expect(try sandbox.read("target") == "kept")
    #expect(link.exitCode == 73)
    #expect(link.errors == "policyctl: link is a symbolic link, which is not replaced by a file\n")
    #expect(ReportTests.report(sandbox, "-o", "/dev/full").exitCode == 73)
    #expect(
      sandbox.execute(["sh", "-c", "'\(Sandbox.binary)' --root '\(sandbox.root)' report >/dev/full"]).exitCode == 74)
  }
}
