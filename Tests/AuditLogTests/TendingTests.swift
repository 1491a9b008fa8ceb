import AuditEvents
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import AuditLog

/// Retention, erasure, disks that are full, and other users.
@Suite struct TendingTests {
  /// A log of four segments of two records; the newest has one more.
  private func inSegments() throws -> TestLog {
    let log = try TestLog(limits: AuditLogLimits(segmentBytes: 1))
    try log.fill(4)
    return log
  }

  @Test func oldSegmentsGoWithACheckpoint() throws {
    let log = try inSegments()
    let names = try log.segments()
    let done = try log.log.prune(keeping: 2)
    #expect(done == .init(segments: names.count - 2, records: 1...SegmentName(names[names.count - 2])!.first - 1))
    let verification = log.verify()
    #expect(verification.text == [])
    #expect(verification.first == SegmentName(names[names.count - 2])!.first)
    #expect(verification.notes.count == 1)
    #expect(verification.notes[0].hasPrefix("complete from record \(verification.first!) on: checkpoint "))
    // One more taken away, and no checkpoint tells of it.
    try Directory.removeFile(log.directory + "/" + log.segments()[0])
    #expect(log.verify().verdict == .incomplete)
  }

  @Test func theNewestSegmentAlwaysStays() throws {
    let log = try inSegments()
    for kept in [0, 1, 0] {
      _ = try log.log.prune(keeping: kept)
      #expect(try log.segments().count >= 1)
      #expect(log.verify().text == [])
    }
    #expect(try log.log.prune(keeping: 1000) == .init(segments: 0, records: nil))
  }

  @Test func ageKeepsSegments() throws {
    let log = try TestLog()
    try log.log.append([TestLog.record("old", time: 4_000_000_000)])
    try log.log.rotate()
    let count = try log.segments().count
    #expect(try log.log.prune(keeping: 1, before: PropertyListDate(unixTime: 1)).segments == 0)
    #expect(try log.segments().count == count)
  }

  @Test func personalPartsAreErasedAndTheChainStays() throws {
    let log = try TestLog()
    for (user, key) in [(1000, "Alpha"), (1001, "Beta"), (1000, "Gamma")] as [(UInt32, String)] {
      try log.log.append([TestLog.record(key, user: user)])
    }
    let segment = try log.text("audit-000000000001.jsonl")
    for word in ["Alpha", "Beta", "1000", "org.example.Editor"] { #expect(!segment.contains(word)) }
    #expect(try log.log.erase(reason: "request 17") { $0 == 1000 } == 2)
    let personal = try log.text("audit-000000000001.personal")
    #expect(!personal.contains("Alpha") && !personal.contains("1000") && personal.contains("Beta"))
    let verification = log.verify()
    #expect(verification.text == [])
    #expect(verification.erased == 2)
    var states: [StoredRecord.Personal] = []
    var told: PropertyListValue?
    try LogReader(log.place).forEachRecord {
      states.append($0.personal)
      if $0.kind == "audit.erased" { told = $0.fields["records"] }
    }
    #expect(states == [.none, .erased, .present, .erased, .none])
    #expect(told == .string("2,4"))
    #expect(try log.log.erase(reason: "again") { $0 == 1000 } == 0)
  }

  @Test(arguments: ["changed", "taken away"]) func personalPartsThatNoErasureTellsOfAreFound(how: String) throws {
    let log = try TestLog()
    try log.log.append([TestLog.record("Alpha", user: 1000), TestLog.record("Beta", user: 1000)])
    let name = "audit-000000000001.personal"
    let lines = try log.lines(name)
    try log.write(
      lines: how == "changed" ? [lines[0].replacing("Alpha", with: "Omega"), lines[1]] : [lines[1]], to: name)
    #expect(
      log.verify().text == [
        "tampered audit-000000000001.jsonl:2 #2 the personal part of the record was changed or taken away, and no record tells of an erasure"
      ])
  }

  @Test func aWriterThatFindsNoRoomKeepsAdministrativeRecords() throws {
    let log = try TestLog()
    try log.fill(1)
    // The disk is full: nothing can be reserved; what is reserved already can be written.
    let full = LogOperations { (operation) throws(Errno) in
      if operation.change == .reserve || operation.change == .create { throw .noSpace }
    }
    let receipt = try AuditLog(log.place, operations: full).append([
      TestLog.record("lost", user: 1000), TestLog.record("kept"), TestLog.record("lost too", user: 1000),
    ])
    #expect(receipt.dropped == 2)
    #expect(log.verify().text == [])
    #expect(log.verify().notes == ["2 records found no room on the disk; no record tells of them yet"])
    #expect(try AuditLog(log.place, operations: full).append([TestLog.record("lost", user: 1000)]).dropped == 1)
    try log.fill(1)
    #expect(try log.kinds() == ["audit.began", "key.trusted", "key.trusted", "audit.dropped", "key.trusted"])
    var count: PropertyListValue?
    try LogReader(log.place).forEachRecord { if $0.kind == "audit.dropped" { count = $0.fields["count"] } }
    #expect(count == .integer(3))
    #expect(log.verify().notes == [])
  }

  static let canMount: Bool = {
    let can = geteuid() == 0 && mount("audit-log-tests", "/mnt", "tmpfs", 0, "size=64k") == 0
    if can { umount2("/mnt", Int32(MNT_DETACH)) }
    if !can { print("SKIPPED: no tmpfs can be mounted here, so full disks are only pretended") }
    return can
  }()

  @Test(.enabled(if: canMount)) func aDiskThatIsFullTakesAdministrativeRecordsIntoItsReserve() throws {
    let log = try TestLog(limits: AuditLogLimits(reserveBytes: 32 << 10))
    try Directory.create(log.directory, mode: 0o750)
    try #require(mount("audit-log-tests", log.directory, "tmpfs", 0, "size=192k,mode=0750") == 0)
    defer { umount2(log.directory, Int32(MNT_DETACH)) }
    try log.fill(1)
    let filler = try FileDescriptor.open(log.directory + "/filler", [.writeOnly, .create])
    while (try? filler.write([UInt8](repeating: 0, count: 4096))) != nil {}
    var dropped = 0
    for _ in 0..<20 { dropped += try log.log.append([TestLog.record("user's", user: 1000)]).dropped }
    #expect(dropped == 20)
    for _ in 0..<20 { try log.log.append([TestLog.record("root's")]) }
    #expect(log.verify().text == [])
    // Beyond the reserve nothing lands, and nothing is half there.
    var refused: AuditLogError?
    for _ in 0..<2000 where refused == nil {
      do throws(AuditLogError) { try log.log.append([TestLog.record("root's")]) } catch { refused = error }
    }
    #expect(refused?.reason == .full)
    #expect(log.verify().text == [])
    try filler.setSize(0)
    try log.fill(1)
    #expect(log.verify().text == [])
    let kinds = try log.kinds()
    #expect(kinds.last == "key.trusted")
    #expect(kinds.filter { $0 == "audit.dropped" }.count == 1)
    #expect(log.verify().notes == [])
  }
}
