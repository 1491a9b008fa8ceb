import AuditEvents
import AuditLog
import CommandSandbox
import LinuxFiles
import PropertyList
import Testing

extension Sandbox {
  /// The audit log below the root, for records that no verb writes.
  var auditLog: AuditLog {
    AuditLog(
      AuditLogPlace(
        directory: AuditTests.log(self), anchor: root + "/var/lib/managed-preferences/audit-anchor", host: "lab-a-03"
      ) { _ in true })
  }
}

/// What is exported and shown of events of users, attested by the kernel or by nobody.
@Suite struct AuditExportTests {
  static func event(_ key: String, _ user: UInt32, spool: Bool = false, old: Bool = false) -> AuditRecord {
    AuditRecord(
      .forcedWrite, fields: ["domain": .string("org.example.Editor"), "key": .string(key)],
      time: PropertyListDate(unixTime: 1_796_000_000),
      attested: spool ? nil : .init(userID: user, processID: 7, executable: "/usr/bin/editor"),
      claimed: AuditEvent.Claim(processID: 8, userID: 0, executable: "/tmp/liar"),
      claimedTime: PropertyListDate(unixTime: 1_795_999_999), spoolOwner: spool ? user : nil,
      isOfUnknownOrigin: old, isAdministrative: false)
  }

  @Test func whatNobodyAttestsSaysSo() throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.auditLog.append([
      Self.event("Attested", 1000), Self.event("Found", 1001, spool: true),
      Self.event("Old", 1002, spool: true, old: true),
    ])
    #expect(sandbox.run("audit", "export", "--format", "csv", "-o", "out.csv").exitCode == 0)
    let rows = try sandbox.read("out.csv").split(separator: "\r\n").map(String.init)
    #expect(
      rows[0] == "seq,time,kind,host,clock,attested uid,attested pid,attested executable,claimed uid,claimed pid,"
        + "claimed executable,claimed time,unattested uid,unattested origin,fields,personal,prev")
    #expect(rows[4].contains(",1000,7,/usr/bin/editor,0,8,/tmp/liar,2026-11-30T00:53:19.000Z,,,"))
    #expect(rows[5].contains(",,,,0,8,/tmp/liar,2026-11-30T00:53:19.000Z,1001,,"))
    #expect(rows[6].contains(",,,,0,8,/tmp/liar,2026-11-30T00:53:19.000Z,1002,unknown,"))
    #expect(sandbox.run("audit", "export", "--format", "html", "-o", "out.html").exitCode == 0)
    let page = try sandbox.read("out.html")
    #expect(page.contains("<td>uid 1000, /usr/bin/editor</td>"))
    #expect(page.contains("<td>uid 1001, /tmp/liar (unattested: found in this user&#39;s spool)</td>"))
    #expect(
      page.contains("<td>uid 1002, /tmp/liar (unattested: found in this user&#39;s spool, of an unknown host)</td>"))
    #expect(sandbox.run("audit", "export", "-o", "out.json").exitCode == 0)
    let document = try JSON(sandbox.read("out.json"))
    #expect(document["lines"].elements.count == 6)
    #expect(document["parts"].elements.map { $0["fields"]["key"].text } == ["Attested", "Found", "Old"])
    #expect(document["personal"].elements.map { $0["unattested"]["uid"].text } == ["(no uid)", "1001", "1002"])
    #expect(
      try sandbox.read("out.json").contains(
        "\n" + sandbox.read(AuditTests.log(sandbox) + "/audit-000000000001.personal").split(separator: "\n")[0]))
  }

  /// Records, and a segment for nearly each of them, come while somebody looks.
  @Test func followGoesOnThroughRotation() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.execute([
      "sh", "-c",
      """
      "$0" --root "$1" audit show --follow --format json >out & follower=$!
      seen() { for i in $(seq 2400); do grep -q "$1" out && return; sleep 0.05; done; kill $follower; exit 1; }
      seen policy.installed
      "$2" "$1/var/log/managed-preferences" "$1/var/lib/managed-preferences/audit-anchor" append 10 3 600 >acknowledged
      "$2" "$1/var/log/managed-preferences" "$1/var/lib/managed-preferences/audit-anchor" rotate 2
      seen audit.rotated
      "$0" --root "$1" key generate --local >keys || exit 1
      seen key.trusted
      kill $follower; wait $follower || true
      """, Sandbox.binary, sandbox.root, Sandbox.binary("AuditPeer"),
    ])
    #expect(result.exitCode == 0, "\(result.errors)")
    let records = try sandbox.read("out").split(separator: "\n").map { try JSON(String($0)) }
    #expect(records.map { $0["seq"].text } == (1...records.count).map { "\($0)" })
    let kinds = records.map { $0["kind"].text }
    #expect(kinds.last == "key.trusted")
    #expect(kinds.filter { $0 == "forced.write" }.count == 30)
    #expect(kinds.filter { $0 == "audit.rotated" }.count > 5)
  }
}
