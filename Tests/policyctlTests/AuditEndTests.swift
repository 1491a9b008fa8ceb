import AuditEvents
import AuditLog
import CommandSandbox
import LinuxFiles
import PropertyList
import Testing

/// What is said of a log's end without a verification of the whole, and what depends on a verification.
@Suite struct AuditEndTests {
  /// A log of five records in two segments.
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox(applied: true)
    try sandbox.auditLog.rotate()
    try sandbox.auditLog.append([AuditExportTests.event("Alpha", 1000)])
    return sandbox
  }

  private func cutOff(_ sandbox: Sandbox) throws {
    let segment = AuditTests.log(sandbox) + "/audit-000000000004.jsonl"
    let first = try sandbox.read(segment).split(separator: "\n")[0]
    try AtomicReplacement.write(Array("\(first)\n".utf8), to: segment, mode: 0o640)
  }

  @Test func aLogBehindItsAnchorIsAFaultAtOnce() throws {
    let sandbox = try sandbox()
    let sound = sandbox.run("audit", "head")
    #expect(sound.exitCode == 0)
    #expect(sound.errors == "")
    let status = sandbox.run("status")
    #expect(status.exitCode == 0)
    #expect(status.output.contains("\naudit log   its end is what its anchor counted\n"))
    #expect(try JSON(sandbox.run("status", "--format", "json").output)["audit"].text == "sound")

    try cutOff(sandbox)
    func check(_ state: String, _ fault: String) throws {
      let head = sandbox.run("audit", "head")
      #expect(head.exitCode == 1)
      #expect(head.output.hasPrefix("audit-head host=lab-a-03 "))
      #expect(
        head.errors == "policyctl: warning: \(fault)\nNext: policyctl --root \(sandbox.root) audit verify\n")
      let status = sandbox.run("status")
      #expect(status.exitCode == 1)
      #expect(status.output.contains("\naudit log   not sound\n"))
      #expect(status.output.contains("\nfault       \(fault)\n"))
      #expect(status.output.contains("\nnext        policyctl --root \(sandbox.root) audit verify\n"))
      #expect(try JSON(sandbox.run("status", "--format", "json").output)["audit"].text == state)
    }
    try check("behind", "the audit log is behind its anchor: expected 5 records, found 4")
    try sandbox.auditLog.append([AuditExportTests.event("Beta", 1000)])
    try check("alarm", "record 6 of the audit log is an alarm that nobody has acknowledged")
    #expect(sandbox.run("audit", "acknowledge", "--reason", "a disk").exitCode == 0)
    #expect(sandbox.run("audit", "head").exitCode == 0)
    #expect(sandbox.run("status").exitCode == 0)

    let segment = AuditTests.log(sandbox) + "/audit-000000000006.jsonl"
    let text = try sandbox.read(segment)
    try AtomicReplacement.write(
      Array(text.replacing("a disk", with: "a desk").utf8), to: segment, mode: 0o640)
    try check(
      "replaced", "the audit log does not end with the record that its anchor counted: record 8 was replaced")
    try AtomicReplacement.write(Array(text.utf8), to: segment, mode: 0o640)
    let anchor = sandbox.root + "/var/lib/managed-preferences/audit-anchor"
    try AtomicReplacement.write(Array("none".utf8), to: anchor, mode: 0o600)
    try check("no-anchor", "the audit log has a damaged anchor, so it can't be known whether records are missing")
    try Directory.removeFile(anchor)
    try check("no-anchor", "the audit log has lost its anchor, so it can't be known whether records are missing")
  }

  /// A log that was tampered with would be sound again from the checkpoint on.
  @Test func whatDoesNotVerifyIsNotPruned() throws {
    let sandbox = try sandbox()
    let segment = AuditTests.log(sandbox) + "/audit-000000000001.jsonl"
    let text = try sandbox.read(segment)
    try AtomicReplacement.write(
      Array(text.replacing("host.enrolled", with: "host.enrollec").utf8), to: segment, mode: 0o640)
    let before = try sandbox.contents(of: sandbox.root)
    let result = sandbox.run("audit", "prune", "--keep", "1")
    #expect(result.exitCode == 1)
    #expect(result.output == "")
    #expect(
      result.errors == """
        \(segment):2: record 2: the record was changed: its digest is not the one that record 3 has
        Tampered with: 5 records in 2 segments; see above.
        policyctl: nothing was removed: a checkpoint would vouch for what did not verify; archive the log
        Next: tar -C \(sandbox.root) -cf audit-log.tar var/log/managed-preferences var/lib/managed-preferences/audit-anchor

        """)
    #expect(try sandbox.contents(of: sandbox.root) == before)
    try AtomicReplacement.write(Array(text.utf8), to: segment, mode: 0o640)
    #expect(sandbox.run("audit", "prune", "--keep", "1").exitCode == 0)
    #expect(sandbox.run("audit", "verify").exitCode == 0)
  }

  @Test func aKindThatIsNoneIsRefused() throws {
    let sandbox = try sandbox()
    let result = sandbox.run("audit", "show", "--kind", "polcy")
    #expect(result.exitCode == 64)
    #expect(result.output == "")
    #expect(
      result.errors == """
        policyctl audit show: --kind 'polcy' is no kind of record, and no family; did you mean 'policy'?
        Next: policyctl audit show --help

        """)
    let none = sandbox.run("audit", "show", "--kind", "key")
    #expect(none.exitCode == 0)
    #expect(none.output == "")
    #expect(none.errors == "policyctl: no records match\n")
    // Every kind of the documentation's table is one.
    let page =
      "\(#filePath)".split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Documentation/audit-log.md"
    var kinds = 0
    for row in try sandbox.read(page).split(separator: "\n") where row.hasPrefix("| `") {
      for cell in row.split(separator: "|")[0].split(separator: "`") where cell.contains(".") && !cell.contains("/") {
        if cell.hasPrefix("…") { continue }
        kinds += 1
        #expect(sandbox.run("audit", "show", "--kind", String(cell)).exitCode == 0, "\(cell)")
      }
    }
    #expect(kinds == 27)
  }

  /// Nothing in a table of cells acts on a terminal either.
  @Test func cellsAreEscaped() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.auditLog.append([
      AuditRecord(
        .forcedWrite, fields: ["key": .string("a\u{1b}b\u{7f}c\u{85}d\u{202e}e\nf")],
        time: PropertyListDate(unixTime: 1_796_000_000),
        attested: .init(userID: 1000, processID: 7, executable: "=\u{1b}[2J\u{7f}\u{9b}\u{2066}\t\r\n\"x"),
        claimed: nil, claimedTime: nil, spoolOwner: nil, isAdministrative: false)
    ])
    #expect(sandbox.run("audit", "export", "--format", "csv", "-o", "out.csv").exitCode == 0)
    let text = try sandbox.read("out.csv")
    #expect(text.contains(",1000,7,\"'=\\u{1b}[2J\\u{7f}\\u{9b}\\u{2066}\\t\\r\\n\"\"x\","))
    #expect(text.contains("a\\u001bb\\u007fc\\u0085d\\u202ee\\nf"))
    #expect(
      text.unicodeScalars.allSatisfy { scalar in
        ["\r", "\n"].contains(scalar)
          || scalar.value >= 0x20 && !(0x7f..<0xa0).contains(scalar.value)
            && !(0x2028...0x202e).contains(scalar.value) && !(0x2060...0x206f).contains(scalar.value)
      })
  }
}
