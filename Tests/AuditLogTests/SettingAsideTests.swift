import CommandSandbox
import Digests
import LinuxFiles
import PropertyList
import Testing

@testable import AuditLog

/// A log that does not verify is set aside with all that it has, and the log goes on behind it.
@Suite struct SettingAsideTests {
  /// Seven records in two segments, of which record 3 was edited.
  static func tampered() throws -> TestLog {
    let log = try TestLog()
    try log.log.append([TestLog.record("first", user: 1000), TestLog.record("second")])
    try log.log.rotate()
    try log.log.append([TestLog.record("third", user: 1000), TestLog.record("fourth")])
    let name = try log.segments()[0]
    try log.write(try log.text(name).replacing("second", with: "secund"), to: name)
    return log
  }

  static let finding =
    "tampered audit-000000000004.jsonl:1 #4 the segment does not continue the one before: one of them was exchanged, or "
    + "the last record was changed"

  static func files(_ directory: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try Directory.names(in: directory) where name.hasPrefix("audit-0") {
      files[name] = try WholeFile.read(directory + "/" + name).bytes
    }
    return files
  }

  @Test func allOfItIsKeptAndOnRecord() throws {
    let log = try Self.tampered()
    #expect(log.verify().text == [Self.finding])
    let head = try #require(log.verify().head)
    let before = try Self.files(log.directory)
    let done = try log.log.setAside(finding: "record 3 was changed", reason: "ticket 17")
    #expect(done.folder == log.directory + "/aside-000000000006")
    #expect(done.through == 6)
    #expect(done.files == before.count + 1)
    var kept = try Self.files(done.folder)
    for (name, bytes) in before { #expect(kept.removeValue(forKey: name) == bytes, "\(name)") }
    #expect(kept.isEmpty)
    let sums = try WholeFile.read(done.folder + "/SHA256SUMS").bytes
    #expect(SHA256.digest(of: sums) == done.digest)
    let sandbox = try Sandbox(named: "aside")
    let check = sandbox.execute([
      "sh", "-c", "cd \"$1\" && sha256sum -c --strict --quiet SHA256SUMS", "sh", done.folder,
    ])
    #expect(check.exitCode == 0, "\(check.output)\(check.errors)")

    #expect(try log.segments() == ["audit-000000000007.jsonl"])
    let verification = log.verify()
    #expect(verification.text == [])
    #expect(
      verification.notes == [
        "complete from record 7 on: record 7 tells of those that were set aside",
        "record 7: the log before it did not verify (record 3 was changed) and is in aside-000000000006, where SHA256SUMS "
          + "has the digest \(HexText.encode(done.digest)): ticket 17",
      ])
    #expect(
      log.verify([head]).text == [
        "incomplete -:0 #6 record 6, which the head has that was kept, is not there"
      ])

    // What was set aside can be looked at as before.
    let aside = AuditLogPlace(
      directory: done.folder, anchor: done.folder + "/audit-anchor", host: "lab-a-03",
      isTrustedOwner: log.place.isTrustedOwner)
    let old = AuditVerification(of: aside, against: [head])
    #expect(old.text == [Self.finding])
    #expect(old.notes == ["record 6 is the one that the head has that was kept"])

    // It goes on as every log does.
    try log.log.append([TestLog.record("fifth")])
    try log.log.rotate()
    #expect(log.verify().text == [])
    _ = try log.log.prune(keeping: 1)
    #expect(log.verify().text == [])
    #expect(try Self.files(done.folder).count == before.count)
  }

  @Test func whatElseLooksLikeALogGoesWithIt() throws {
    let log = try Self.tampered()
    try log.write("x", to: "audit-foreign.jsonl")
    try Directory.create(log.directory + "/audit-folder.jsonl")
    let done = try log.log.setAside(finding: "x", reason: "y")
    #expect(log.verify().text == [])
    for name in ["audit-foreign.jsonl", "audit-folder.jsonl"] {
      #expect(try Directory.names(in: done.folder).contains(name))
    }
    // Once more, behind an edit of what followed.
    try log.log.append([TestLog.record("fifth")])
    let name = try log.segments()[0]
    try log.write(try log.text(name).replacing("\"y\"", with: "\"z\""), to: name)
    #expect(log.verify().verdict == .tampered)
    let again = try log.log.setAside(finding: "x", reason: "y")
    #expect(again.folder != done.folder)
    #expect(log.verify().text == [])
  }

  /// What is missing altogether, and a lost anchor.
  @Test(arguments: ["all segments", "the anchor", "the newest segment"])
  func whatIsMissingIsSetAsideWithItsAlarm(_ what: String) throws {
    let log = try Self.tampered()
    switch what {
    case "all segments": for name in try log.segments() { try Directory.removeFile(log.directory + "/" + name) }
    case "the anchor": try Directory.removeFile(log.anchor)
    default: try Directory.removeFile(log.directory + "/" + log.segments()[1])
    }
    #expect(log.verify().verdict != .sound)
    let done = try log.log.setAside(finding: "x", reason: "y")
    #expect(done.through >= 6)
    #expect(log.verify().text == [])
    try log.log.append([TestLog.record("fifth")])
    #expect(log.verify().text == [])
  }

  /// Ended at each change on the disk: all of the old log is somewhere, it is sound only when all of it is set aside, and a
  /// second attempt gets to the end.
  @Test func whoIsEndedOnTheWayLosesNothing() throws {
    var number = 0
    var status: Int32 = 9
    while status == 9 {
      number += 1
      let log = try Self.tampered()
      let before = try Self.files(log.directory)
      status = try Peer(log, "crash", "\(number)", "set-aside").wait()
      #expect(status == 9 || status == 0)
      let folders = try Directory.names(in: log.directory).filter { $0.hasPrefix("aside-") }
      func isKept(_ name: String, _ bytes: [UInt8]) -> Bool {
        ([log.directory] + folders.map { log.directory + "/" + $0 }).contains {
          (try? WholeFile.read($0 + "/" + name).bytes) == bytes
        }
      }
      for (name, bytes) in before { #expect(isKept(name, bytes), "change \(number): \(name)") }
      if log.verify().verdict == .sound {
        let folder = log.directory + "/" + (try #require(folders.first))
        #expect(try Self.files(folder).filter { before[$0.key] == $0.value }.count == before.count, "change \(number)")
        #expect(try log.kinds().contains("audit.set-aside"))
      } else {
        #expect(log.verify().text.contains { $0.hasPrefix("tampered") }, "change \(number)")
        _ = try log.log.setAside(finding: "x", reason: "again")
      }
      #expect(log.verify().text == [], "change \(number)")
      for (name, bytes) in before {
        #expect(
          try Directory.names(in: log.directory).filter { $0.hasPrefix("aside-") }.contains {
            (try? WholeFile.read(log.directory + "/" + $0 + "/" + name).bytes) == bytes
          }, "change \(number): \(name)")
      }
      try log.log.append([TestLog.record("afterwards")])
      #expect(log.verify().text == [], "change \(number)")
    }
    #expect(number > 15)
  }
}
