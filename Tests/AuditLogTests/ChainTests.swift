import AuditEvents
import Digests
import LinuxFiles
import PropertyList
import Testing

@testable import AuditLog

@Suite struct ChainTests {
  @Test func aLineHasItsNumberAndTheDigestOfTheLineBeforeFirst() throws {
    let log = try TestLog()
    let receipt = try log.log.append([
      TestLog.record("first", time: 4_102_444_800.25), TestLog.record("second", time: 4_102_444_800.25),
    ])
    let lines = try log.lines("audit-000000000001.jsonl")
    #expect(lines.count == 3)
    #expect(
      lines[0].hasPrefix(
        #"{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","time":""#))
    var before = HexText.encode(SHA256.digest(of: Array(lines[0].utf8)))
    #expect(
      lines[1]
        == #"{"seq":2,"prev":"\#(before)","time":"2100-01-01T00:00:00.250Z","kind":"key.trusted","host":"lab-a-03","attested":{"uid":0,"pid":7,"executable":"/usr/bin/program"},"fields":{"name":"first"}}"#
    )
    before = HexText.encode(SHA256.digest(of: Array(lines[1].utf8)))
    #expect(lines[2].hasPrefix(#"{"seq":3,"prev":"\#(before)","#))
    #expect(receipt.sequence == 3)
    #expect(receipt.hash == SHA256.digest(of: Array(lines[2].utf8)))
    #expect(log.verify().verdict == .sound)
    #expect(log.verify().records == 3)
  }

  @Test func aClockThatGoesBackIsNotedAndOrderIsByNumber() throws {
    let log = try TestLog()
    try log.log.append([TestLog.record("a", time: 4_000_000_000), TestLog.record("b", time: 3_999_996_400)])
    var clocks: [Int?] = []
    var numbers: [UInt64] = []
    try LogReader(log.place).forEachRecord {
      clocks.append($0.clock)
      numbers.append($0.sequence)
    }
    #expect(clocks == [nil, nil, -3600])
    #expect(numbers == [1, 2, 3])
    #expect(log.verify().verdict == .sound)
  }

  @Test func aSegmentThatIsFullGetsASuccessorThatContinuesTheChain() throws {
    let log = try TestLog(limits: AuditLogLimits(segmentBytes: 700))
    try log.fill(8)
    let segments = try log.segments()
    #expect(segments.count > 3)
    for name in segments.dropFirst() {
      let first = try #require(StoredRecord(line: Array(try log.lines(name)[0].utf8)))
      #expect(first.kind == "audit.rotated")
      #expect(name == SegmentName(first: first.sequence).segment)
    }
    let verification = log.verify()
    #expect(verification.text == [])
    #expect(verification.segments == segments.count)
    #expect(verification.head?.sequence == UInt64(verification.records))
  }

  @Test func aSegmentThatIsOldGetsASuccessor() throws {
    let log = try TestLog(limits: AuditLogLimits(segmentSeconds: 100))
    try log.log.append([TestLog.record("a")])
    try log.log.append([TestLog.record("b", time: 4_000_000_000)])
    #expect(try log.kinds() == ["audit.began", "key.trusted", "audit.rotated", "key.trusted"])
    #expect(log.verify().text == [])
  }

  @Test func fieldsThatTheKindDoesNotHaveAreNotWritten() throws {
    let log = try TestLog()
    var record = TestLog.record("k", user: 1000)
    record.fields["value"] = .string("s3cret")
    record.fields["old"] = .dictionary(["auth": .dictionary(["credential": .string("s3cret")])])
    try log.log.append([record])
    var found: StoredRecord?
    try LogReader(log.place).forEachRecord { found = $0 }
    #expect(
      found?.fields == [
        "domain": .string("org.example.Editor"), "key": .string("k"), "withheld": .integer(2),
      ])
    for name in try Directory.names(in: log.directory) { #expect(try !log.text(name).contains("s3cret")) }
  }

  @Test func hostileTextStaysInsideOneField() throws {
    let log = try TestLog()
    let hostile = "x\n{\"seq\":99,\"kind\":\"policy.unforced\"}\u{1b}[2J\u{202e}\u{9b}31m"
    try log.log.append([TestLog.record(hostile), TestLog.record(hostile, user: 1000)])
    #expect(log.verify().text == [])
    #expect(log.verify().records == 3)
    for name in try Directory.names(in: log.directory) where name.hasPrefix("audit-") {
      for byte in try WholeFile.read(log.directory + "/" + name).bytes { #expect(byte == 10 || byte >= 0x20) }
      #expect(try !log.text(name).contains("\"kind\":\"policy.unforced\""))
      #expect(try !log.text(name).unicodeScalars.contains("\u{202e}"))
    }
    var keys: [PropertyListValue?] = []
    try LogReader(log.place).forEachRecord { keys.append($0.fields["name"] ?? $0.fields["key"]) }
    #expect(keys == [nil, .string(hostile), .string(hostile)])
  }

  @Test func longTextIsCutAndSaysSo() throws {
    let log = try TestLog(limits: AuditLogLimits(textBytes: 16))
    let long = String(repeating: "ä", count: 5000)
    try log.log.append([TestLog.record(long)])
    var found: StoredRecord?
    try LogReader(log.place).forEachRecord { found = $0 }
    #expect(
      found?.fields["name"]
        == .dictionary([
          "cut": .string("ääää"), "bytes": .integer(10000),
          "sha256": .string(HexText.encode(SHA256.digest(of: Array(long.utf8)))),
        ]))
  }

  @Test func kindsAreWordsOrMalformed() throws {
    let log = try TestLog()
    for kind in ["a\",\"seq\":7,\"", "", "Über", "policy.installed"] {
      var record = TestLog.record("x")
      record.kind = AuditEvent.Kind(rawValue: kind)
      try log.log.append([record])
    }
    #expect(
      try log.kinds() == ["audit.began", "event.malformed", "event.malformed", "event.malformed", "policy.installed"])
    #expect(log.verify().text == [])
  }
}
