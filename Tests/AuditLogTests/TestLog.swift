import AuditEvents
import Digests
import Glibc
import LinuxFiles
import PropertyList

@testable import AuditLog

/// A log in a folder of its own, its anchor apart from it.
final class TestLog {
  let path: String
  var directory: String { path + "/log" }
  var anchor: String { path + "/state/anchor" }
  var place: AuditLogPlace

  init(limits: AuditLogLimits = AuditLogLimits()) throws {
    var template = Array("/tmp/audit-log-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Errno.current }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try Directory.create(path + "/state")
    let user = geteuid()
    place = AuditLogPlace(directory: path + "/log", anchor: path + "/state/anchor", host: "lab-a-03", limits: limits) {
      $0 == 0 || $0 == user
    }
  }

  deinit { try? Directory.removeTree(path) }

  var log: AuditLog { AuditLog(place) }

  /// A record of root's, or of a user's where a user is given.
  static func record(
    _ text: String, user: UInt32? = nil, time: Double = 1_796_000_000, administrative: Bool? = nil
  ) -> AuditRecord {
    AuditRecord(
      user == nil ? .keyTrusted : .forcedWrite,
      fields: user == nil
        ? ["name": .string(text)] : ["domain": .string("org.example.Editor"), "key": .string(text)],
      time: PropertyListDate(unixTime: time),
      attested: .init(userID: user ?? 0, processID: 7, executable: "/usr/bin/program"),
      isAdministrative: administrative ?? (user == nil))
  }

  /// Appends records one by one: `audit.began` is record 1, so `count` of them end with record `count + 1`.
  func fill(_ count: Int) throws {
    for number in 0..<count { try log.append([Self.record("key \(number)")]) }
  }

  func segments() throws -> [String] {
    try Directory.names(in: directory).filter { $0.hasPrefix("audit-") && $0.hasSuffix(".jsonl") }
  }

  func lines(_ name: String) throws -> [String] {
    try text(name).split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
  }

  func text(_ name: String) throws -> String {
    String(decoding: try WholeFile.read(directory + "/" + name).bytes, as: UTF8.self)
  }

  func write(_ text: String, to name: String) throws {
    try AtomicReplacement.write(Array(text.utf8), to: directory + "/" + name, mode: 0o640)
  }

  /// Writes lines back, each with its line end.
  func write(lines: [String], to name: String) throws {
    try write(lines.map { $0 + "\n" }.joined(), to: name)
  }

  /// Lines with numbers and digests made good, as somebody would who wants the chain to look whole.
  static func resealed(_ lines: [String]) -> [String] {
    var tip = LogTip.beginning
    return lines.map { line in
      let rest = line.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false)[2]
      let hash = HexText.encode(tip.hash)
      let sealed = "{\"seq\":\(tip.sequence + 1),\"prev\":\"\(hash)\"," + rest
      tip = Array(sealed.utf8).withUnsafeBytes { LogTip(line: $0) } ?? tip
      return sealed
    }
  }

  func verify(_ heads: [LogHead] = []) -> AuditVerification { AuditVerification(of: place, against: heads) }

  func kinds() throws -> [String] {
    var kinds: [String] = []
    try LogReader(place).forEachRecord { kinds.append($0.kind) }
    return kinds
  }
}

extension AuditVerification {
  /// Its findings as lines: file, line, number, words.
  var text: [String] {
    findings.map { finding in
      "\(finding.verdict) \(finding.file ?? "-"):\(finding.line ?? 0) #\(finding.sequence ?? 0) \(finding.what)"
    }
  }
}
