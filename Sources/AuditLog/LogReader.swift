import Digests

/// Reads a log's records, oldest first.
public struct LogReader: Sendable {
  public let place: AuditLogPlace

  public init(_ place: AuditLogPlace) { self.place = place }

  /// Hands over each record from a number on. Lines that are none of ours are passed over: `verify` names them. No more than
  /// a segment's personal parts are in memory at a time.
  ///
  /// - Parameters:
  ///   - start: the first number that is wanted.
  ///   - end: the last.
  /// - Complexity: O(segments from there on).
  public func forEachRecord(
    from start: UInt64 = 0, through end: UInt64 = .max, _ body: (StoredRecord) throws(AuditLogError) -> Void
  ) throws(AuditLogError) {
    let segments = try LogSnapshot(of: place).segments
    for (index, segment) in segments.enumerated() {
      if index + 1 < segments.count, segments[index + 1].name.first <= start { continue }
      if segment.name.first > end { return }
      let parts = PersonalParts(try LogSnapshot.personalBytes(segment.name, in: place))
      let lines = try LineStream(place.path(segment.name.segment), in: place, size: segment.size)
      while let line = try lines.next() {
        guard var record = StoredRecord(line: Array(line)), record.sequence >= start, record.sequence <= end else {
          continue
        }
        if let digest = record.personalDigest, let part = parts.lines[digest] { record.join(personalPart: part) }
        try body(record)
      }
    }
  }

  /// The end of the log; nil where it has no records.
  public func head() throws(AuditLogError) -> LogHead? { try head(of: LogSnapshot(of: place)) }

  func head(of snapshot: LogSnapshot) throws(AuditLogError) -> LogHead? {
    for segment in snapshot.segments.reversed() {
      let bytes = try LogSnapshot.bytes(segment, in: place)
      guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")),
        let line = bytes[..<end].split(separator: UInt8(ascii: "\n")).last, let record = StoredRecord(line: Array(line))
      else { continue }
      var log: String?
      if case .read(let anchor) = snapshot.anchor { log = anchor.log }
      return LogHead(
        host: record.host, log: log, sequence: record.sequence, hash: SHA256.digest(of: Array(line)),
        time: record.time)
    }
    return nil
  }
}
