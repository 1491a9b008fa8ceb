import AuditEvents
import Digests
import LinuxFiles
import PropertyList

/// Where a log ends, and what that means; the recovery after a crash.
///
/// The law, under the lock:
///
/// - What follows the last whole line is cut off, always, and kept in a file beside; `audit.recovered` tells of it. So
///   are whole lines that don't continue the chain, and lines whose personal part is not there, as long as the anchor has not
///   counted that far: a power cut keeps any part of what was not waited for, and none of it was acknowledged.
/// - The log may be ahead of the anchor, if it holds the anchor's record with the anchor's digest: a crash came between the
///   two. Then it is taken as it is.
/// - A log that ends before the anchor, or has another record in that place, or has lost its anchor, was tampered with:
///   `audit.alarm` says so, and the anchor remembers until somebody acknowledges it. Numbers are never given twice: after
///   records were lost, a new segment goes on behind the anchor's number, with the anchor's digest as `prev`.
struct LogEnd {
  var anchor: Anchor
  var anchorIsThere = true
  var isNew = false
  /// The segment that takes the next record; nil: a new one begins.
  var segment: SegmentName?
  var tip = LogTip.beginning
  var pending: [AuditRecord] = []
  var alarms: [String] = []
  var untold: [String] = []

  init(of place: AuditLogPlace, _ operations: LogOperations) throws(AuditLogError) {
    let (reading, anchorPath) = try place.readAnchor()
    var names = try place.names()
    var segments = AuditLogPlace.segments(among: names)
    var known: Anchor?
    switch reading {
    case .read(let found):
      known = found
      anchor = found
    case .missing, .damaged:
      anchor = Anchor(log: Self.newID(), tip: .beginning)
    }
    anchorIsThere = anchorPath == place.anchor && known != nil

    var scan = Tail(tip: nil)
    while let name = segments.last {
      scan = try Tail(of: name, in: place, operations, anchor: known)
      if scan.isEmpty {
        segments.removeLast()
      } else {
        segment = name
        break
      }
    }
    // What was read as a whole may have left something cut off.
    if !scan.isAsCounted { names = try place.names() }
    try tellCutOffs(names, in: place)

    guard let known else {
      if let name = segment {
        anchor.log = try Self.logID(in: name, of: place) ?? anchor.log
        tip = scan.tip ?? .beginning
        if scan.isChanged {
          segment = nil
          tip.sequence = max(scan.highest, tip.sequence)
        }
        if case .damaged = reading {
          alarm("anchor-damaged", expected: nil)
        } else {
          alarm("anchor-missing", expected: nil)
        }
      } else {
        begin()
        if case .damaged = reading { alarm("anchor-damaged", expected: nil) }
      }
      return
    }
    try judge(scan, segments, known, place)
  }

  /// Holds the end that was found against the anchor.
  private mutating func judge(
    _ scan: Tail, _ segments: [SegmentName], _ known: Anchor, _ place: AuditLogPlace
  ) throws(AuditLogError) {
    guard let found = scan.tip else {
      if known.tip.sequence == 0 { return begin() }
      segment = nil
      tip = known.tip
      return alarm("shrank", expected: known.tip, found: .beginning)
    }
    if scan.isChanged {
      // Left as it is, for whoever looks into it; the chain goes on behind everything that bears a number.
      segment = nil
      tip = LogTip(
        sequence: max(scan.highest, known.tip.sequence), hash: known.tip.hash, time: known.tip.time)
      return alarm("changed", expected: known.tip, found: found)
    }
    if found.sequence < known.tip.sequence {
      segment = nil
      tip = known.tip
      return alarm("shrank", expected: known.tip, found: found)
    }
    tip = found
    var hash = found.hash
    if found.sequence > known.tip.sequence {
      hash = try takeUp(segments, behind: known, place) ?? LogTip.beginning.hash
      if known.tip.sequence == 0 { hash = known.tip.hash }
    }
    if hash != known.tip.hash { alarm("replaced", expected: known.tip, found: found) }
  }

  /// Takes up what the log says behind its anchor: alarms, and acknowledgements that the anchor announced. Any other record there
  /// that excuses something was written by somebody who could not write the anchor.
  /// - Returns: the digest of the record that the anchor counted last; nil where it is not there.
  private mutating func takeUp(
    _ segments: [SegmentName], behind known: Anchor, _ place: AuditLogPlace
  ) throws(AuditLogError) -> [UInt8]? {
    var hash: [UInt8]?
    var unannounced: UInt64?
    let start = segments.lastIndex { $0.first <= known.tip.sequence } ?? 0
    for name in segments[start...] {
      let scan = SegmentScan(
        walking: try place.contents(of: name), asked: known.tip.sequence, announced: known.announced)
      hash = hash ?? scan.hashAsked
      if let first = scan.first, first.sequence == known.tip.sequence + 1 { hash = hash ?? first.previous }
      unannounced = unannounced ?? scan.unannounced
      if scan.isAcknowledged { anchor.alarm = 0 }
      if scan.alarm > 0, anchor.alarm == 0 { anchor.alarm = scan.alarm }
    }
    if let unannounced {
      alarm("unannounced", expected: known.tip, found: LogTip(sequence: unannounced, hash: LogTip.beginning.hash))
    }
    return hash
  }

  private mutating func begin() {
    isNew = true
    tip = .beginning
    pending.append(.own(.auditBegan, fields: ["log": .string(anchor.log), "format": .integer(1)]))
  }

  /// Comes first: where a new segment begins because of it, it is the first record there.
  private mutating func alarm(_ reason: String, expected: LogTip?, found: LogTip? = nil) {
    var fields: [String: PropertyListValue] = ["log": .string(anchor.log), "reason": .string(reason)]
    let found = found ?? tip
    if let expected {
      fields["expected"] = .integer(PropertyListInteger(expected.sequence))
      fields["expectedHash"] = .string(HexText.encode(expected.hash))
    }
    fields["found"] = .integer(PropertyListInteger(found.sequence))
    fields["foundHash"] = .string(HexText.encode(found.hash))
    let record = AuditRecord.own(.auditAlarm, fields: fields)
    if isNew { pending.append(record) } else { pending.insert(record, at: 0) }
    alarms.append(AlarmText.text(reason, expected: expected?.sequence, found: found.sequence))
  }

  private mutating func tellCutOffs(_ names: [String], in place: AuditLogPlace) throws(AuditLogError) {
    do throws(FileError) {
      for name in names {
        if name.hasPrefix("."), name.hasSuffix(".tmp") { try Directory.removeFile(place.path(name)) }
        guard name.hasSuffix(Self.untoldSuffix) else { continue }
        let bytes = try FileMetadata.of(place.path(name), followingLinks: false).size
        untold.append(name)
        pending.append(
          .own(
            .auditRecovered,
            fields: [
              "file": .string(Self.toldName(of: name)), "bytes": .integer(PropertyListInteger(Int(bytes))),
            ]))
      }
    } catch {
      throw AuditLogError(error)
    }
  }

  static let untoldSuffix = ".torn-untold"

  static func toldName(of untold: String) -> String { String(untold.dropLast("-untold".count)) }

  private static func newID() -> String { HexText.encode(RandomBytes.make(16)) }

  /// What a segment's first record says of its log.
  private static func logID(in name: SegmentName, of place: AuditLogPlace) throws(AuditLogError) -> String? {
    let file = try place.open(place.path(name.segment), .readOnly)
    guard let line = try? SegmentScan.firstLine(of: file) else { return nil }
    return StoredRecord(line: line)?.fields["log"]?.stringValue
  }
}

/// The end of one segment: after this, nothing but whole lines is in it, or it is left as it is.
struct Tail {
  /// The last line that continues the chain; nil where the log has none.
  var tip: LogTip?
  /// Lines that the anchor counted don't continue the chain.
  var isChanged = false
  var highest: UInt64 = 0
  /// The last line is the one that the anchor counted last: nothing else was looked at.
  var isAsCounted = false
  /// The segment held no whole line and is gone.
  var isEmpty = false

  init(tip: LogTip?) { self.tip = tip }

  init(
    of name: SegmentName, in place: AuditLogPlace, _ operations: LogOperations, anchor: Anchor?
  ) throws(AuditLogError) {
    let path = place.path(name.segment)
    let file = try place.open(path, .readWrite)
    let bytes: [UInt8]
    do throws(Errno) {
      if let anchor, let last = try SegmentScan.lastLine(of: file, size: Int(file.metadata().size)),
        last.sequence == anchor.tip.sequence, last.hash == anchor.tip.hash
      {
        tip = last
        isAsCounted = true
        return
      }
      bytes = try file.readToEnd()
    } catch {
      throw AuditLogError(FileError("read", path: path, errno: error))
    }
    let counted = anchor?.tip.sequence ?? 0
    if bytes.isEmpty {
      // Emptied, or never written: what is missing the anchor tells.
      isEmpty = true
      try operations.performing(.remove, path) { () throws(FileError) in try Directory.removeFile(path) }
      return
    }
    var scan = SegmentScan(walking: bytes, asked: counted)
    if anchor != nil, let bare = try Self.firstWithoutPart(scan, name, place) {
      scan = SegmentScan(walking: Array(bytes[..<bare]), asked: counted)
    }
    tip = scan.tip
    highest = scan.highest
    guard scan.end < bytes.count else { return }
    let next = (scan.tip?.sequence ?? name.first - 1) + 1
    if scan.hasBadLine, next <= counted || anchor == nil {
      isChanged = true
      if tip == nil { tip = LogTip(sequence: name.first - 1, hash: LogTip.beginning.hash) }
      return
    }
    try cut(Array(bytes[scan.end...]), at: scan.end, file, name, place, operations)
    if scan.end == 0 {
      isEmpty = true
      try operations.performing(.remove, path) { () throws(FileError) in try Directory.removeFile(path) }
    }
  }

  /// Where the first line behind the anchor begins whose personal part is not there.
  private static func firstWithoutPart(
    _ scan: SegmentScan, _ name: SegmentName, _ place: AuditLogPlace
  ) throws(AuditLogError) -> Int? {
    if scan.personal.isEmpty { return nil }
    let parts = PersonalParts(try LogSnapshot.personalBytes(name, in: place))
    return scan.personal.first { parts.lines[$0.digest] == nil }?.start
  }

  /// Keeps what is cut off, and only then cuts.
  private func cut(
    _ bytes: [UInt8], at end: Int, _ file: borrowing FileDescriptor, _ name: SegmentName, _ place: AuditLogPlace,
    _ operations: LogOperations
  ) throws(AuditLogError) {
    var number = 1
    func copy() -> String { "\(name.stem).\(end)-\(number)\(LogEnd.untoldSuffix)" }
    func isTaken(_ name: String) -> Bool {
      (try? FileMetadata.of(place.path(name), followingLinks: false)) != nil
    }
    while isTaken(copy()) || isTaken(LogEnd.toldName(of: copy())) { number += 1 }
    let path = place.path(copy())
    try operations.performing(.rename, path, byteCount: bytes.count) { () throws(FileError) in
      try AtomicReplacement.write(bytes, to: path, mode: 0o600)
    }
    let segment = place.path(name.segment)
    try operations.perform(.truncate, segment) { () throws(Errno) in try file.setSize(end) }
    try operations.perform(.synchronize, segment) { () throws(Errno) in try file.synchronize() }
  }
}

extension AuditLogPlace {
  /// A whole segment.
  func contents(of name: SegmentName) throws(AuditLogError) -> [UInt8] {
    let path = path(name.segment)
    let file = try open(path, .readOnly)
    do throws(Errno) { return try file.readToEnd() } catch {
      throw AuditLogError(FileError("read", path: path, errno: error))
    }
  }
}
