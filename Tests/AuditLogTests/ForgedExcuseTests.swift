import AuditEvents
import Digests
import LinuxFiles
import PropertyList
import Testing

@testable import AuditLog

/// Records that vouch for something, written by somebody who can write the log and not the anchor.
@Suite struct ForgedExcuseTests {
  static let only = "audit-000000000001.jsonl"

  /// A line of the chain behind `tip`, as the log writes it.
  static func line(_ kind: AuditEvent.Kind, _ fields: [String: PropertyListValue], after tip: LogTip) -> String {
    let writer = LineWriter(after: tip, host: "lab-a-03", textBytes: 1024)
    writer.add([.own(kind, fields: fields)])
    return String(decoding: Array(writer.lines.bytes).dropLast(), as: UTF8.self)
  }

  static func tip(_ lines: [String]) throws -> LogTip {
    let last = try #require(lines.last)
    return try #require(Array(last.utf8).withUnsafeBytes { LogTip(line: $0) })
  }

  static func hash(_ tip: LogTip) -> PropertyListValue { .string(HexText.encode(tip.hash)) }

  static func number(_ value: UInt64) -> PropertyListValue { .integer(PropertyListInteger(value)) }

  /// Cut off, and sealed with an alarm and its acknowledgement that nobody but the forger wrote.
  @Test func aShorterHistoryIsNotSealedByAForgedAlarm() throws {
    let log = try TestLog()
    try log.fill(4)
    let lines = try log.lines(Self.only)
    let (kept, last) = (Array(lines.dropLast(2)), try Self.tip(lines))
    try log.write(lines: kept, to: Self.only)
    let found = try Self.tip(kept)
    let alarm = Self.line(
      .auditAlarm,
      [
        "log": .string(try #require(log.verify().head?.log)), "reason": .string("shrank"),
        "expected": Self.number(last.sequence), "expectedHash": Self.hash(last), "found": Self.number(found.sequence),
        "foundHash": Self.hash(found),
      ], after: last)
    let acknowledged = Self.line(
      .auditAcknowledged, ["through": Self.number(6), "reason": .string("x")], after: try Self.tip([alarm]))
    try log.write(lines: [alarm, acknowledged], to: "audit-000000000006.jsonl")
    #expect(
      log.verify().text == [
        "tampered audit-000000000006.jsonl:1 #6 records 4 to 5 are missing before it",
        "tampered audit-000000000006.jsonl:2 #7 the record vouches for something (audit.acknowledged), and the anchor neither counted nor announced it",
        "tampered audit-000000000006.jsonl:1 #6 nobody has acknowledged this alarm: the log lost its newest records: expected 5 records, found 3",
        "tampered -:0 #5 record 5, which the anchor counted last, is not there",
      ])
  }

  @Test(arguments: [
    ("audit.erased", "records", "3-4"), ("audit.checkpoint", "through", "2"), ("audit.acknowledged", "through", "4"),
    ("audit.set-aside", "through", "5"),
  ])
  func whatTheAnchorDidNotAnnounceIsNotBelieved(_ kind: String, _ field: String, _ value: String) throws {
    let log = try TestLog()
    for number in 0..<4 { try log.log.append([TestLog.record("key \(number)", user: 1000)]) }
    var lines = try log.lines(Self.only)
    let fields: [String: PropertyListValue] = [
      field: UInt64(value).map { Self.number($0) } ?? .string(value), "reason": .string("x"),
    ]
    lines.append(Self.line(.init(rawValue: kind), fields, after: try Self.tip(lines)))
    try log.write(lines: lines, to: Self.only)
    let finding =
      "tampered \(Self.only):6 #6 the record vouches for something (\(kind)), and the anchor neither counted nor announced it"
    #expect(log.verify().text == [finding])
    // Nor once a genuine record has followed: that one raises an alarm.
    let receipt = try log.log.append([TestLog.record("genuine")])
    let words = "record 6 vouches for something that is missing, or ends an alarm, and the anchor had not announced it"
    #expect(receipt.alarms == [words])
    #expect(log.verify().text == ["tampered \(Self.only):7 #7 nobody has acknowledged this alarm: \(words)"])
  }

  /// A genuine alarm stays until it is acknowledged by who can write the anchor.
  @Test func aForgedAcknowledgementSilencesNothing() throws {
    let log = try TestLog()
    try log.fill(3)
    try log.write(lines: Array(try log.lines(Self.only).dropLast(2)), to: Self.only)
    try log.log.append([TestLog.record("new")])
    let newest = try #require(try log.segments().last)
    var lines = try log.lines(newest)
    let tip = try Self.tip(lines)
    lines.append(
      Self.line(.auditAcknowledged, ["through": Self.number(tip.sequence), "reason": .string("x")], after: tip))
    try log.write(lines: lines, to: newest)
    #expect(log.verify().verdict == .tampered)
    try log.log.append([TestLog.record("newer")])
    #expect(log.verify().verdict == .tampered)
  }

  /// What is before an acknowledged alarm is held against what the alarm found.
  @Test func whatIsBeforeAnAcknowledgedAlarmIsNotFreeToBeRewritten() throws {
    for removes in [false, true] {
      let log = try TestLog()
      try log.fill(5)
      try log.write(lines: Array(try log.lines(Self.only).dropLast(2)), to: Self.only)
      try log.log.append([TestLog.record("new")])
      #expect(try log.log.acknowledge(reason: "a disk was exchanged"))
      #expect(log.verify().verdict == .sound)
      if removes {
        try Directory.removeFile(log.directory + "/" + Self.only)
        #expect(
          log.verify().text == [
            "incomplete audit-000000000007.jsonl:1 #7 the log begins here: records 1 to 6 are missing, and no checkpoint vouches for them"
          ])
      } else {
        let lines = try log.lines(Self.only).map { $0.replacing("key 1", with: "key 9") }
        try log.write(lines: TestLog.resealed(lines), to: Self.only)
        #expect(
          log.verify().text == ["tampered audit-000000000007.jsonl:1 #7 records 5 to 6 are missing before it"])
      }
    }
  }

  @Test func numbersAtTheEdgeAreFindingsAndStopNothing() throws {
    let log = try TestLog()
    try log.fill(2)
    var lines = try log.lines(Self.only)
    lines.append(lines[2].replacing("{\"seq\":3", with: "{\"seq\":18446744073709551615"))
    try log.write(lines: lines, to: Self.only)
    #expect(log.verify().verdict == .tampered)
    for name in ["audit-18446744073709551615.jsonl", "audit-000000000000.jsonl"] {
      try log.write("torn", to: name)
      #expect(log.verify().text.contains("tampered \(name):0 #0 its name is none that a segment has"))
    }
    try log.log.append([TestLog.record("new")])
  }

  /// Two names that are cut to the same text, and fields without end: one packet must neither stop the agent nor fill the disk.
  @Test func aRecordTakesWhatItMayAndNoMore() throws {
    let log = try TestLog()
    let name = String(repeating: "n", count: 256)
    let twins: PropertyListValue = .dictionary([name + "1": .integer(1), name + "2": .integer(2)])
    let wide: PropertyListValue = .array(
      Array(repeating: .string(String(repeating: "\u{E000}", count: 300)), count: 200))
    for profiles in [twins, wide] {
      var record = TestLog.record("k", user: 1000)
      record.fields["profiles"] = profiles
      try log.log.append([record])
    }
    #expect(log.verify().verdict == .sound)
    let personal = try log.lines("audit-000000000001.personal")
    #expect(personal.count == 2)
    #expect(personal[0].contains("\"\(name)\":"))
    #expect(personal[1].utf8.count < 1024)
    #expect(personal[1].contains("\"fields\":{\"cut\":{\"bytes\":"))
  }

  /// Who claims to be another does not get his own records erased with the other's.
  @Test func anErasureGoesByWhatTheKernelSaid() throws {
    let log = try TestLog()
    var record = TestLog.record("mine", user: 1001)
    record.claimed = .init(processID: 1, userID: 1002, executable: nil)
    try log.log.append([record])
    #expect(try log.log.erase(reason: "left the school") { $0 == 1002 } == 0)
    #expect(try log.log.erase(reason: "left the school") { $0 == 1001 } == 1)
  }

  /// Personal parts are of any size beside lines that are short: a segment ends with either.
  @Test func aSegmentEndsWithItsPersonalPartsToo() throws {
    let log = try TestLog(limits: AuditLogLimits(segmentBytes: 4096))
    let text = String(repeating: "x", count: 1000)
    for number in 0..<6 { try log.log.append([TestLog.record("\(number)\(text)", user: 1000)]) }
    #expect(try log.lines("audit-000000000001.jsonl").joined(separator: "\n").utf8.count < 4096)
    #expect(try log.segments().count == 2)
    #expect(log.verify().verdict == .sound)
  }

  /// What came after the verification is not vouched for by it.
  @Test func retentionGoesNoFurtherThanWhatWasVerified() throws {
    let log = try TestLog()
    try log.fill(2)
    try log.log.rotate()
    let verified = try #require(log.verify().head?.sequence)
    try log.fill(2)
    try log.log.rotate()
    #expect(try log.log.prune(keeping: 1, verifiedThrough: 2).records == nil)
    #expect(try log.log.prune(keeping: 1, verifiedThrough: verified).records == 1...3)
    #expect(log.verify().verdict == .sound)
  }
}
