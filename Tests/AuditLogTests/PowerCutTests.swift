import AuditEvents
import LinuxFiles
import PropertyList
import Testing

@testable import AuditLog

/// Power cuts: whatever part of what was not waited for is lost, nothing acknowledged is, and the chain verifies.
@Suite struct PowerCutTests {
  struct Work: Sendable, CustomTestStringConvertible {
    let name: String
    var limits = AuditLogLimits()
    var prepare: @Sendable (TestLog) throws -> Void = { try $0.fill(2) }
    /// Tells of each number that was acknowledged.
    let run: @Sendable (AuditLog, (UInt64) -> Void) throws -> Void
    var testDescription: String { name }
  }

  static func users(_ name: String, _ count: Int = 2) -> [AuditRecord] {
    (0..<count).map { TestLog.record("\(name) \($0)", user: 1000 + UInt32($0)) }
  }

  static let works: [Work] = [
    Work(name: "groups of users' events") { log, tell in
      for group in 0..<3 { tell(try log.append(users("group \(group)")).sequence) }
    },
    Work(name: "administrative records among them") { log, tell in
      tell(try log.append(users("a")).sequence)
      tell(try log.append([TestLog.record("b")]).sequence)
      tell(try log.append(users("c") + [TestLog.record("d")]).sequence)
    },
    Work(name: "a segment for each", limits: AuditLogLimits(segmentBytes: 300)) { log, tell in
      for group in 0..<3 { tell(try log.append(users("group \(group)")).sequence) }
    },
    Work(name: "erasure") { log, tell in
      tell(try log.append(users("a")).sequence)
      _ = try log.erase(reason: "a test") { $0 == 1000 }
      tell(try log.append(users("b")).sequence)
    },
    Work(
      name: "retention", limits: AuditLogLimits(segmentBytes: 300), prepare: { try $0.fill(3) },
      run: { log, tell in
        tell(try log.append(users("a")).sequence)
        _ = try log.prune(keeping: 1)
        tell(try log.append(users("b")).sequence)
      }),
    Work(
      name: "a line that is not whole",
      prepare: { log in
        try log.fill(2)
        let name = try log.segments()[0]
        try log.write(try log.text(name) + "{\"seq\":4,", to: name)
      },
      run: { log, tell in
        tell(try log.append(users("a")).sequence)
        tell(try log.append(users("b")).sequence)
      }),
    Work(name: "what a killed writer left") { log, tell in
      // Written unseen by the model, so waited for by nobody, and not counted.
      let anchor = try WholeFile.read(log.place.anchor).bytes
      try AuditLog(log.place).append(users("killed"))
      try AtomicReplacement.write(anchor, to: log.place.anchor, mode: 0o600)
      tell(try log.append(users("a")).sequence)
      tell(try log.append([TestLog.record("b")]).sequence)
    },
  ]

  @Test(arguments: works) func losesNothingThatWasAcknowledged(work: Work) throws {
    let log = try TestLog(limits: work.limits)
    try work.prepare(log)
    let model = try DiskModel([log.directory, log.path + "/state"])
    try work.run(AuditLog(log.place, operations: model.operations)) { model.acknowledged = $0 }
    model.end()
    #expect(log.verify().text == [])
    var texts: [UInt64: String] = [:]
    var erased: Set<UInt64> = []
    try LogReader(log.place).forEachRecord {
      texts[$0.sequence] = String(decoding: $0.line, as: UTF8.self)
      if $0.personal == .erased { erased.insert($0.sequence) }
    }
    var seen: Set<DiskModel.Files> = []
    for (index, moment) in model.moments.enumerated() {
      for disk in DiskModel.disks(after: moment) where seen.insert(disk).inserted {
        try check(disk, moment, from: log, "moment \(index)", texts, erased)
      }
    }
    #expect(seen.count > 10)
  }

  private func check(
    _ disk: DiskModel.Files, _ moment: DiskModel.Moment, from log: TestLog, _ label: Comment, _ texts: [UInt64: String],
    _ erased: Set<UInt64>
  ) throws {
    let copy = try TestLog(limits: log.place.limits)
    try Directory.create(copy.directory, mode: 0o750)
    for (path, bytes) in disk {
      let target = copy.path + path.dropFirst(log.path.count)
      try AtomicReplacement.write(
        bytes, to: target, mode: path.hasPrefix(log.directory) ? 0o640 : 0o600, durable: false)
    }
    // As the power cut left it: nothing is called tampered with.
    #expect(copy.verify().text == [], label)
    try copy.log.append([TestLog.record("afterwards")])
    #expect(copy.verify().text == [], label)
    var found: Set<UInt64> = []
    var first: UInt64?
    try LogReader(copy.place).forEachRecord { record in
      first = first ?? record.sequence
      guard record.sequence <= moment.acknowledged else { return }
      if let text = texts[record.sequence] { #expect(String(decoding: record.line, as: UTF8.self) == text, label) }
      if record.personal == .erased { #expect(erased.contains(record.sequence), label) }
      found.insert(record.sequence)
    }
    if moment.acknowledged > 0, let first, first <= moment.acknowledged {
      #expect(found == Set(first...moment.acknowledged), label)
    }
  }

  @Test func takesTheAnchorBackByOneGroupAtMost() throws {
    let log = try TestLog()
    try log.fill(2)
    let model = try DiskModel([log.directory, log.path + "/state"])
    let writer = AuditLog(log.place, operations: model.operations)
    var acknowledged: [UInt64] = [3]
    for group in 0..<4 { acknowledged.append(try writer.append(Self.users("group \(group)")).sequence) }
    model.end()
    let sure = try #require(model.moments.last?.sure[log.anchor])
    guard case .read(let anchor) = Anchor.read(sure) else { throw Errno.invalidArgument }
    #expect(anchor.tip.sequence == acknowledged[acknowledged.count - 2])
    // An administrative record is waited for with its anchor.
    let receipt = try writer.append([TestLog.record("policy")])
    model.end()
    guard case .read(let counted) = Anchor.read(try #require(model.moments.last?.sure[log.anchor])) else {
      throw Errno.invalidArgument
    }
    #expect(counted.tip.sequence == receipt.sequence)
  }
}
