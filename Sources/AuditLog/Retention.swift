import AuditEvents
import Digests
import LinuxFiles
public import PropertyList

/// Numbers of records as text: `3,5-9,12`.
enum RecordRanges {
  static func text(_ numbers: [UInt64]) -> String {
    var ranges: [ClosedRange<UInt64>] = []
    for number in Set(numbers).sorted() {
      if let last = ranges.last, last.upperBound + 1 == number {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(
      separator: ",")
  }

  static func parse(_ text: String) -> [ClosedRange<UInt64>] {
    text.split(separator: ",").compactMap { part in
      let ends = part.split(separator: "-").compactMap { UInt64($0) }
      guard let first = ends.first, let last = ends.last, first <= last else { return nil }
      return first...last
    }
  }
}

extension AuditLog {
  /// What `prune` removed.
  public struct Pruning: Sendable, Hashable {
    public let segments: Int
    /// The numbers of the records; nil where nothing was removed.
    public let records: ClosedRange<UInt64>?
  }

  /// Removes old segments whole, with their personal parts, after a checkpoint that carries the number and the digest of
  /// their last record: the chain verifies from there. Nothing is ever removed without being asked, and never the newest
  /// segment.
  ///
  /// - Parameters:
  ///   - kept: how many of the newest segments stay, whatever their age; at least one does.
  ///   - date: segments with a record of this time or later stay; nil: age does not count.
  ///   - verified: the last record of a log that was verified: a checkpoint vouches for what is removed, so nothing beyond
  ///     is; nil where who asks has seen to that.
  public func prune(
    keeping kept: Int, before date: PropertyListDate? = nil, verifiedThrough verified: UInt64? = nil,
    patience: Double = 30
  ) throws(AuditLogError) -> Pruning {
    let writer = try LogWriter(place, operations, patience: patience)
    try writer.append([])
    return try writer.prune(keeping: max(1, kept), before: date, through: verified ?? .max)
  }

  /// Erases the personal parts of the records about a user: who, with which program, and what. The records themselves stay,
  /// with their time and kind, and the chain verifies as before; `audit.erased` names the numbers.
  ///
  /// - Parameters:
  ///   - matches: of a user id, attested, claimed or of a spool's owner.
  ///   - reason: for the log; it should name nobody.
  /// - Returns: how many records.
  public func erase(
    reason: String, patience: Double = 30, where matches: (UInt32) -> Bool
  ) throws(AuditLogError) -> Int {
    let writer = try LogWriter(place, operations, patience: patience)
    try writer.append([])
    return try writer.erase(reason: reason, where: matches)
  }
}

extension LogWriter {
  func prune(
    keeping kept: Int, before date: PropertyListDate?, through last: UInt64
  ) throws(AuditLogError) -> AuditLog.Pruning {
    let segments = try place.segments()
    var removed: [SegmentName] = []
    var end: (sequence: UInt64, previous: [UInt8])?
    for (index, name) in segments.dropLast(kept).enumerated() {
      // The next segment's first record tells when this one ended, and its digest.
      guard let next = try firstLine(of: segments[index + 1]) else { break }
      if let date, (next.time ?? date) >= date { break }
      if next.sequence - 1 > last { break }
      removed.append(name)
      end = (next.sequence - 1, next.previous)
    }
    guard let first = removed.first, let end else { return AuditLog.Pruning(segments: 0, records: nil) }
    let fields: [String: PropertyListValue] = [
      "through": .integer(PropertyListInteger(end.sequence)), "hash": .string(HexText.encode(end.previous)),
      "records": .integer(PropertyListInteger(end.sequence - first.first + 1)),
      "segments": .integer(PropertyListInteger(removed.count)),
    ]
    try append([.own(.auditCheckpoint, fields: fields)])
    // Oldest first, each on the disk before the next: a power cut leaves a log that begins later, and none with a hole.
    for name in removed {
      try removeFile(name.segment)
      try synchronizeDirectory()
    }
    try removeLeftParts()
    return AuditLog.Pruning(segments: removed.count, records: first.first...end.sequence)
  }

  /// Removes personal parts whose segment is gone.
  private func removeLeftParts() throws(AuditLogError) {
    let stems = Set(try place.segments().map(\.personal))
    let names: [String]
    do throws(FileError) { names = try Directory.names(in: place.directory) } catch { throw AuditLogError(error) }
    for name in names
    where name.hasPrefix(SegmentName.prefix) && name.hasSuffix(SegmentName.personalSuffix) && !stems.contains(name) {
      try removeFile(name)
    }
    try synchronizeDirectory()
  }

  private func removeFile(_ name: String) throws(AuditLogError) {
    let path = place.path(name)
    try operations.performing(.remove, path) { () throws(FileError) in
      do throws(FileError) { try Directory.removeFile(path) } catch {
        if error.errno != .noSuchFile { throw error }
      }
    }
  }

  private func firstLine(
    of name: SegmentName
  ) throws(AuditLogError) -> (sequence: UInt64, previous: [UInt8], time: PropertyListDate?)? {
    let path = place.path(name.segment)
    let file = try place.open(path, .readOnly)
    let line: [UInt8]?
    do throws(Errno) { line = try SegmentScan.firstLine(of: file) } catch {
      throw AuditLogError(FileError("read", path: path, errno: error))
    }
    return line?.withUnsafeBytes { bytes in
      LogLine(bytes).flatMap { read in
        HexText.decode(bytes[read.previous..<read.previous + 64]).map {
          (read.sequence, $0, PropertyListDate(rfc3339: String(decoding: bytes[read.time], as: UTF8.self)))
        }
      }
    }
  }

  /// The record comes first: a crash then leaves parts that are said to be erased, and the next call erases them.
  func erase(reason: String, where matches: (UInt32) -> Bool) throws(AuditLogError) -> Int {
    var numbers: [UInt64] = []
    var remaining: [(name: SegmentName, lines: [UInt8])] = []
    for name in try place.segments() {
      var kept: [UInt8] = []
      var isChanged = false
      for line in try LogSnapshot.personalBytes(name, in: place).split(separator: UInt8(ascii: "\n")) {
        let members = (try? PropertyListCoding.decode(Array(line), as: .json).dictionaryValue) ?? [:]
        // What a program claims counts only where nothing better is known: nobody gets his own records erased with another's.
        let users = ["attested", "unattested", "claimed"].compactMap {
          members[$0]?.dictionaryValue?["uid"]?.integerValue
        }
        if let user = users.first, UInt32(exactly: user).map(matches) ?? false {
          isChanged = true
          if let number = members["seq"]?.integerValue, number > 0 { numbers.append(UInt64(number)) }
        } else {
          kept += Array(line) + [UInt8(ascii: "\n")]
        }
      }
      if isChanged { remaining.append((name, kept)) }
    }
    if remaining.isEmpty { return 0 }
    // A record's text has a limit: many numbers take several records.
    var rest = Set(numbers).sorted()[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(80))
      rest = rest.dropFirst(80)
      let fields: [String: PropertyListValue] = [
        "records": .string(RecordRanges.text(part)), "count": .integer(PropertyListInteger(part.count)),
        "reason": .string(reason),
      ]
      try append([.own(.auditErased, fields: fields)])
    }
    for (name, lines) in remaining {
      let path = place.path(name.personal)
      try operations.performing(.rename, path, byteCount: lines.count) { () throws(FileError) in
        try AtomicReplacement.write(
          lines, to: path, mode: 0o640,
          owner: ProcessIdentity.effectiveUserID == 0 ? place.auditors.map { .init(userID: 0, groupID: $0) } : nil)
      }
    }
    return Set(numbers).count
  }
}
