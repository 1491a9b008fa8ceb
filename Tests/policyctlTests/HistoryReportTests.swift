import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// `policyctl report --from TIME --to TIME`: what the audit log of a day that is past can prove, and what it can't.
@Suite struct HistoryReportTests {
  /// The group is that of who runs the tests: today's membership is known.
  static func policy(_ timeout: Int) -> String {
    """
    version: 1
    kind: Inventory
    unknownHosts: allow
    users: {groups: {staff: {unixGroups: [\(group)]}}}
    ---
    version: 1
    kind: Profile
    id: org.example.base
    title: Baseline
    forced: {org.example.Browser: {Telemetry: false, Timeout: \(timeout)}}
    controls:
      - {id: T-1, title: No telemetry, severity: high, expect: {org.example.Browser: {Telemetry: false}}}
      - {id: T-2, title: A short timeout, expect: {org.example.Browser: {Timeout: {max: 60}}}}
    ---
    version: 1
    kind: Profile
    id: org.example.exam
    title: Exam
    applies: {during: [{from: "09:00", to: "11:00", timezone: Etc/UTC}]}
    controls:
      - {id: E-1, title: No network, expect: {org.example.Browser: {Network: false}}}
    ---
    version: 1
    kind: Profile
    id: org.example.staff
    title: Staff
    applies: {users: {groups: [staff]}}
    controls:
      - {id: S-1, title: For staff, expect: {org.example.Browser: {Telemetry: false}}}

    """
  }

  static let group: String = {
    let id = getegid()
    return getgrgid(id).map { String(cString: $0.pointee.gr_name) } ?? String(id)
  }()

  /// Four generations; the log tells of 2025-12-01, in which they came one after the other. The third is no longer kept.
  static func installed(changing edit: (inout [String]) -> Void = { _ in }) throws -> Sandbox {
    let sandbox = try Sandbox()
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    var digests: [String] = []
    var checksums: [String] = []
    for (index, timeout) in [90, 60, 30, 15].enumerated() {
      try sandbox.write(policy(timeout), to: "policies/base.yaml")
      let applied = sandbox.run("apply", "policies", "--serial", "\(1_764_500_000_000 + index)")
      try #require(applied.exitCode == 0, "\(applied.errors)")
      let marker = try sandbox.read("\(state(sandbox))/generation").split(separator: "\n")
      func value(_ name: String) throws -> String {
        String(try #require(marker.first { $0.hasPrefix(name + " ") }).dropFirst(name.utf8.count + 1))
      }
      digests.append(try value("source-digest"))
      checksums.append(try value("forced-checksum"))
    }
    try Directory.removeTree("\(state(sandbox))/generations/3")
    func change(_ number: Int, _ time: String) -> String {
      "\(time) policy.installed {\"generation\":\(number),\"previous\":\(number - 1),\"digest\":\"\(digests[number - 1])\"}"
    }
    func sign(_ number: Int, _ time: String, _ uptime: Int) -> String {
      "\(time) agent.heartbeat {\"generation\":\(number),\"digest\":\"\(digests[number - 1])\",\"forced\":\"\(checksums[number - 1])\",\"uptime\":\(uptime)}"
    }
    var lines = [
      "00:00 audit.began {\"log\":\"00\",\"format\":1}", change(1, "00:00"),
      "00:00 agent.started {\"generation\":1,\"digest\":\"\(digests[0])\"}", sign(1, "06:00", 21600),
      change(2, "08:00"),
      sign(2, "12:00", 43200), "12:00 agent.stopped {\"generation\":2,\"reason\":\"signal\"}", change(3, "15:00"),
      change(4, "18:00"),
      "19:00 forced.write {\"domain\":\"org.example.Browser\",\"key\":\"Timeout\",\"count\":3}",
      "20:00 audit.dropped {\"count\":5,\"since\":\"2025-12-01T19:30:00Z\"}",
    ]
    edit(&lines)
    try writeLog(lines, in: sandbox)
    return sandbox
  }

  static func state(_ sandbox: Sandbox) -> String { sandbox.root + "/var/lib/managed-preferences" }
  static func segment(_ sandbox: Sandbox) -> String { AuditTests.log(sandbox) + "/audit-000000000001.jsonl" }

  /// The chain of a log as Documentation/audit-log.md has it. Its anchor is gone: what is there is sound, and its end unknown.
  static func writeLog(_ lines: [String], in sandbox: Sandbox) throws {
    var previous = String(repeating: "0", count: 64)
    var text = ""
    for (index, line) in lines.enumerated() {
      let parts = line.split(separator: " ", maxSplits: 2)
      let record =
        "{\"seq\":\(index + 1),\"prev\":\"\(previous)\",\"time\":\"2025-12-01T\(parts[0]):00.000Z\",\"kind\":\"\(parts[1])\","
        + "\"host\":\"lab-a-03\",\"attested\":{\"uid\":\(geteuid()),\"pid\":1},\"fields\":\(parts[2])}"
      previous = String(sandbox.execute(["sha256sum"], input: Array(record.utf8)).output.prefix(64))
      text += record + "\n"
    }
    try Directory.removeTree(AuditTests.log(sandbox))
    try Directory.create(AuditTests.log(sandbox), mode: 0o750)
    try AtomicReplacement.write(Array(text.utf8), to: segment(sandbox), mode: 0o640)
    try Directory.removeFile(state(sandbox) + "/audit-anchor")
  }

  static let day = ["--from", "2025-11-30T23:00:00Z", "--to", "2025-12-02T00:00:00Z"]

  static func report(_ sandbox: Sandbox, _ words: String...) -> Sandbox.Result {
    sandbox.execute([Sandbox.binary, "--root", sandbox.root, "report"] + day + words)
  }

  /// Whoever sends nonsense to the agent makes no report of others incomplete.
  @Test func refusalsOfAnotherUserAreNoGap() throws {
    let sandbox = try Self.installed { lines in
      lines[lines.count - 1] = "20:00 audit.dropped {\"count\":5,\"user\":64123}"
    }
    let own = try JSON(Self.report(sandbox, "--format", "json").output)
    #expect(!own["gaps"].elements.contains { $0["kind"].text == "dropped" })
    #expect(
      own["notes"].elements.map(\.text) == [
        "The agent refused events of users whom this report is not about (1 records): no gap of this report."
      ])
    let all = try JSON(Self.report(sandbox, "--all-users", "--format", "json").output)
    #expect(
      all["gaps"].elements.filter { $0["kind"].text == "dropped" }.map { $0["text"].text } == [
        "the agent refused 5 events of user 64123"
      ])
  }

  @Test func aDayIsToldAsFarAsItCanBeProved() throws {
    let sandbox = try Self.installed()
    let result = Self.report(sandbox, "--format", "json")
    // The anchor is gone, and with it the proof that nothing is missing at the end: as audit verify says.
    #expect(result.exitCode == 66)
    let report = try JSON(result.output)
    #expect(report["host"].text == "lab-a-03")
    #expect(report["verdict"].text == "fail")
    #expect(report["log"]["verdict"].text == "incomplete")
    #expect(report["attested"].text == "48")
    func times(_ json: JSON) -> String { "\(json["from"].text.dropFirst(5)) \(json["to"].text.dropFirst(5))" }
    #expect(
      report["generations"].elements.map { "\(times($0)) \($0["state"].text) \($0["generation"].text)" } == [
        "11-30T23:00:00Z 12-01T00:00:00Z unknown null", "12-01T00:00:00Z 12-01T08:00:00Z in-force 1",
        "12-01T08:00:00Z 12-01T15:00:00Z in-force 2", "12-01T15:00:00Z 12-01T18:00:00Z in-force 3",
        "12-01T18:00:00Z 12-02T00:00:00Z in-force 4",
      ])
    #expect(
      report["gaps"].elements.map { "\(times($0)) \($0["kind"].text) \($0["text"].text)" } == [
        "11-30T23:00:00Z 12-01T00:00:00Z log-starts-later the log has nothing from that time: it began then",
        "11-30T23:00:00Z 12-02T00:00:00Z end-unknown no anchor: completeness unknown",
        "12-01T12:00:00Z 12-02T00:00:00Z no-agent no sign of life of the agent: what is said of that time rests on the records of root's commands alone",
        "12-01T15:00:00Z 12-01T18:00:00Z not-evaluated generation 3 was in force, but it is no longer kept",
        "12-01T19:30:00Z 12-01T20:00:00Z dropped 5 events found no room",
      ])
    let user = report["users"].elements[0]
    #expect(
      user["controls"].elements.map { "\($0["id"].text) \($0["result"].text) \($0["attempts"].text)" } == [
        "T-1 pass 0", "T-2 fail 3", "E-1 fail 0", "S-1 error 0",
      ])
    func results(_ index: Int) -> [String] {
      user["controls"].elements[index]["results"].elements.map {
        "\(times($0)) \($0["result"].text): \($0["why"].text)"
      }
    }
    #expect(
      results(1) == [
        "11-30T23:00:00Z 12-01T00:00:00Z error: the log has nothing from that time",
        "12-01T00:00:00Z 12-01T08:00:00Z fail: org.example.Browser Timeout: expected max 60, was forced to 90",
        "12-01T08:00:00Z 12-01T15:00:00Z pass: ",
        "12-01T15:00:00Z 12-01T18:00:00Z error: generation 3 was in force, but it is no longer kept",
        "12-01T18:00:00Z 12-02T00:00:00Z pass: ",
      ])
    #expect(
      results(2)[2...3] == [
        "12-01T08:00:00Z 12-01T09:00:00Z not-applicable: its profile does not hold at this time",
        "12-01T09:00:00Z 12-01T11:00:00Z fail: org.example.Browser Network: expected false; nothing forced it",
      ])
    #expect(
      results(3)[1]
        == "12-01T00:00:00Z 12-01T08:00:00Z error: it depends on the Unix groups that \(ReportTests.caller.name) belonged to then, which the log does not have; with those of today it would be pass"
    )
    // Percentage over time, as the page's plot has it.
    #expect(
      user["points"].elements.prefix(4).map { "\(times($0)) \($0["percentage"].text) \($0["attested"].text)" } == [
        "11-30T23:00:00Z 12-01T00:00:00Z null false", "12-01T00:00:00Z 12-01T08:00:00Z 50.0 true",
        "12-01T08:00:00Z 12-01T09:00:00Z 100.0 true", "12-01T09:00:00Z 12-01T11:00:00Z 66.66666666666667 true",
      ])
  }

  @Test(arguments: ["text", "html", "csv", "junit"]) func everyFormTellsTheGaps(_ form: String) throws {
    let sandbox = try Self.installed()
    let result = Self.report(sandbox, "--format", form)
    #expect(result.exitCode == 66)
    for text in ["no longer kept", "5 events found no room", "it began then", "no sign of life", "expected max 60"] {
      #expect(result.output.contains(text), "\(text)")
    }
    if form == "html" {
      #expect(result.output.contains("<svg"))
      #expect(!result.output.contains("<script"))
    }
  }

  /// Every control with its verdict, the gaps, and nothing wider than a terminal but the line that is there to be copied.
  @Test func theTextListsEveryControlWithinEightyColumns() throws {
    let sandbox = try Self.installed()
    let text = Self.report(sandbox).output
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(lines.filter { $0.unicodeScalars.count > 80 }.map { $0.prefix(11) } == ["audit-head "])
    let sections = text.split(separator: "\n\n").map(String.init)
    try #require(sections.count == 7, "\(text)")
    let user = "\(ReportTests.caller.name) (user \(geteuid()))"
    #expect(
      sections[0] == """
        fail: lab-a-03, from 2025-11-30T23:00:00Z to 2025-12-02T00:00:00Z
          for \(user): 33.3 % (1 pass, 2 fail, 1 error)
        log       the log is incomplete (11 records)
        attested  48 % of the time, by the agent
        """)
    #expect(
      sections[1] == """
        failed  T-2 (medium): A short timeout
                org.example.Browser Timeout: expected max 60, was forced to 90
                  2025-12-01T00:00:00Z to 2025-12-01T08:00:00Z
        failed  E-1 (medium): No network
                org.example.Browser Network: expected false; nothing forced it
                  2025-12-01T09:00:00Z to 2025-12-01T11:00:00Z
        error   S-1 (medium): For staff
                it depends on the Unix groups that \(ReportTests.caller.name) belonged to then, which the log
                does not have; with those of today it would be pass
                  2025-12-01T00:00:00Z to 2025-12-01T15:00:00Z
                  2025-12-01T18:00:00Z to 2025-12-02T00:00:00Z
        tried   T-2: 3 writes of \(ReportTests.caller.name) to its keys, refused
        """)
    #expect(
      sections[2] == """
        gap     2025-11-30T23:00:00Z to 2025-12-01T00:00:00Z  log-starts-later
                the log has nothing from that time: it began then (record 1)
        gap     2025-11-30T23:00:00Z to 2025-12-02T00:00:00Z  end-unknown
                no anchor: completeness unknown
        gap     2025-12-01T12:00:00Z to 2025-12-02T00:00:00Z  no-agent
                no sign of life of the agent: what is said of that time rests on the
                records of root's commands alone
        gap     2025-12-01T15:00:00Z to 2025-12-01T18:00:00Z  not-evaluated
                generation 3 was in force, but it is no longer kept
        gap     2025-12-01T19:30:00Z to 2025-12-01T20:00:00Z  dropped
                5 events found no room (record 11)
        """)
    #expect(
      sections[3] == """
        controls over the whole time
        pass            T-1 (high): No telemetry
                        pass 21 h, unknown 4 h
        fail            T-2 (medium): A short timeout
                        fail 8 h, pass 13 h, unknown 4 h
        fail            E-1 (medium): No network
                        fail 2 h, not applicable 19 h, unknown 4 h
        error           S-1 (medium): For staff
                        error 21 h, unknown 4 h
        """)
    #expect(
      sections[4].split(separator: "\n").prefix(4).map { $0.replacing(/[0-9a-f]{16}…/, with: "DIGEST") } == [
        "since                 sources            in force",
        "2025-11-30T23:00:00Z  —                  unknown: the log has nothing from that",
        "                                         time", "2025-12-01T00:00:00Z  DIGEST  generation 1",
      ])
    #expect(
      sections[6].hasPrefix("the end of the log, for audit verify --against\naudit-head host=lab-a-03 log=00 seq=11 "))
  }

  /// Each row says one thing once: what the first column names.
  @Test func theTableSaysEachThingOnce() throws {
    let sandbox = try Self.installed()
    let rows = Self.report(sandbox, "--format", "csv").output.split(separator: "\r\n").map(String.init)
    #expect(
      rows[0]
        == "row,host,user,from,to,generation,control,title,severity,result,why,attempts,gap,record")
    #expect(Set(rows).count == rows.count)
    let span = "2025-11-30T23:00:00Z,2025-12-02T00:00:00Z"
    let user = ReportTests.caller.name
    #expect(
      rows.filter { $0.hasPrefix("control,") } == [
        "control,lab-a-03,\(user),\(span),,T-1,No telemetry,high,pass,,0,,",
        "control,lab-a-03,\(user),\(span),,T-2,A short timeout,medium,fail,,3,,",
        "control,lab-a-03,\(user),\(span),,E-1,No network,medium,fail,,0,,",
        "control,lab-a-03,\(user),\(span),,S-1,For staff,medium,error,,0,,",
      ])
    #expect(
      rows.filter { $0.hasPrefix("result,") && $0.contains(",T-2,") } == [
        "result,lab-a-03,\(user),2025-11-30T23:00:00Z,2025-12-01T00:00:00Z,,T-2,A short timeout,medium,error,the log has nothing from that time,,,",
        "result,lab-a-03,\(user),2025-12-01T00:00:00Z,2025-12-01T08:00:00Z,1,T-2,A short timeout,medium,fail,\"org.example.Browser Timeout: expected max 60, was forced to 90\",,,",
        "result,lab-a-03,\(user),2025-12-01T08:00:00Z,2025-12-01T15:00:00Z,2,T-2,A short timeout,medium,pass,,,,",
        "result,lab-a-03,\(user),2025-12-01T15:00:00Z,2025-12-01T18:00:00Z,3,T-2,A short timeout,medium,error,\"generation 3 was in force, but it is no longer kept\",,,",
        "result,lab-a-03,\(user),2025-12-01T18:00:00Z,2025-12-02T00:00:00Z,4,T-2,A short timeout,medium,pass,,,,",
      ])
    #expect(
      rows.filter { $0.hasPrefix("gap,") }.last
        == "gap,lab-a-03,,2025-12-01T19:30:00Z,2025-12-01T20:00:00Z,,,,,,5 events found no room,,dropped,11")
  }

  /// A gap that makes the log tell less of one user alone is that user's.
  @Test func aGapOfOneUserNamesTheUser() throws {
    let sandbox = try Self.installed { lines in
      lines[lines.count - 1] = "20:00 audit.dropped {\"count\":5,\"user\":\(geteuid())}"
    }
    let rows = Self.report(sandbox, "--format", "csv").output.split(separator: "\r\n").map(String.init)
    #expect(
      rows.last
        == "gap,lab-a-03,\(ReportTests.caller.name),2025-12-01T20:00:00Z,2025-12-01T20:00:00Z,,,,,,the agent refused 5 events of user \(geteuid()),,dropped,11"
    )
  }

  @Test func aGenerationWithAnotherDigestIsNotTakenForIt() throws {
    let sandbox = try Self.installed { lines in
      lines[4] =
        "08:00 policy.installed {\"generation\":2,\"previous\":1,\"digest\":\"\(String(repeating: "ab", count: 32))\"}"
      lines.remove(at: 5)
    }
    let report = try JSON(Self.report(sandbox, "--format", "json").output)
    #expect(
      report["gaps"].elements.map(\.["text"].text).contains(
        "generation 2 was in force, but what is kept of it has another digest than the log says"))
    #expect(report["users"].elements[0]["points"].elements[3]["percentage"].isNull)
  }

  @Test func aKeptFileThatWasChangedIsNoEvidence() throws {
    let sandbox = try Self.installed()
    let file = "\(Self.state(sandbox))/generations/1/forced"
    try AtomicReplacement.write(
      try WholeFile.read("\(Self.state(sandbox))/generations/2/forced").bytes, to: file, mode: 0o644)
    let report = try JSON(Self.report(sandbox, "--format", "json").output)
    #expect(
      report["gaps"].elements.map { sandbox.plain($0["text"].text) }.contains(
        "generation 1 was in force, but it can't be read: SANDBOX/root/var/lib/managed-preferences/generations/1/forced: it is of generation 2"
      ))
  }

  @Test func aLogThatWasTamperedWithProvesNothing() throws {
    let sandbox = try Self.installed()
    let text = try sandbox.read(Self.segment(sandbox))
    try AtomicReplacement.write(
      Array(text.replacing("\"generation\":2,\"previous\":1", with: "\"generation\":9,\"previous\":1").utf8),
      to: Self.segment(sandbox), mode: 0o640)
    let result = Self.report(sandbox)
    #expect(result.exitCode == 1)
    #expect(result.output == "")
    #expect(
      sandbox.plain(result.errors) == """
        SANDBOX/root/var/log/managed-preferences/audit-000000000001.jsonl:5: record 5: the record was changed: its digest is not the one that record 6 has
        SANDBOX/root/var/log/managed-preferences: no anchor: completeness unknown
        Tampered with: 11 records in 1 segment; see above.
        policyctl: the audit log proves nothing, so there is no report
        Next: policyctl --root SANDBOX/root audit verify

        """)
  }

  /// The log as the commands write it: sound, with its anchor.
  @Test func whatTheCommandsRecordIsEnough() throws {
    let sandbox = try ReportTests.installed(["a.yaml": ReportFaultTests.passing])
    // The present second is not over.
    usleep(1_100_000)
    let result = sandbox.run("report", "--from", "2025-01-01T00:00:00Z", "--format", "json")
    #expect(result.exitCode == 1, "\(result.errors)")
    let report = try JSON(result.output)
    #expect(report["log"]["verdict"].text == "sound")
    #expect(report["verdict"].text == "incomplete")
    #expect(report["gaps"].elements.map(\.["kind"].text) == ["log-starts-later", "no-agent"])
    #expect(report["users"].elements[0]["controls"].elements.map(\.["result"].text) == ["pass"])
    #expect(report["generations"].elements.last?["generation"].text == "1")
  }

  @Test func whatCannotBeAskedIsSaid() throws {
    let sandbox = try ReportTests.installed()
    func errors(_ words: String...) -> String {
      let result = sandbox.execute([Sandbox.binary, "--root", sandbox.root, "report"] + words)
      #expect(result.exitCode == 64)
      return String(result.errors.split(separator: "\n").first ?? "")
    }
    #expect(errors("--to", "2025-01-01T00:00:00Z") == "policyctl report: --from TIME is missing")
    #expect(
      errors("--from", "2999-01-01T00:00:00Z")
        == "policyctl report: --from '2999-01-01T00:00:00Z' is not before the end")
    #expect(
      errors("--from", "2025-01-01T00:00:00Z", "--to", "2999-01-01T00:00:00Z")
        == "policyctl report: --to '2999-01-01T00:00:00Z' is still to come: the log can't tell of it")
    #expect(
      errors("--from", "2025-01-01T00:00:00Z", "--collect", "x")
        == "policyctl report: --from and --collect exclude each other")
    #expect(
      errors("--from", "yesterday")
        == "policyctl report: --from 'yesterday' is not a time; write 2026-12-01, '2026-12-01 09:30' or 2026-12-01T09:30:00+01:00"
    )
    #expect(
      errors("--from", "2025-01-01", "--to", "2999-01-01")
        == "policyctl report: --to '2999-01-01' is still to come: the log can't tell of it")
    #expect(
      errors("--from", "2025-01-02", "--to", "2025-01-01")
        == "policyctl report: --from '2025-01-02' is not before the end")
    try Directory.removeTree(AuditTests.log(sandbox))
    let gone = sandbox.run("report", "--from", "2025-01-01T00:00:00Z")
    #expect(gone.exitCode == 1)
    #expect(gone.errors.contains("expected 3 records, found 0"))
    try Directory.removeFile(Self.state(sandbox) + "/audit-anchor")
    let none = sandbox.run("report", "--from", "2025-01-01T00:00:00Z")
    #expect(none.exitCode == 66)
    #expect(
      sandbox.plain(none.errors) == "policyctl: SANDBOX/root/var/log/managed-preferences: there are no records\n")
  }

  /// Only root and the audit group read the log: others are told, and get nothing.
  @Test(.enabled(if: geteuid() == 0)) func whoMayNotReadTheLogGetsNothing() throws {
    let sandbox = try Self.installed()
    chmod(Self.state(sandbox), 0o755)
    let result = sandbox.execute(
      ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", Sandbox.binary, "--root", sandbox.root]
        + ["report"] + Self.day)
    #expect(result.exitCode == 77, "\(result.errors)")
    #expect(result.output == "")
    #expect(
      result.errors.hasPrefix(
        "policyctl: the audit log can be read by root and the group managed-preferences-audit only\nNext: sudo policyctl "
      ))
  }
}
