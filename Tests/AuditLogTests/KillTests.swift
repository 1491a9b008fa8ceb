import Glibc
import LinuxFiles
import TestPrograms
import Testing

@testable import AuditLog

/// A writer that is killed as it enters a system call: each of those that change something, one after the other, until it
/// gets to its end. The chain verifies, and nothing that was acknowledged is lost.
@Suite struct KillTests {
  /// What changes files, or who may write them. Not all of them occur; which do is looked up.
  static let calls = [
    "openat", "pwrite64", "write", "writev", "fdatasync", "fsync", "sync_file_range", "rename", "renameat", "renameat2",
    "unlink", "unlinkat", "fallocate", "ftruncate", "flock", "mkdir", "mkdirat", "fchmod", "fchown", "link", "linkat",
    "clone", "clone3",
  ]

  static let canTrace: Bool = {
    guard let log = try? TestLog() else { return false }
    let trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=openat"]
    let can = (try? Peer(log, under: trace, ["append", "1", "1"]).wait()) == 0
    if !can { print("SKIPPED: strace is missing or may not trace here, so no writer is killed at its system calls") }
    return can
  }()

  struct Work: Sendable, CustomTestStringConvertible {
    let name: String
    let words: [String]
    let prepare: @Sendable (TestLog) throws -> Void
    var testDescription: String { name }
  }

  static let works = [
    Work(name: "append and rotation in a new log", words: ["append", "2", "2", "400"], prepare: { _ in }),
    Work(
      name: "recovery", words: ["append", "2", "2", "2000"],
      prepare: { log in
        try log.log.append([TestLog.record("first"), TestLog.record("second", user: 1000)])
        let name = try log.segments()[0]
        try log.write(try log.text(name) + "{\"seq\":4,", to: name)
      }),
  ]

  /// How often each call is made, and how many of those come before the log is touched at all: loading the program.
  static func counts(of work: Work) throws -> [(call: String, range: ClosedRange<Int>)] {
    let log = try TestLog()
    try work.prepare(log)
    let trace = log.path + "/trace"
    let status = try Peer(
      log, under: ["strace", "-f", "-qq", "-o", trace, "-e", "trace=" + calls.joined(separator: ",")], work.words
    ).wait()
    #expect(status == 0)
    var before: [String: Int] = [:]
    var all: [String: Int] = [:]
    var isLoading = true
    for line in String(decoding: try WholeFile.read(trace).bytes, as: UTF8.self).split(separator: "\n") {
      let text = line.drop { $0.isNumber || $0 == " " }
      guard let name = text.split(separator: "(", maxSplits: 1).first.map(String.init), calls.contains(name) else {
        continue
      }
      if text.contains(log.directory) { isLoading = false }
      all[name, default: 0] += 1
      if isLoading { before[name, default: 0] += 1 }
    }
    return all.sorted { $0.key < $1.key }.compactMap { call, count in
      let first = (before[call] ?? 0) + 1
      return first <= count ? (call, first...count) : nil
    }
  }

  @Test(.enabled(if: canTrace), arguments: works) func loseNothingAtAnyCall(work: Work) async throws {
    let counts = try Self.counts(of: work)
    #expect(Set(["openat", "pwrite64", "fdatasync", "fsync", "flock", "fallocate"]).isSubset(of: counts.map(\.call)))
    let cases = counts.flatMap { entry in entry.range.map { (entry.call, $0) } }
    var killed = 0
    try await withThrowingTaskGroup(of: Bool.self) { group in
      var next = cases.makeIterator()
      for _ in 0..<3 { if let first = next.next() { group.addTask { try Self.kill(work, first.0, first.1) } } }
      while let wasKilled = try await group.next() {
        if wasKilled { killed += 1 }
        if let another = next.next() { group.addTask { try Self.kill(work, another.0, another.1) } }
      }
    }
    // Calls of a second thread are counted apart, so that some are never the N-th of theirs.
    #expect(killed >= cases.count * 3 / 4)
  }

  /// - Returns: whether it was killed.
  private static func kill(_ work: Work, _ call: String, _ number: Int) throws -> Bool {
    let log = try TestLog()
    try work.prepare(log)
    let peer = try Peer(
      log,
      under: [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e",
        "inject=\(call):signal=KILL:when=\(number)",
      ], work.words)
    let status = peer.wait()
    let label: Comment = "\(call) \(number)"
    #expect(status == 0 || status == -SIGKILL || status == 128 + SIGKILL, label)
    let acknowledged = try peer.numbers().max() ?? 0
    // As the kill left it: nothing is called tampered with, and all that was acknowledged is there.
    if acknowledged > 0 { #expect(log.verify().text == [], label) }
    try log.log.append([TestLog.record("afterwards")])
    let verification = log.verify()
    #expect(verification.text == [], label)
    #expect(verification.first == 1, label)
    #expect(try #require(verification.head?.sequence) > acknowledged, label)
    return status != 0
  }
}
