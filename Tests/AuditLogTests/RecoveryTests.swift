import AuditEvents
import LinuxFiles
import PropertyList
import Testing

@testable import AuditLog

@Suite struct RecoveryTests {
  static let only = "audit-000000000001.jsonl"

  @Test func anUnfinishedLineIsCutOffKeptAndTold() throws {
    let log = try TestLog()
    try log.fill(3)
    try log.write(try log.text(Self.only) + "{\"seq\":5,\"prev\":\"00", to: Self.only)
    let verification = log.verify()
    #expect(verification.text == [])
    #expect(
      verification.notes == [
        "\(Self.only) ends with 19 bytes of a line that was not finished; the next record cuts them off"
      ])
    try log.fill(1)
    #expect(log.verify().text == [])
    #expect(log.verify().notes == [])
    #expect(try log.kinds().suffix(2) == ["audit.recovered", "key.trusted"])
    let torn = try Directory.names(in: log.directory).filter { $0.contains("torn") }
    #expect(torn.count == 1)
    #expect(try log.text(torn[0]) == "{\"seq\":5,\"prev\":\"00")
    var told: PropertyListValue?
    try LogReader(log.place).forEachRecord { if $0.kind == "audit.recovered" { told = $0.fields["file"] } }
    #expect(told == .string(torn[0]))
  }

  @Test func aRecordThatWasCountedAndIsCutGivesAnAlarmAsWell() throws {
    let log = try TestLog()
    try log.fill(3)
    try log.write(String(try log.text(Self.only).dropLast(20)), to: Self.only)
    let receipt = try log.log.append([TestLog.record("new")])
    #expect(receipt.alarms == ["the log lost its newest records: expected 4 records, found 3"])
    #expect(
      try log.kinds() == [
        "audit.began", "key.trusted", "key.trusted", "audit.alarm", "audit.recovered", "key.trusted",
      ])
    #expect(log.verify().verdict == .tampered)
    #expect(try log.log.acknowledge(reason: "power was cut"))
    #expect(log.verify().text == [])
  }

  @Test func zerosAtTheEndAreCutOff() throws {
    let log = try TestLog()
    try log.fill(2)
    try log.write(try log.text(Self.only) + String(repeating: "\0", count: 100) + "\n\0\0", to: Self.only)
    try log.fill(1)
    #expect(log.verify().text == [])
    #expect(try log.kinds().suffix(2) == ["audit.recovered", "key.trusted"])
  }

  @Test func anAnchorWhoseSlotIsTornLeavesTheOneBefore() throws {
    let log = try TestLog()
    try log.fill(3)
    var bytes = try WholeFile.read(log.anchor).bytes
    guard case .read(let newest) = Anchor.read(bytes) else { throw Errno.invalidArgument }
    bytes.replaceSubrange(newest.offset + 60..<newest.offset + 512, with: [UInt8](repeating: 0, count: 452))
    try AtomicReplacement.write(bytes, to: log.anchor, mode: 0o600)
    #expect(log.verify().text == [])
    try log.fill(1)
    #expect(log.verify().text == [])
    #expect(log.verify().records == 5)
  }

  @Test func aFileThatOthersMayWriteIsNotWrittenTo() throws {
    let log = try TestLog()
    try log.fill(1)
    for path in [log.directory, log.directory + "/" + Self.only, log.anchor] {
      let mode = try FileMetadata.of(path).permissions
      let descriptor = try FileDescriptor.open(path)
      try descriptor.setMode(0o777)
      #expect(throws: AuditLogError(.notTrustworthy("others may write it (mode 777)"), path: path)) {
        try log.log.append([TestLog.record("x")])
      }
      try descriptor.setMode(mode)
    }
    #expect(log.verify().records == 2)
  }

  @Test func modesKeepOthersOut() throws {
    let log = try TestLog()
    try log.log.append([TestLog.record("x"), TestLog.record("y", user: 1000)])
    let modes =
      [
        log.directory: 0o750, log.directory + "/" + Self.only: 0o640, log.anchor: 0o600,
        log.directory + "/audit-000000000001.personal": 0o640, log.directory + "/lock": 0o600,
      ] as [String: UInt32]
    for (path, mode) in modes { #expect(try FileMetadata.of(path).permissions == mode, "\(path)") }
  }
}
