import AuditEvents
import Glibc
import LinuxFiles
import PropertyList
import TestPrograms
import Testing

@testable import AuditLog

/// The cases of the list of faults that are about the log itself, with inputs of our own.
@Suite struct FaultCaseTests {
  static let only = "audit-000000000001.jsonl"

  @Test("A01: what is cut off or deleted is missed, and nothing is never sound")
  func whatIsCutOffIsMissed() throws {
    func after(_ change: (TestLog) throws -> Void) throws -> (AuditVerification.Verdict, [String]) {
      let log = try TestLog()
      try log.fill(9)
      try change(log)
      let verification = log.verify()
      return (verification.verdict, verification.findings.map(\.what))
    }
    let cut = try after { try $0.write(lines: Array($0.lines(Self.only).dropLast(3)), to: Self.only) }
    #expect(cut.0 == .tampered)
    #expect(cut.1 == ["expected 10 records, found 7: the newest are missing after \(Self.only), line 7"])
    let emptied = try after { try $0.write("", to: Self.only) }
    #expect(emptied.0 == .tampered)
    #expect(emptied.1.contains("expected 10 records, found 0: the newest are missing in the log's folder"))
    let deleted = try after { try Directory.removeFile($0.directory + "/" + Self.only) }
    #expect(deleted.0 == .tampered)
    #expect(deleted.1 == ["expected 10 records, found 0: the newest are missing in the log's folder"])
    let both = try after {
      try Directory.removeFile($0.directory + "/" + Self.only)
      try Directory.removeFile($0.anchor)
    }
    #expect(both.0 == .incomplete)
    #expect(both.1 == ["no anchor: completeness unknown", "there are no records"])
  }

  @Test("A02: processes with threads, two of them killed, make one chain that nobody's end blocks")
  func processesAndThreadsMakeOneChain() throws {
    let log = try TestLog()
    let first = try (0..<2).map { _ in try Peer(log, "threads", "4", "20", "1") }
    let victims = try (0..<2).map { _ in try Peer(log, "threads", "4", "100000", "1") }
    for victim in victims {
      while try victim.numbers().count < 10 { try victim.goesOn() }
      victim.program.signal(SIGKILL)
      #expect(victim.wait() == -SIGKILL)
    }
    for peer in first { #expect(peer.wait() == 0) }
    try log.fill(1)
    let verification = log.verify()
    #expect(verification.text == [])
    #expect(verification.first == 1)
    let acknowledged = try (first + victims).flatMap { try $0.numbers() }
    #expect(Set(acknowledged).count == acknowledged.count)
    #expect(acknowledged.count >= 2 * 80 + 20)
    #expect(UInt64(verification.records) == verification.head?.sequence)
    #expect(verification.records > acknowledged.count)
  }

  @Test("A04: three files are one chain, also behind retention; an exchanged one is named; a writer minds copytruncate")
  func rotationKeepsTheChain() throws {
    func log() throws -> TestLog {
      let log = try TestLog()
      for _ in 0..<3 {
        try log.fill(4)
        try log.log.rotate()
      }
      return log
    }
    let whole = try log()
    #expect(try whole.segments().count == 4)
    #expect(whole.verify().text == [])
    let names = try whole.segments()
    let rotated = try #require(StoredRecord(line: Array(whole.lines(names[1])[0].utf8)))
    #expect(rotated.kind == "audit.rotated")
    #expect(rotated.fields["previous"] == .string(names[0]))
    _ = try whole.log.prune(keeping: 3)
    #expect(whole.verify().verdict == .sound)
    #expect(whole.verify().notes[0].hasPrefix("complete from record \(SegmentName(names[1])!.first) on: checkpoint "))

    let without = try log()
    try Directory.removeFile(without.directory + "/" + names[0])
    #expect(without.verify().verdict == .incomplete)

    // An older, valid one in the middle's place, and none in it.
    let exchanged = try log()
    try exchanged.write(try log().text(names[1]), to: names[1])
    #expect(exchanged.verify().findings[0].file == names[1])
    let missing = try log()
    try Directory.removeFile(missing.directory + "/" + names[1])
    #expect(missing.verify().text[0].hasPrefix("tampered \(names[2]):1 #"))

    let copied = try log()
    let last = try #require(try copied.segments().last)
    let text = try copied.text(last)
    let file = try FileDescriptor.open(copied.directory + "/" + last, .readWrite)
    try file.setSize(0)
    try copied.fill(1)
    #expect(copied.verify().findings[0].what.contains("the log lost its newest records"))
    #expect(!text.isEmpty)
  }

  @Test("A06: hostile text stays inside one escaped string, cut where it is long")
  func hostileTextIsOneString() throws {
    let log = try TestLog(limits: AuditLogLimits(textBytes: 64))
    log.place.host = "pc\n{\"seq\":98}\u{1b}[2J"
    let hostile = "x\n{\"seq\":99,\"event\":\"policy-unforced\"}\u{1b}[2J\u{9b}\u{202e}"
    var record = TestLog.record(hostile, user: 1000)
    record.fields["domain"] = .string("org.lab\nt")
    record.attested?.executable = "/tmp/\u{1b}]0;x\u{7}\nprogram"
    record.isPersonal = false
    try log.log.append([record, TestLog.record(hostile + String(repeating: "y", count: 1000))])
    #expect(log.verify().records == 3)
    let lines = try log.lines(Self.only)
    #expect(lines.count == 3)
    for line in lines {
      #expect(
        line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f && !(0x80...0x9f).contains($0.value) })
      #expect(!line.unicodeScalars.contains("\u{202e}"))
      #expect(!line.contains(#""event":"policy-unforced""#))
    }
    var found: [StoredRecord] = []
    try LogReader(log.place).forEachRecord { found.append($0) }
    #expect(found[1].fields["key"] == .string(hostile))
    #expect(found[1].fields["domain"] == .string("org.lab\nt"))
    let cut = try #require(found[2].fields["name"]?.dictionaryValue)
    #expect(cut["bytes"]?.integerValue == hostile.utf8.count + 1000)
    #expect(cut["sha256"]?.stringValue?.utf8.count == 64)
  }

  @Test("A11: a log has no key, so what it proves is its head's: any other head, log or host fails, each time")
  func onlyTheRightHeadIsSound() throws {
    let log = try TestLog()
    try log.fill(3)
    let head = try #require(try LogReader(log.place).head())
    let other = try TestLog()
    try other.fill(3)
    let foreign = try #require(try LogReader(other.place).head())
    var flipped = head.hash
    flipped[31] ^= 1
    let wrong = [
      LogHead(host: head.host, log: head.log, sequence: head.sequence, hash: flipped, time: head.time),
      LogHead(host: head.host, log: nil, sequence: head.sequence, hash: [UInt8](repeating: 0, count: 32), time: nil),
      foreign,
    ]
    for _ in 0..<100 {
      #expect(log.verify([head]).verdict == .sound)
      for head in wrong { #expect(log.verify([head]).verdict == .tampered) }
    }
    // Without an anchor nothing says how long it should be; as another host's it is nobody's.
    var moved = log.place
    moved.host = "lab-b-01"
    #expect(AuditVerification(of: moved).verdict == .tampered)
    try Directory.removeFile(log.anchor)
    #expect(log.verify([head]).verdict == .incomplete)
  }
}
