import Digests

/// Reads a log's records, oldest first.
public struct LogReader: Sendable {
  public let place: AuditLogPlace

  public init(_ place: AuditLogPlace) { self.place = place }

  /// Hands over each record from a number on. Lines that are none of ours are passed over: `verify` names them.
  ///
  /// - Parameter start: the first number that is wanted.
  /// - Complexity: O(segments from there on).
  public func forEachRecord(
    from start: UInt64 = 0, _ body: (StoredRecord) throws(AuditLogError) -> Void
  ) throws(AuditLogError) {
    let segments = try LogSnapshot(of: place).segments
    for (index, segment) in segments.enumerated() {
      if index + 1 < segments.count, segments[index + 1].name.first <= start { continue }
      let parts = PersonalParts(try LogSnapshot.personalBytes(segment.name, in: place))
      for line in try LogSnapshot.bytes(segment, in: place).split(separator: UInt8(ascii: "\n")) {
        guard var record = StoredRecord(line: Array(line)), record.sequence >= start else { continue }
        if let digest = record.personalDigest, let members = parts.members(digest) {
          record.join(personalPart: members)
        }
        try body(record)
      }
    }
  }

  /// The end of the log; nil where it has no records.
  public func head() throws(AuditLogError) -> LogHead? {
    let snapshot = try LogSnapshot(of: place)
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
