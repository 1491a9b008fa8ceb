import AuditEvents
import Glibc
import LinuxFiles
import PropertyList
import TestPrograms
import Testing

@testable import AuditLog

/// Many writers, and writers that end in the middle.
@Suite struct WriterTests {
  @Test func tenProcessesRotationAndRetentionMakeOneChain() throws {
    let log = try TestLog()
    let writers = try (0..<10).map { _ in try Peer(log, "append", "20", "4", "8000") }
    let rotation = try Peer(log, "rotate", "10")
    let retention = try Peer(log, "prune", "3", "10")
    for peer in writers + [rotation, retention] { #expect(peer.wait() == 0) }
    let verification = log.verify()
    #expect(verification.text == [])
    var acknowledged: [UInt64] = []
    for writer in writers {
      let numbers = try writer.numbers()
      #expect(numbers.count == 20)
      #expect(numbers == numbers.sorted())
      acknowledged += numbers
    }
    #expect(Set(acknowledged).count == 200)
    // Everything that was acknowledged is there, or was removed with a checkpoint.
    let head = try #require(verification.head?.sequence)
    #expect(head >= acknowledged.max()!)
    #expect(UInt64(verification.records) == head - verification.first! + 1)
  }

  @Test func tenProcessesOfWhichSomeAreKilledRotationAndRetentionMakeOneChain() throws {
    let log = try TestLog()
    let victims = try (0..<4).map { _ in try Peer(log, "append", "100000", "4", "8000") }
    let writers = try (0..<6).map { _ in try Peer(log, "append", "15", "4", "8000") }
    let rotation = try Peer(log, "rotate", "5")
    let retention = try Peer(log, "prune", "3", "5")
    // Each victim has appended something before it ends.
    for (index, victim) in victims.enumerated() {
      while try victim.numbers().count <= index { try victim.goesOn() }
      victim.program.signal(SIGKILL)
      #expect(victim.wait() == -SIGKILL)
    }
    for peer in writers + [rotation, retention] { #expect(peer.wait() == 0) }
    #expect(log.verify().text == [])
    try log.fill(1)
    let verification = log.verify()
    #expect(verification.text == [])
    let acknowledged = try (victims + writers).flatMap { try $0.numbers() }
    #expect(Set(acknowledged).count == acknowledged.count)
    #expect(acknowledged.count >= 6 * 15 + 4)
    #expect(try #require(verification.head?.sequence) > acknowledged.max()!)
    #expect(UInt64(verification.records) == verification.head!.sequence - verification.first! + 1)
  }

  @Test func threadsOfOneProcessMakeOneChain() async throws {
    let log = try TestLog()
    let place = log.place
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for number in 0..<25 { try AuditLog(place).append([TestLog.record("key \(number)")], patience: 300) }
        }
      }
      try await group.waitForAll()
    }
    #expect(log.verify().text == [])
    #expect(log.verify().records == 201)
  }

  @Test func writersThatAreKilledLeaveAChain() throws {
    let log = try TestLog()
    let victims = try (0..<4).map { _ in try Peer(log, "append", "100000", "4", "20000") }
    let writers = try (0..<4).map { _ in try Peer(log, "append", "50", "4", "20000") }
    // Each has come to write.
    for victim in victims { while try victim.numbers().isEmpty { try victim.goesOn() } }
    for victim in victims { victim.program.signal(SIGKILL) }
    for victim in victims { #expect(victim.wait() == -SIGKILL) }
    for writer in writers { #expect(writer.wait() == 0) }
    try log.fill(1)
    #expect(log.verify().text == [])
  }

  struct Work: Sendable, CustomTestStringConvertible {
    let words: [String]
    /// Records in the log before, and how they are laid out.
    let prepare: @Sendable (TestLog) throws -> Void
    var testDescription: String { words.joined(separator: " ") }
  }

  static let works: [Work] = [
    Work(words: ["append", "2", "3"], prepare: { _ in }),
    Work(words: ["append", "2", "3"], prepare: { try $0.fill(3) }),
    // Each append begins a segment.
    Work(words: ["append", "3", "2", "300"], prepare: { try $0.fill(3) }),
    Work(words: ["rotate", "2"], prepare: { try $0.fill(3) }),
    Work(
      words: ["prune", "1", "1"],
      prepare: { log in
        for _ in 0..<3 {
          try log.fill(2)
          try log.log.rotate()
        }
      }),
    Work(
      words: ["erase", "1000"],
      prepare: { log in for user in [1000, 1001] as [UInt32] { try log.log.append([TestLog.record("k", user: user)]) } }
    ),
    // Recovery: a line that is not whole.
    Work(
      words: ["append", "1", "1"],
      prepare: { log in
        try log.fill(2)
        let name = try log.segments()[0]
        try log.write(try log.text(name) + "{\"seq\":4,", to: name)
      }),
    // Recovery: the log has lost a record.
    Work(
      words: ["append", "1", "1"],
      prepare: { log in
        try log.fill(3)
        let name = try log.segments()[0]
        try log.write(lines: Array(try log.lines(name).dropLast()), to: name)
      }),
  ]

  /// Ends a process at each change that it makes on the disk, one after the other, and then goes on.
  @Test(arguments: works) func aCrashAtEachChangeLosesNothing(work: Work) throws {
    var step = 0
    var finished = false
    while !finished {
      step += 1
      try #require(step < 400)
      let log = try TestLog()
      try work.prepare(log)
      let before = log.verify()
      let wasAlarming = before.verdict != .sound && before.records > 0
      let peer: Peer =
        switch work.words.count {
        case 2: try Peer(log, "crash", "\(step)", work.words[0], work.words[1])
        case 3: try Peer(log, "crash", "\(step)", work.words[0], work.words[1], work.words[2])
        default: try Peer(log, "crash", "\(step)", work.words[0], work.words[1], work.words[2], work.words[3])
        }
      let status = peer.wait()
      finished = status == 0
      #expect(status == 0 || status == 9)
      // As the crash left it: nothing is called tampered with.
      if before.records > 0, !wasAlarming { #expect(log.verify().text == [], "step \(step)") }
      let acknowledged = work.words[0] == "append" ? try peer.numbers().max() ?? 0 : 0
      try log.log.append([TestLog.record("afterwards")])
      var after = log.verify()
      if wasAlarming {
        #expect(after.verdict == .tampered, "step \(step)")
        #expect(try log.log.acknowledge(reason: "seen"))
        after = log.verify()
      }
      #expect(after.text == [], "step \(step)")
      #expect(try #require(after.head?.sequence) > acknowledged, "step \(step)")
      var numbers: [UInt64] = []
      try LogReader(log.place).forEachRecord { numbers.append($0.sequence) }
      #expect(acknowledged == 0 || numbers.contains(acknowledged), "step \(step)")
    }
    #expect(step > 3)
  }

  /// The same with calls that fail instead.
  @Test(arguments: [EIO, ENOSPC, EROFS]) func aCallThatFailsLeavesAChain(code: Int32) throws {
    for step in 1..<40 {
      let log = try TestLog(limits: AuditLogLimits(segmentBytes: 500))
      try log.fill(2)
      let count = Counter()
      let failing = LogOperations { (_) throws(Errno) in
        if count.next() == step { throw Errno(rawValue: code) }
      }
      let receipt = try? AuditLog(log.place, operations: failing).append([
        TestLog.record("a"), TestLog.record("b", user: 1000),
      ])
      #expect(log.verify().verdict == .sound, "step \(step): \(log.verify().text)")
      try log.fill(1)
      #expect(log.verify().text == [], "step \(step)")
      if let receipt, receipt.dropped == 0 {
        var texts: [String?] = []
        try LogReader(log.place).forEachRecord { texts.append(($0.fields["name"] ?? $0.fields["key"])?.stringValue) }
        #expect(texts.contains("a") && texts.contains("b"), "step \(step)")
      }
    }
  }
}

/// Counts calls.
final class Counter: @unchecked Sendable {
  private var value = 0
  func next() -> Int {
    value += 1
    return value
  }
}
