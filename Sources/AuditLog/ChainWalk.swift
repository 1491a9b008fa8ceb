import Digests
import LinuxFiles
import PropertyList

/// The walk through the chain, line after line, of one verification. What it comes to is in `ChainWalk+Verdict`.
///
/// What is done for every line is the digest, and a look at the line's first members; memory is neither taken nor given back.
final class ChainWalk {
  let anchor: Anchor?
  let heads: [LogHead]
  /// The numbers of records that something outside the log knows, and their digests as they are found.
  private let wanted: Set<UInt64>
  private let wantedRange: ClosedRange<UInt64>?
  private(set) var seen: [UInt64: [UInt8]] = [:]

  /// The number and digest of the line before; 0 where there is none to continue.
  private var sequence: UInt64 = 0
  private let digest = UnsafeMutableRawBufferPointer.allocate(byteCount: SHA256.byteCount, alignment: 16)
  private let hash = SHA256()
  /// A segment could not be read.
  private(set) var isBlind = false

  /// Where the line before is.
  private var lastSegment: SegmentName?
  private var lastNumber = 0
  private(set) var lastHost: String?
  private(set) var lastTime: PropertyListDate?
  private(set) var lastEnrolment: StoredRecord?
  private(set) var log: String?

  private(set) var checkpoints: [StoredRecord] = []
  private(set) var alarms: [(record: StoredRecord, file: String, line: Int)] = []
  /// Records that excuse something and that the anchor knows nothing of.
  private(set) var unbelieved: [(record: StoredRecord, file: String, line: Int)] = []
  private(set) var acknowledgedThrough: UInt64 = 0
  private(set) var erasedRecords: [ClosedRange<UInt64>] = []
  private(set) var missingParts: [(sequence: UInt64, file: String, line: Int)] = []
  /// The first record, where it is not record 1: whether a checkpoint vouches for it is known at the end.
  private(set) var beginning: (sequence: UInt64, previous: [UInt8], file: String)?

  init(anchor: Anchor?, heads: [LogHead]) {
    self.anchor = anchor
    self.heads = heads
    let wanted = Set(heads.map(\.sequence) + (anchor.map { [$0.tip.sequence] } ?? []))
    self.wanted = wanted
    wantedRange = wanted.min().map { $0...(wanted.max() ?? $0) }
  }

  deinit { digest.deallocate() }

  /// The end of the chain so far; nil where it has none.
  var tip: (sequence: UInt64, hash: [UInt8])? { sequence > 0 ? (sequence, Array(digest)) : nil }

  var lastLine: (file: String, line: Int)? { lastSegment.map { ($0.segment, lastNumber) } }

  /// After a segment that could not be read: the next one begins anew.
  func forget() {
    sequence = 0
    isBlind = true
  }

  /// Walks one segment with the personal parts beside it.
  func walk(
    _ segment: LogSnapshot.Segment, in place: AuditLogPlace, isLast: Bool, into result: inout AuditVerification
  ) throws(AuditLogError) {
    let name = segment.name
    let lines = try LineStream(place.path(name.segment), in: place, size: segment.size)
    var parts: PersonalDigests?
    var asked: [PersonalDigests.Digest] = []
    var askedBy: [(sequence: UInt64, line: Int)] = []
    var number = 0
    while let line = try lines.next() {
      number += 1
      guard let read = LogLine(line) else {
        result.find(
          .tampered, file: name.segment, line: number, sequence: sequence > 0 ? sequence + 1 : nil, "it is no record")
        continue
      }
      take(line, read, of: name, line: number, into: &result)
      if let digits = read.personal {
        if parts == nil { parts = try PersonalDigests(name, in: place) }
        asked.append(LogLine.digest(line, at: digits))
        askedBy.append((read.sequence, number))
      }
      if isLast, lines.isAtEnd { noteEnd(line) }
    }
    for index in try parts?.missing(of: asked) ?? [] {
      missingParts.append((askedBy[index].sequence, name.segment, askedBy[index].line))
    }
    if lines.restCount > 0 {
      tornEnd(lines.restCount, of: name, line: number + 1, isLast: isLast, into: &result)
    } else if number == 0 {
      result.find(.tampered, file: name.segment, line: 1, "the segment is empty")
    }
  }

  private func noteEnd(_ line: UnsafeRawBufferPointer) {
    guard let record = StoredRecord(line: Array(line)) else { return }
    lastTime = record.time
    lastHost = record.host ?? lastHost
  }

  private func tornEnd(
    _ count: Int, of name: SegmentName, line: Int, isLast: Bool, into result: inout AuditVerification
  ) {
    let next = (sequence > 0 ? sequence : name.first - 1) + 1
    if isLast, anchor.map({ next > $0.tip.sequence }) ?? true {
      result.notes.append(
        "\(name.segment) ends with \(count) bytes of a line that was not finished; the next record cuts them off")
    } else {
      result.find(
        .tampered, file: name.segment, line: line, sequence: next, "the record is cut off after \(count) bytes")
    }
  }

  private func take(
    _ line: UnsafeRawBufferPointer, _ read: LogLine, of name: SegmentName, line number: Int,
    into result: inout AuditVerification
  ) {
    let special = Self.isSpecial(line, read) ? StoredRecord(line: Array(line)) : nil
    if number == 1, read.sequence != name.first {
      result.find(
        .tampered, file: name.segment, line: 1, sequence: read.sequence,
        "the segment's name says that record \(name.first) comes first")
    }
    if sequence == 0 {
      if result.records == 0, !isBlind { start(read, line, special, of: name, into: &result) }
    } else if read.sequence != sequence + 1
      || !LogLine.digits(line, at: read.previous, are: UnsafeRawBufferPointer(digest))
    {
      breaks(read, line, special, of: name, line: number, into: &result)
    }
    if result.first == nil { result.first = read.sequence }
    result.records += 1
    hash.digest(line, into: digest)
    sequence = read.sequence
    lastSegment = name
    lastNumber = number
    if let wantedRange, wantedRange.contains(sequence), wanted.contains(sequence) { seen[sequence] = Array(digest) }
    if let special { note(special, name, number) }
  }

  /// A line does not follow the one before: what that means.
  private func breaks(
    _ read: LogLine, _ line: UnsafeRawBufferPointer, _ special: StoredRecord?, of name: SegmentName, line number: Int,
    into result: inout AuditVerification
  ) {
    let expected = sequence + 1
    // Behind lost records the chain goes on from the anchor of then, and the first record says so.
    if number == 1, let special, special.kind == "audit.alarm", isBelieved(special),
      Self.tellsOfLoss(special, read, line),
      isFound(by: special)
    {
      return
    }
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
        sequence: sequence)
    }
  }

  private func start(
    _ read: LogLine, _ line: UnsafeRawBufferPointer, _ special: StoredRecord?, of name: SegmentName,
    into result: inout AuditVerification
  ) {
    // Where nothing was left of the log, it begins with the alarm.
    if let special, special.kind == "audit.alarm", isBelieved(special), Self.tellsOfLoss(special, read, line),
      special.fields["found"]?.integerValue == 0
    {
      return
    }
    guard let previous = HexText.decode(line[read.previous..<read.previous + 64]) else { return }
    if read.sequence == 1 {
      if previous.contains(where: { $0 != 0 }) {
        result.find(.tampered, file: name.segment, line: 1, sequence: 1, "the first record names one before it")
      }
    } else {
      beginning = (read.sequence, previous, name.segment)
    }
  }

  private static func isSpecial(_ line: UnsafeRawBufferPointer, _ read: LogLine) -> Bool {
    let first = read.kind.isEmpty ? 0 : line[read.kind.lowerBound]
    guard first == UInt8(ascii: "a") || first == UInt8(ascii: "h") else { return false }
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

  /// Whether a record that excuses something is the log's own word: counted by the anchor, or announced by it.
  private func isBelieved(_ record: StoredRecord) -> Bool {
    guard let anchor else { return true }
    return record.sequence <= max(anchor.tip.sequence, anchor.announced)
  }

  /// Whether the record that an alarm found last is the one before it. Of records that were changed, some are left behind it.
  private func isFound(by alarm: StoredRecord) -> Bool {
    if alarm.fields["reason"]?.stringValue == "changed" { return true }
    return alarm.fields["found"]?.integerValue == Int(exactly: sequence)
      && alarm.fields["foundHash"]?.stringValue == HexText.encode(Array(digest))
  }

  private func note(_ record: StoredRecord, _ name: SegmentName, _ number: Int) {
    if record.kind != "audit.alarm", LogLine.excuses(record.kind.utf8), !isBelieved(record) {
      unbelieved.append((record, name.segment, number))
      return
    }
    switch record.kind {
    case "audit.alarm": alarms.append((record, name.segment, number))
    case "audit.acknowledged":
      acknowledgedThrough = max(
        acknowledgedThrough, UInt64(max(0, record.fields["through"]?.integerValue ?? 0)))
    case "audit.checkpoint": checkpoints.append(record)
    case "audit.set-aside":
      checkpoints.append(record)
      acknowledgedThrough = max(acknowledgedThrough, UInt64(max(0, record.fields["through"]?.integerValue ?? 0)))
    case "audit.erased": erasedRecords += RecordRanges.parse(record.fields["records"]?.stringValue ?? "")
    case "host.enrolled": lastEnrolment = record
    default: break
    }
    lastHost = record.host ?? lastHost
    log = record.fields["log"]?.stringValue ?? log
  }
}
