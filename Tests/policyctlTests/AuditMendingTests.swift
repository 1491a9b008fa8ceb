import AuditLog
import CommandSandbox
import LinuxFiles
import Testing

/// What an administrator does about a log that does not verify.
@Suite struct AuditMendingTests {
  private func edit(_ sandbox: Sandbox) throws -> String {
    let segment = AuditTests.log(sandbox) + "/audit-000000000001.jsonl"
    let text = try sandbox.read(segment)
    try AtomicReplacement.write(
      Array(text.replacing("host.enrolled", with: "host.enrollec").utf8), to: segment, mode: 0o640)
    return "\(segment):2: record 2: the record was changed: its digest is not the one that record 3 has"
  }

  private func cutOff(_ sandbox: Sandbox) throws {
    let segment = AuditTests.log(sandbox) + "/audit-000000000001.jsonl"
    let lines = try sandbox.read(segment).split(separator: "\n").dropLast()
    try AtomicReplacement.write(Array(lines.map { $0 + "\n" }.joined().utf8), to: segment, mode: 0o640)
  }

  private func next(_ sandbox: Sandbox) -> String {
    """
    Next: policyctl --root \(sandbox.root) audit verify
    Next: tar -C \(sandbox.root) -cf audit-log.tar var/log/managed-preferences var/lib/managed-preferences/audit-anchor
    Next: policyctl --root \(sandbox.root) audit set-aside --reason TEXT

    """
  }

  @Test func aLogWithoutAlarmThatDoesNotVerifyIsNotCalledFine() throws {
    let sandbox = try Sandbox(applied: true)
    let fine = sandbox.run("audit", "acknowledge", "--reason", "x")
    #expect(fine.exitCode == 0)
    #expect(fine.output == "There is no alarm.\n")
    let finding = try edit(sandbox)
    let before = try sandbox.contents(of: sandbox.root)
    let result = sandbox.run("audit", "acknowledge", "--reason", "x")
    #expect(result.exitCode == 1)
    #expect(result.output == "")
    #expect(
      result.errors
        == "policyctl: there is no alarm, but the audit log does not verify: \(finding); no acknowledgement "
        + "mends that, so keep a copy, and begin anew behind it\n" + next(sandbox))
    #expect(try sandbox.contents(of: sandbox.root) == before)
  }

  @Test func anAlarmIsAcknowledgedAndWhatElseIsWrongIsNamed() throws {
    let sandbox = try Sandbox(applied: true)
    try cutOff(sandbox)
    let shrunk = sandbox.run("audit", "acknowledge", "--reason", "a disk")
    #expect(shrunk.exitCode == 0)
    #expect(shrunk.output == "The alarms are acknowledged; the log tells of it.\n")
    #expect(shrunk.errors == "")
    #expect(sandbox.run("audit", "acknowledge", "--reason", "a disk").output == "There is no alarm.\n")
    #expect(sandbox.run("audit", "verify").exitCode == 0)

    let other = try Sandbox(applied: true)
    try other.auditLog.rotate()
    try other.auditLog.append([AuditExportTests.event("Alpha", 1000)])
    let finding = try edit(other)
    let last = AuditTests.log(other) + "/audit-000000000004.jsonl"
    try AtomicReplacement.write(
      Array((try other.read(last).split(separator: "\n")[0] + "\n").utf8), to: last, mode: 0o640)
    let both = other.run("audit", "acknowledge", "--reason", "a disk")
    #expect(both.exitCode == 1)
    #expect(both.output == "The alarms are acknowledged; the log tells of it.\n")
    #expect(
      both.errors == "policyctl: the audit log does not verify all the same: \(finding); no acknowledgement "
        + "mends that, so keep a copy, and begin anew behind it\n" + next(other))
  }

  @Test func onlyWhatNothingElseMendsIsSetAside() throws {
    let sandbox = try Sandbox(applied: true)
    let sound = sandbox.run("audit", "set-aside", "--reason", "x")
    #expect(sound.exitCode == 0)
    #expect(sound.output == "The audit log verifies; it stays as it is.\n")
    let text = try sandbox.read(AuditTests.log(sandbox) + "/audit-000000000001.jsonl")

    try cutOff(sandbox)
    try sandbox.auditLog.append([AuditExportTests.event("Alpha", 1000)])
    let before = try sandbox.contents(of: sandbox.root)
    let alarm = sandbox.run("audit", "set-aside", "--reason", "x")
    #expect(alarm.exitCode == 1)
    #expect(alarm.output == "")
    #expect(
      alarm.errors == """
        policyctl: nothing was set aside: the audit log has nothing against it but alarms that nobody acknowledged: \
        \(AuditTests.log(sandbox))/audit-000000000004.jsonl:1: record 4: nobody has acknowledged this alarm: the log lost \
        its newest records: expected 3 records, found 2
        Next: policyctl --root \(sandbox.root) audit acknowledge --reason TEXT

        """)
    #expect(try sandbox.contents(of: sandbox.root) == before)
    #expect(text.split(separator: "\n").count == 3)
  }

  @Test func whatIsSetAsideStaysToldOf() throws {
    let sandbox = try Sandbox(applied: true)
    let finding = try edit(sandbox)
    let result = sandbox.run("audit", "set-aside", "--reason", "ticket 17")
    #expect(result.exitCode == 0, "\(result.errors)")
    let head = sandbox.run("audit", "head").output
    #expect(
      result.output == """
        Set aside records up to 3, as they were: 2 files in \(AuditTests.log(sandbox))/aside-000000000003.
        Record 4 names the folder, and the digest of its SHA256SUMS.
        Keep this line on another machine; later: policyctl audit verify --against LINE
        \(head)
        """)
    #expect(try AuditTests.kinds(sandbox) == ["audit.set-aside"])
    let verified = sandbox.run("audit", "verify")
    #expect(verified.exitCode == 0)
    #expect(verified.output.contains("note: record 4: the log before it did not verify (\(finding)) and is in aside-"))
    #expect(sandbox.run("status").exitCode == 0)
    #expect(sandbox.run("audit", "export", "--format", "html", "-o", "page.html").exitCode == 0)
    try sandbox.write(AuditPageTests.shim, to: "shim.js")
    if ScriptEngine.isThere {
      let page = sandbox.execute(["node", "shim.js", "page.html"]).output
      #expect(
        page.hasPrefix(
          "good: Records 4 are one unbroken chain, complete from record 4 on, as its record of what was set aside tells; "
            + "what did not verify was set aside before record 4; the last digest is "), "\(page)")
    }
    // An uninstallation leaves it, and what is installed anew goes on.
    #expect(sandbox.run("apply").exitCode == 0)
    #expect(sandbox.run("uninstall").exitCode == 0)
    #expect(try Directory.names(in: AuditTests.log(sandbox)).contains("aside-000000000003"))
    #expect(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    #expect(sandbox.run("audit", "verify").exitCode == 0)
  }
}
