import AuditEvents
import LinuxFiles
import PropertyList
import Testing

@testable import AuditLog

/// Every way to change a log that is known to us, and what `verify` says of it.
@Suite struct TamperingTests {
  static let only = "audit-000000000001.jsonl"

  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (TestLog) throws -> Void
    let verdict: AuditVerification.Verdict
    let first: String
    var testDescription: String { name }
  }

  /// Of a log of ten records in one segment.
  static let rows: [Row] = [
    Row(
      name: "edited",
      change: { log in
        var lines = try log.lines(only)
        lines[4] = lines[4].replacing("key 3", with: "key 9")
        try log.write(lines: lines, to: only)
      }, verdict: .tampered,
      first: "tampered \(only):5 #5 the record was changed: its digest is not the one that record 6 has"),
    Row(
      name: "edited in its last line",
      change: { log in
        var lines = try log.lines(only)
        lines[9] = lines[9].replacing("key 8", with: "key 9")
        try log.write(lines: lines, to: only)
      }, verdict: .tampered,
      first: "tampered -:0 #10 record 10 is not the one that the anchor counted: the newest records were replaced"),
    Row(
      name: "cut in the middle of a record",
      change: { log in
        let text = try log.text(only)
        try log.write(String(text.dropLast(20)), to: only)
      }, verdict: .tampered, first: "tampered \(only):10 #10 the record is cut off after "),
    Row(
      name: "the newest three dropped",
      change: { log in try log.write(lines: Array(try log.lines(only).dropLast(3)), to: only) }, verdict: .tampered,
      first: "tampered \(only):7 #7 expected 10 records, found 7: the newest are missing after \(only), line 7"),
    Row(
      name: "emptied", change: { log in try log.write("", to: only) }, verdict: .tampered,
      first: "tampered \(only):1 #0 the segment is empty"),
    Row(
      name: "deleted", change: { log in try Directory.removeFile(log.directory + "/" + only) }, verdict: .tampered,
      first: "tampered -:0 #0 expected 10 records, found 0: the newest are missing in the log's folder"),
    Row(
      name: "deleted with its anchor",
      change: { log in
        try Directory.removeFile(log.directory + "/" + only)
        try Directory.removeFile(log.anchor)
      }, verdict: .incomplete, first: "incomplete -:0 #0 no anchor: completeness unknown"),
    Row(
      name: "the anchor deleted", change: { log in try Directory.removeFile(log.anchor) }, verdict: .incomplete,
      first: "incomplete -:0 #0 no anchor: completeness unknown"),
    Row(
      name: "a record dropped from the middle",
      change: { log in
        var lines = try log.lines(only)
        lines.remove(at: 4)
        try log.write(lines: lines, to: only)
      }, verdict: .tampered, first: "tampered \(only):5 #6 record 5 is missing before it"),
    Row(
      name: "two records exchanged",
      change: { log in
        var lines = try log.lines(only)
        lines.swapAt(3, 4)
        try log.write(lines: lines, to: only)
      }, verdict: .tampered, first: "tampered \(only):4 #5 record 4 is missing before it"),
    Row(
      name: "a record repeated",
      change: { log in
        var lines = try log.lines(only)
        lines.insert(lines[3], at: 4)
        try log.write(lines: lines, to: only)
      }, verdict: .tampered, first: "tampered \(only):5 #4 it is out of order: record 5 belongs here"),
    Row(
      name: "shrunk and sealed again",
      change: { log in
        var lines = try log.lines(only)
        lines.remove(at: 4)
        try log.write(lines: TestLog.resealed(lines), to: only)
      }, verdict: .tampered,
      first: "tampered \(only):9 #9 expected 10 records, found 9: the newest are missing after \(only), line 9"),
    Row(
      name: "edited and sealed again",
      change: { log in
        var lines = try log.lines(only)
        lines[4] = lines[4].replacing("key 3", with: "key 9")
        try log.write(lines: TestLog.resealed(lines), to: only)
      }, verdict: .tampered,
      first: "tampered -:0 #10 record 10 is not the one that the anchor counted: the newest records were replaced"),
    Row(
      name: "shrunk, sealed again, and appended to by us",
      change: { log in
        try log.write(lines: TestLog.resealed(Array(try log.lines(only).dropLast(4))), to: only)
        try log.log.append([TestLog.record("new")])
      }, verdict: .tampered,
      first:
        "tampered audit-000000000011.jsonl:1 #11 nobody has acknowledged this alarm: the log lost its newest records: expected 10 records, found 6"
    ),
    Row(
      name: "the tail replaced, and appended to by us",
      change: { log in
        var lines = try log.lines(only)
        lines[9] = lines[9].replacing("key 8", with: "key 9")
        try log.write(lines: TestLog.resealed(lines), to: only)
        try log.log.append([TestLog.record("new")])
      }, verdict: .tampered,
      first:
        "tampered \(only):11 #11 nobody has acknowledged this alarm: the log's newest records were replaced: record 10 is not the one that was written"
    ),
    Row(
      name: "the tail replaced by a longer one, and appended to by us",
      change: { log in
        var lines = try log.lines(only)
        lines[8] = lines[8].replacing("key 7", with: "key 9")
        lines.append(lines[9])
        try log.write(lines: TestLog.resealed(lines), to: only)
        try log.log.append([TestLog.record("new")])
      }, verdict: .tampered,
      first:
        "tampered \(only):12 #12 nobody has acknowledged this alarm: the log's newest records were replaced: record 10 is not the one that was written"
    ),
    Row(
      name: "a line that is none",
      change: { log in
        var lines = try log.lines(only)
        lines[4] = "{\"seq\":5}"
        try log.write(lines: lines, to: only)
      }, verdict: .tampered, first: "tampered \(only):5 #5 it is no record"),
    Row(
      name: "the log of another host with the same name",
      change: { log in
        let other = try TestLog()
        try other.fill(9)
        try log.write(lines: try other.lines(only), to: only)
      }, verdict: .tampered, first: "tampered -:0 #0 the log is another one than the anchor's: "),
    Row(
      name: "log and anchor of another host",
      change: { log in
        let other = try TestLog()
        other.place.host = "lab-b-01"
        try other.fill(9)
        try log.write(lines: try other.lines(only), to: only)
        try AtomicReplacement.write(WholeFile.read(other.anchor).bytes, to: log.anchor, mode: 0o600)
      }, verdict: .tampered, first: "tampered -:0 #0 the log is of host lab-b-01, and this host is enrolled as lab-a-03"
    ),
    Row(
      name: "the anchor damaged",
      change: { log in
        var bytes = try WholeFile.read(log.anchor).bytes
        for index in bytes.indices where bytes[index] == UInt8(ascii: "0") { bytes[index] = UInt8(ascii: "1") }
        try AtomicReplacement.write(bytes, to: log.anchor, mode: 0o600)
      }, verdict: .incomplete, first: "incomplete -:0 #0 the anchor is damaged: completeness unknown"),
    Row(
      name: "a file of a segment's name",
      change: { log in try log.write("", to: "audit-7.jsonl") }, verdict: .tampered,
      first: "tampered audit-7.jsonl:0 #0 its name is none that a segment has"),
  ]

  @Test(arguments: rows) func isFoundAndNamed(row: Row) throws {
    let log = try TestLog()
    try log.fill(9)
    #expect(log.verify().text == [])
    try row.change(log)
    let verification = log.verify()
    #expect(verification.verdict == row.verdict)
    #expect(verification.text.first?.hasPrefix(row.first) == true, "\(verification.text)")
  }

  /// Of a log in segments.
  static let segmentRows: [Row] = [
    Row(
      name: "a segment missing in the middle",
      change: { log in try Directory.removeFile(log.directory + "/" + log.segments()[1]) }, verdict: .tampered,
      first: "tampered audit-000000000005.jsonl:1 #5 records 3 to 4 are missing before it"),
    Row(
      name: "the first segment missing",
      change: { log in try Directory.removeFile(log.directory + "/" + log.segments()[0]) }, verdict: .incomplete,
      first:
        "incomplete audit-000000000003.jsonl:1 #3 the log begins here: records 1 to 2 are missing, and no checkpoint vouches for them"
    ),
    Row(
      name: "the last segment missing",
      change: { log in try Directory.removeFile(log.directory + "/" + log.segments().last!) }, verdict: .tampered,
      first: "tampered audit-000000000005.jsonl:2 #6 expected 8 records, found 6"),
    Row(
      name: "two segments exchanged",
      change: { log in
        let names = try log.segments()
        let (a, b) = (try log.text(names[1]), try log.text(names[2]))
        try log.write(b, to: names[1])
        try log.write(a, to: names[2])
      }, verdict: .tampered,
      first: "tampered audit-000000000003.jsonl:1 #5 the segment's name says that record 3 comes first"),
    Row(
      name: "a segment of another log in the middle",
      change: { log in
        let other = try TestLog(limits: log.place.limits)
        try other.fill(4)
        try log.write(other.text(try other.segments()[1]), to: log.segments()[1])
      }, verdict: .tampered,
      first:
        "tampered audit-000000000003.jsonl:1 #3 the segment does not continue the one before: one of them was exchanged, or the last record was changed"
    ),
    Row(
      name: "renamed",
      change: { log in
        try Directory.rename(
          log.directory + "/" + log.segments()[1], to: log.directory + "/audit-000000000004.jsonl")
      }, verdict: .tampered,
      first: "tampered audit-000000000004.jsonl:1 #3 the segment's name says that record 4 comes first"),
    Row(
      name: "copied away and emptied, with writers going on",
      change: { log in
        for name in try log.segments() { try log.write("", to: name) }
        try log.log.append([TestLog.record("new")])
      }, verdict: .tampered,
      first:
        "tampered audit-000000000009.jsonl:1 #9 nobody has acknowledged this alarm: the log lost its newest records: expected 8 records, found 0"
    ),
  ]

  @Test(arguments: segmentRows) func isFoundAndNamedInSegments(row: Row) throws {
    let log = try TestLog(limits: AuditLogLimits(segmentBytes: 400))
    try log.fill(4)
    #expect(try log.segments().count == 4)
    #expect(log.verify().text == [])
    try row.change(log)
    let verification = log.verify()
    #expect(verification.verdict == row.verdict)
    #expect(verification.text.first?.hasPrefix(row.first) == true, "\(verification.text)")
  }

  @Test func anOldLogPlayedBackIsTold() throws {
    let log = try TestLog()
    try log.fill(3)
    let (old, oldAnchor) = (try log.text(Self.only), try WholeFile.read(log.anchor).bytes)
    let head = try #require(try LogReader(log.place).head())
    try log.fill(3)
    let newHead = try #require(try LogReader(log.place).head())
    #expect(log.verify([head, newHead]).text == [])
    try log.write(old, to: Self.only)
    #expect(log.verify().text.first?.contains("expected 7 records, found 4") == true)
    // With its anchor, which only root can: a head that was kept elsewhere tells.
    try AtomicReplacement.write(oldAnchor, to: log.anchor, mode: 0o600)
    #expect(log.verify([head]).text == [])
    #expect(
      log.verify([newHead]).text == [
        "tampered -:0 #7 the head that was kept counts 7 records; the log ends with 4"
      ])
  }

  @Test func anAlarmIsAcknowledgedOnceAndStaysInTheHistory() throws {
    let log = try TestLog()
    try log.fill(3)
    try log.write(lines: Array(try log.lines(Self.only).dropLast(2)), to: Self.only)
    let receipt = try log.log.append([TestLog.record("new")])
    #expect(receipt.alarms == ["the log lost its newest records: expected 4 records, found 2"])
    #expect(receipt.sequence == 6)
    #expect(log.verify().verdict == .tampered)
    try log.log.append([TestLog.record("newer")])
    #expect(log.verify().verdict == .tampered)
    #expect(try log.log.acknowledge(reason: "a disk was exchanged"))
    #expect(try !log.log.acknowledge(reason: "again"))
    let verification = log.verify()
    #expect(verification.text == [])
    #expect(
      verification.notes == [
        "record 5: an alarm that was acknowledged: the log lost its newest records: expected 4 records, found 2"
      ])
  }
}
