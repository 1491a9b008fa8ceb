import Digests
import LinuxFiles
import PropertyList

/// The walk through the chain, line after line, of one verification.
struct ChainWalk {
  private let anchor: Anchor?
  private let heads: [LogHead]
  /// The digests of records that something outside the log knows, by number.
  private let wanted: Set<UInt64>
  private var seen: [UInt64: [UInt8]] = [:]

  private var tip: LogTip?
  /// A segment could not be read.
  private var isBlind = false
  private var lastHost: String?
  private var lastTime: PropertyListDate?
  private var lastEnrolment: StoredRecord?
  private var lastLine: (file: String, line: Int)?
  private var hash = SHA256Box()

  private var checkpoints: [StoredRecord] = []
  private var alarms: [(record: StoredRecord, file: String, line: Int)] = []
  private var acknowledgedThrough: UInt64 = 0
  private var erasedRecords: [ClosedRange<UInt64>] = []
  private var log: String?
  /// Records of the present segment that have a personal part: number, digest, line.
  private var personal: [(sequence: UInt64, digest: [UInt8], file: String, line: Int)] = []
  private var missingPersonal: [(sequence: UInt64, file: String, line: Int)] = []

  var hasPersonal: Bool { !personal.isEmpty }

  init(anchor: Anchor?, heads: [LogHead]) {
    self.anchor = anchor
    self.heads = heads
    wanted = Set(heads.map(\.sequence) + (anchor.map { [$0.tip.sequence] } ?? []))
  }

  /// After a segment that could not be read: the next one begins anew.
  mutating func forget() {
    tip = nil
    isBlind = true
  }

  mutating func walk(_ bytes: [UInt8], of name: SegmentName, isLast: Bool, into result: inout AuditVerification) {
    bytes.withUnsafeBytes { memory in
      var place = 0
      var number = 0
      while place < memory.count {
        guard let end = SegmentScan.lineEnd(in: memory, from: place) else {
          tornEnd(memory.count - place, of: name, line: number + 1, isLast: isLast, into: &result)
          return
        }
        number += 1
        take(UnsafeRawBufferPointer(rebasing: memory[place..<end]), of: name, line: number, into: &result)
        if isLast, end + 1 == memory.count { noteEnd(UnsafeRawBufferPointer(rebasing: memory[place..<end])) }
        place = end + 1
      }
      if number == 0 { result.find(.tampered, file: name.segment, line: 1, "the segment is empty") }
    }
  }

  private mutating func noteEnd(_ line: UnsafeRawBufferPointer) {
    guard let record = StoredRecord(line: Array(line)) else { return }
    lastTime = record.time
    lastHost = record.host ?? lastHost
  }

  private func tornEnd(
    _ count: Int, of name: SegmentName, line: Int, isLast: Bool, into result: inout AuditVerification
  ) {
    let next = (tip?.sequence ?? name.first - 1) + 1
    if isLast, anchor.map({ next > $0.tip.sequence }) ?? true {
      result.notes.append(
        "\(name.segment) ends with \(count) bytes of a line that was not finished; the next record cuts them off")
    } else {
      result.find(
        .tampered, file: name.segment, line: line, sequence: next, "the record is cut off after \(count) bytes")
    }
  }

  private mutating func take(
    _ line: UnsafeRawBufferPointer, of name: SegmentName, line number: Int, into result: inout AuditVerification
  ) {
    guard let read = LogLine(line) else {
      result.find(.tampered, file: name.segment, line: number, sequence: tip.map { $0.sequence + 1 }, "it is no record")
      return
    }
    let digest = hash.digest(line)
    let isSpecial = Self.isSpecial(line, read)
    let special = isSpecial ? StoredRecord(line: Array(line)) : nil
    if number == 1, read.sequence != name.first {
      result.find(
        .tampered, file: name.segment, line: 1, sequence: read.sequence,
        "the segment's name says that record \(name.first) comes first")
    }
    compare(read, line, special, of: name, line: number, into: &result)
    if result.first == nil { result.first = read.sequence }
    result.records += 1
    tip = LogTip(sequence: read.sequence, hash: digest)
    lastLine = (name.segment, number)
    if wanted.contains(read.sequence) { seen[read.sequence] = digest }
    if let place = read.personal, let digest = HexText.decode(line[place..<place + 64]) {
      personal.append((read.sequence, digest, name.segment, number))
    }
    if let special { note(special, name, number) }
  }

  /// Whether a line follows the one before.
  private mutating func compare(
    _ read: LogLine, _ line: UnsafeRawBufferPointer, _ special: StoredRecord?, of name: SegmentName, line number: Int,
    into result: inout AuditVerification
  ) {
    guard let before = tip else {
      if result.records == 0, !isBlind { start(read, line, special, of: name, into: &result) }
      return
    }
    let isContinued = before.hash.withUnsafeBytes { LogLine.digits(line, at: read.previous, are: $0) }
    let expected = before.sequence + 1
    if isContinued, read.sequence == expected { return }
    // Behind lost records the chain goes on from the anchor of then, and the first record says so.
    if number == 1, let special, special.kind == "audit.alarm", Self.tellsOfLoss(special, read, line) { return }
    func find(_ what: String, at place: (file: String, line: Int)? = nil, sequence: UInt64? = nil) {
      result.find(
        .tampered, file: place?.file ?? name.segment, line: place?.line ?? number, sequence: sequence ?? read.sequence,
        what)
    }
    if read.sequence > expected {
      let missing =
        read.sequence == expected + 1 ? "record \(expected) is" : "records \(expected) to \(read.sequence - 1) are"
      find(missing + " missing before it")
    } else if read.sequence < expected {
      find("it is out of order: record \(expected) belongs here")
    } else if number == 1 {
      find("the segment does not continue the one before: one of them was exchanged, or the last record was changed")
    } else {
      // Its own line or the one before: the one before is what `prev` speaks of.
      find(
        "the record was changed: its digest is not the one that record \(read.sequence) has", at: lastLine,
        sequence: before.sequence)
    }
  }

  private mutating func start(
    _ read: LogLine, _ line: UnsafeRawBufferPointer, _ special: StoredRecord?, of name: SegmentName,
    into result: inout AuditVerification
  ) {
    if let special, special.kind == "audit.alarm", Self.tellsOfLoss(special, read, line) { return }
    guard let previous = HexText.decode(line[read.previous..<read.previous + 64]) else { return }
    if read.sequence == 1 {
      if previous.contains(where: { $0 != 0 }) {
        result.find(.tampered, file: name.segment, line: 1, sequence: 1, "the first record names one before it")
      }
    } else {
      // Whether a checkpoint vouches for it is known at the end.
      beginning = (read.sequence, previous, name.segment)
    }
  }

  private var beginning: (sequence: UInt64, previous: [UInt8], file: String)?

  private static func isSpecial(_ line: UnsafeRawBufferPointer, _ read: LogLine) -> Bool {
    let kind = UnsafeRawBufferPointer(rebasing: line[read.kind])
    return kind.starts(with: "audit.".utf8) || kind.elementsEqual("host.enrolled".utf8)
  }

  /// Whether an alarm explains that the chain goes on at another number than the one that follows.
  private static func tellsOfLoss(_ record: StoredRecord, _ read: LogLine, _ line: UnsafeRawBufferPointer) -> Bool {
    guard let expected = record.fields["expected"]?.integerValue, let hash = record.fields["expectedHash"]?.stringValue,
      let found = record.fields["found"]?.integerValue
    else { return false }
    return UInt64(max(expected, found)) < read.sequence
      && line[read.previous..<read.previous + 64].elementsEqual(hash.utf8)
  }

  private mutating func note(_ record: StoredRecord, _ name: SegmentName, _ number: Int) {
    switch record.kind {
    case "audit.alarm": alarms.append((record, name.segment, number))
    case "audit.acknowledged":
      acknowledgedThrough = max(
        acknowledgedThrough, UInt64(max(0, record.fields["through"]?.integerValue ?? 0)))
    case "audit.checkpoint": checkpoints.append(record)
    case "audit.erased": erasedRecords += RecordRanges.parse(record.fields["records"]?.stringValue ?? "")
    case "host.enrolled": lastEnrolment = record
    default: break
    }
    lastHost = record.host ?? lastHost
    log = record.fields["log"]?.stringValue ?? log
  }

  // MARK: Personal parts

  /// Holds the records of the segment that was walked last against the parts beside it.
  mutating func checkPersonal(_ parts: PersonalParts) {
    for record in personal where parts.lines[record.digest] == nil {
      missingPersonal.append((record.sequence, record.file, record.line))
    }
    personal = []
  }

  // MARK: The end

  mutating func finish(_ snapshot: LogSnapshot, _ place: AuditLogPlace, into result: inout AuditVerification) {
    for missing in missingPersonal {
      if erasedRecords.contains(where: { $0.contains(missing.sequence) }) {
        result.erased += 1
      } else {
        result.find(
          .tampered, file: missing.file, line: missing.line, sequence: missing.sequence,
          "the personal part of the record was changed or taken away, and no record tells of an erasure")
      }
    }
    if let beginning { checkBeginning(beginning, into: &result) }
    for alarm in alarms where alarm.record.sequence > acknowledgedThrough {
      result.find(
        .tampered, file: alarm.file, line: alarm.line, sequence: alarm.record.sequence,
        "nobody has acknowledged this alarm: " + alarm.record.alarmText)
    }
    let acknowledged = alarms.filter { $0.record.sequence <= acknowledgedThrough }
    for alarm in acknowledged {
      result.notes.append(
        "record \(alarm.record.sequence): an alarm that was acknowledged: \(alarm.record.alarmText)")
    }
    checkAnchor(snapshot, into: &result)
    checkHost(place, into: &result)
    if let tip {
      result.head = LogHead(
        host: lastHost ?? place.host, log: anchor?.log ?? log, sequence: tip.sequence, hash: tip.hash, time: lastTime)
    }
    checkHeads(into: &result)
  }

  private func checkBeginning(
    _ beginning: (sequence: UInt64, previous: [UInt8], file: String), into result: inout AuditVerification
  ) {
    let last = checkpoints.last { UInt64(max(0, $0.fields["through"]?.integerValue ?? 0)) + 1 >= beginning.sequence }
    guard let last, let through = last.fields["through"]?.integerValue else {
      result.find(
        .incomplete, file: beginning.file, line: 1, sequence: beginning.sequence,
        "the log begins here: records 1 to \(beginning.sequence - 1) are missing, and no checkpoint vouches for them")
      return
    }
    if UInt64(through) + 1 == beginning.sequence,
      last.fields["hash"]?.stringValue != HexText.encode(beginning.previous)
    {
      result.find(
        .tampered, file: beginning.file, line: 1, sequence: beginning.sequence,
        "the log begins here with another record before it than checkpoint \(last.sequence) says")
      return
    }
    result.notes.append(
      "complete from record \(beginning.sequence) on: checkpoint \(last.sequence) tells of those that were removed")
  }

  private func checkAnchor(_ snapshot: LogSnapshot, into result: inout AuditVerification) {
    guard let anchor else {
      if snapshot.anchorFault == nil {
        if case .damaged = snapshot.anchor {
          result.find(.incomplete, "the anchor is damaged: completeness unknown")
        } else {
          result.find(.incomplete, "no anchor: completeness unknown")
        }
      }
      if result.records == 0 { result.find(.incomplete, "there are no records") }
      return
    }
    if let log, log != anchor.log {
      result.find(.tampered, "the log is another one than the anchor's: \(log), not \(anchor.log)")
    }
    let end = tip?.sequence ?? 0
    if isBlind, tip == nil { return }
    if anchor.alarm > 0, !result.findings.contains(where: { $0.sequence == anchor.alarm }) {
      result.find(
        .tampered, sequence: anchor.alarm, "the anchor remembers an alarm that nobody has acknowledged")
    }
    if end < anchor.tip.sequence {
      let after = lastLine.map { "after \($0.file), line \($0.line)" } ?? "in the log's folder"
      result.find(
        .tampered, file: lastLine?.file, line: lastLine?.line, sequence: tip?.sequence,
        "expected \(anchor.tip.sequence) records, found \(end): the newest are missing \(after)")
    } else if anchor.tip.sequence > 0, let hash = seen[anchor.tip.sequence], hash != anchor.tip.hash {
      result.find(
        .tampered, sequence: anchor.tip.sequence,
        "record \(anchor.tip.sequence) is not the one that the anchor counted: the newest records were replaced")
    } else if end > anchor.tip.sequence, snapshot.isLocked {
      result.notes.append(
        "the log is \(end - anchor.tip.sequence) ahead of its anchor, as after a crash; the next record settles that")
    }
    if anchor.tip.sequence == 0, end == 0 { result.find(.incomplete, "there are no records") }
    if anchor.dropped > 0 {
      result.notes.append("\(anchor.dropped) records found no room on the disk; no record tells of them yet")
    }
  }

  private func checkHost(_ place: AuditLogPlace, into result: inout AuditVerification) {
    guard let enrolled = place.host, let lastHost, lastHost != enrolled else { return }
    // Between the record of an enrolment and the enrolment itself a crash may have come.
    if let lastEnrolment, [lastEnrolment.fields["from"], lastEnrolment.fields["to"]].contains(.string(enrolled)) {
      return
    }
    result.find(.tampered, "the log is of host \(lastHost), and this host is enrolled as \(enrolled)")
  }

  private func checkHeads(into result: inout AuditVerification) {
    for head in heads {
      if let mine = anchor?.log ?? log, let other = head.log, mine != other {
        result.find(.tampered, "the head that was kept is of another log: \(other), not \(mine)")
      } else if let hash = seen[head.sequence] {
        if hash != head.hash {
          result.find(
            .tampered, sequence: head.sequence, "record \(head.sequence) is not the one that the head has that was kept"
          )
        } else {
          result.notes.append("record \(head.sequence) is the one that the head has that was kept")
        }
      } else if head.sequence > (tip?.sequence ?? 0) {
        result.find(
          .tampered, sequence: head.sequence,
          "the head that was kept counts \(head.sequence) records; the log ends with \(tip?.sequence ?? 0)")
      } else {
        result.find(
          .incomplete, sequence: head.sequence,
          "record \(head.sequence), which the head has that was kept, is not there")
      }
    }
  }
}

/// One context of libcrypto for many lines.
final class SHA256Box {
  private var hash = SHA256()

  func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, count in
      hash.digest(bytes, into: UnsafeMutableRawBufferPointer(buffer))
      count = SHA256.byteCount
    }
  }
}

extension StoredRecord {
  /// The words of an `audit.alarm`.
  var alarmText: String {
    AlarmText.text(
      fields["reason"]?.stringValue ?? "", expected: (fields["expected"]?.integerValue).map { UInt64(max(0, $0)) },
      found: UInt64(max(0, fields["found"]?.integerValue ?? 0)))
  }
}
