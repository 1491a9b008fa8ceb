import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// Faults that reports of this kind have had, played through the built command; each function names its cases.
@Suite struct ReportFaultTests {
  private func json(_ sandbox: Sandbox, _ words: String...) throws -> JSON {
    try JSON(
      sandbox.execute(
        [Sandbox.binary, "--root", sandbox.root, "report", "--format", "json", "--at", ReportTests.moment] + words
      )
      .output)
  }

  /// P06: whether sources are stale is told by their contents, never by their times; values come from the compiled store.
  @Test func staleSourcesAreToldByTheirContents() throws {
    let sandbox = try ReportTests.installed()
    let file = sandbox.work + "/policies/base.yaml"
    #expect(sandbox.execute(["touch", "-d", "2030-01-01", file]).exitCode == 0)
    #expect(try json(sandbox)["sources"]["state"].text == "match")
    try sandbox.write(ReportTests.baseline.replacing("Timeout: 90", with: "Timeout: 60"), to: "policies/base.yaml")
    #expect(sandbox.execute(["touch", "-d", "2001-01-01", file]).exitCode == 0)
    let report = try json(sandbox)
    #expect(report["sources"]["state"].text == "differ")
    #expect(report["generation"].text == "1")
    #expect(report["controls"].elements[1]["findings"].elements[0]["value"].text == "90")
    #expect(report["sources"]["mistakes"].elements.isEmpty)
    #expect(
      sandbox.plain(report["sources"]["text"].text) == """
        the sources in SANDBOX/work/policies differ from the installed bundle: policyctl --root SANDBOX/root apply SANDBOX/work/policies puts them in force
        """)
  }

  static let passing = FaultCaseTests.profile(
    "a", "forced: {org.example.D: {k: 1}}\ncontrols:\n  - {id: C, title: k is 1, expect: {org.example.D: {k: 1}}}\n")

  /// P02: a newer policy with a mistake leaves the old generation in force, and the host is not compliant.
  @Test func aRefusedUpdateFailsTheReport() throws {
    let sandbox = try ReportTests.installed(["a.yaml": Self.passing])
    #expect(ReportTests.report(sandbox).exitCode == 0)
    try sandbox.write(Self.passing.replacing("title: a", with: "title a"), to: "policies/a.yaml")
    #expect(sandbox.run("apply", "policies").exitCode == 65)
    let result = ReportTests.report(sandbox)
    #expect(result.exitCode == 1)
    let lines = sandbox.plain(result.output).split(separator: "\n")
    #expect(
      lines[0] == "fail: lab-a-03, for \(ReportTests.caller.name) (user \(ReportTests.caller.id)): 100.0 % (1 pass)")
    #expect(lines[1].hasPrefix("policy     generation 1, bundle 1764500000000, sources "))
    #expect(lines[3].hasPrefix("mistake    SANDBOX/work/policies/a.yaml:"), "\(lines[3])")
    #expect(lines.contains("Next: policyctl --root SANDBOX/root check SANDBOX/work/policies"), "\(lines)")
    let report = try json(sandbox)
    #expect(report["verdict"].text == "fail")
    #expect(report["generation"].text == "1")
    #expect(report["percentage"].text == "100.0")
  }

  /// F06: two profiles that clash never come into force; the report names both places, although one value is acceptable.
  @Test func aClashIsNamedWithBothPlaces() throws {
    let sandbox = try ReportTests.installed(["a.yaml": Self.passing])
    try sandbox.write(
      FaultCaseTests.profile("b", "forced: {org.example.D: {k: 2}}\n"), to: "policies/b.yaml")
    #expect(sandbox.run("apply", "policies").exitCode == 65)
    #expect(ReportTests.report(sandbox).exitCode == 1)
    let mistakes = try json(sandbox)["sources"]["mistakes"].elements.map { sandbox.plain($0.text) }
    #expect(mistakes.count == 1)
    #expect(
      mistakes.first?.contains("k is forced to different values at the same rank [conflict]") == true
        && mistakes.first?.contains("policies/a.yaml:6:") == true
        && mistakes.first?.contains("policies/b.yaml:6:") == true, "\(mistakes)")
    // The same in the summary of a fleet.
    #expect(ReportTests.report(sandbox, "--format", "json", "-o", "reports/a.json").exitCode == 73)
    try Directory.create(sandbox.work + "/reports")
    #expect(ReportTests.report(sandbox, "--format", "json", "-o", "reports/a.json").exitCode == 1)
    let fleet = sandbox.run("report", "--collect", "reports")
    #expect(fleet.exitCode == 1)
    #expect(
      fleet.output == """
        fail: 1 host: 100.0 % (1 pass)

        host      user  verdict  percentage  sources  generation  controls
        lab-a-03  \(ReportTests.caller.name)  fail        100.0 %  differ            1  1 pass

        """)
  }

  /// F04: the report of another user has nothing of the asking user's preferences, and makes nothing in anybody's home.
  @Test func theAskingUsersPreferencesAreNobodyElses() throws {
    let sandbox = try ReportTests.installed()
    try sandbox.write(
      "<plist version=\"1.0\"><dict><key>Downloads</key><false/><key>Home</key><string>mine</string></dict></plist>",
      to: sandbox.home + "/.config/org.example.Browser.plist")
    let before = try sandbox.contents(of: sandbox.home)
    let own = try json(sandbox)["controls"].elements[1]["findings"].elements[1]
    #expect(own["value"].text == "mine")
    #expect(own["layer"].text == "application")
    #expect(sandbox.plain(own["path"].text) == "SANDBOX/home/.config/org.example.Browser.plist")
    let daemon = try json(sandbox, "--user", "daemon")
    #expect(daemon["user"].text == "daemon")
    let theirs = daemon["controls"].elements[1]["findings"].elements[1]
    #expect(theirs["value"].text == "https://start/")
    #expect(theirs["layer"].text == "recommended")
    #expect(theirs["path"].isNull)
    #expect(try sandbox.contents(of: sandbox.home) == before)
  }

  /// F04: an account that is gone is an error in each control that concerns the host, never the caller's answer.
  @Test(arguments: ["nobody-of-that-name", "4000000001"]) func anUnknownUserIsAnError(_ name: String) throws {
    let sandbox = try ReportTests.installed()
    let report = try json(sandbox, "--user", name)
    #expect(report["user"].text == name)
    #expect(report["userID"].isNull)
    #expect(ReportTests.results(report) == ["T-1 error", "T-2 error", "T-3 error", "E-1 error", "null"])
    #expect(
      report["controls"].elements[0]["findings"].elements[0]["message"].text
        == "there is no user '\(name)' on this host")
    #expect(ReportTests.report(sandbox, "--user", name).exitCode == 1)
  }

  /// A forced domain that can't be read makes every control an error, never a pass.
  @Test func anUnreadableForcedDomainIsAnError() throws {
    let sandbox = try ReportTests.installed()
    let state = sandbox.root + "/var/lib/managed-preferences"
    try sandbox.write("damaged", to: state + "/forced")
    for number in try Directory.names(in: state + "/generations") {
      try? Directory.removeFile(state + "/generations/\(number)/forced")
    }
    let report = try json(sandbox)
    #expect(ReportTests.results(report) == ["T-1 error", "T-2 error", "T-3 error", "E-1 not-applicable", "null"])
    #expect(report["verdict"].text == "error")
    #expect(report["generation"].text == "1")
    #expect(!report["faults"].elements.isEmpty)
    let text = ReportTests.report(sandbox)
    #expect(text.exitCode == 1)
    #expect(sandbox.plain(text.output).contains("\nNext: policyctl --root SANDBOX/root refresh\n"))
  }

  /// A copy of the very generation stands in for a damaged file: the answer stands, and the fault is said.
  @Test func aCopyOfTheGenerationStandsIn() throws {
    let sandbox = try ReportTests.installed(["a.yaml": Self.passing])
    let state = sandbox.root + "/var/lib/managed-preferences"
    try sandbox.write("damaged", to: state + "/forced")
    let report = try json(sandbox)
    #expect(ReportTests.results(report) == ["C pass", "100.0"])
    #expect(report["faults"].elements.count == 1)
    #expect(
      sandbox.plain(report["faults"].elements[0].text).hasPrefix("SANDBOX/root/var/lib/managed-preferences/forced: "))
  }

  /// An older generation stands in for applications; it is not what the controls were installed with, so it is no evidence.
  @Test func anOlderGenerationIsNoEvidence() throws {
    let sandbox = try ReportTests.installed(["a.yaml": Self.passing])
    try sandbox.write(Self.passing.replacing("title: k is 1", with: "title: k is one"), to: "policies/a.yaml")
    #expect(sandbox.run("apply", "policies").exitCode == 0)
    let state = sandbox.root + "/var/lib/managed-preferences"
    try sandbox.write("damaged", to: state + "/forced")
    try sandbox.write("damaged", to: state + "/generations/2/forced")
    #expect(sandbox.run("get", "org.example.D", "k").output == "1\n")
    let report = try json(sandbox)
    #expect(ReportTests.results(report) == ["C error", "null"])
    #expect(report["generation"].text == "2")
    #expect(report["controls"].elements[0]["title"].text == "k is one")
    #expect(ReportTests.report(sandbox).exitCode == 1)
  }

  /// P04: a list that came as text is forced and does nothing; the report counts it.
  @Test func whatIsForcedButUnusableIsCounted() throws {
    let sandbox = try ReportTests.installed([
      "a.yaml": FaultCaseTests.profile(
        "a",
        "forced: {org.example.D: {apps: '[\"edit\",\"term\"]'}}\ncontrols:\n"
          + "  - {id: C, title: Apps, expect: {org.example.D: {apps: {is: [edit, term]}}}}\n")
    ])
    let report = try json(sandbox)
    #expect(report["unusable"].text == "1")
    let finding = report["controls"].elements[0]["findings"].elements[0]
    #expect(finding["forced"].text == "true" && finding["problem"].text == "unusable")
    #expect(finding["message"].text == "it is forced but unusable: a string, where an array is expected")
    #expect(ReportTests.report(sandbox).output.split(separator: "\n")[4] == "unusable   1 forced but unusable")
  }

  /// Without the file that has the controls nothing is known, and that is no pass.
  @Test func withoutControlsNothingIsKnown() throws {
    let sandbox = try ReportTests.installed()
    try Directory.removeFile(sandbox.root + "/var/lib/managed-preferences/provenance")
    let report = try json(sandbox)
    #expect(report["verdict"].text == "error")
    #expect(report["controls"].elements.isEmpty)
    #expect(
      report["faults"].elements.map { sandbox.plain($0.text) } == [
        "SANDBOX/root/var/lib/managed-preferences/provenance: is not there"
      ])
    #expect(ReportTests.report(sandbox).exitCode == 69)
  }

  @Test func nothingInstalledIsNoReport() throws {
    let sandbox = try Sandbox()
    let result = sandbox.run("report")
    #expect(result.exitCode == 66)
    #expect(result.output == "")
    #expect(
      sandbox.plain(result.errors) == """
        policyctl: nothing is installed here, so there is no control to evaluate
        Next: policyctl --root SANDBOX/root init
        Next: policyctl --root SANDBOX/root report --policies DIR

        """)
  }

  @Test(.enabled(if: geteuid() == 0)) func controlsAreWithheldFromUsers() throws {
    let sandbox = try ReportTests.installed()
    let result = PermissionTests.runAsUser(sandbox, ["--root", sandbox.root, "report"])
    #expect(result.exitCode == 77)
    #expect(
      sandbox.plain(result.errors) == """
        policyctl: controls can be read by root and the group managed-preferences-audit only
        Next: sudo policyctl --root SANDBOX/root report
        Next: policyctl --root SANDBOX/root report --policies DIR

        """)
  }
}
