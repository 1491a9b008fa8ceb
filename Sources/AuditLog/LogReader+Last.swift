extension LogReader {
  /// The newest record of one of some kinds; nil where there is none. Whose personal part stands apart comes without it.
  ///
  /// - Complexity: O(bytes of the segments from its own on); of the others, the beginnings of lines alone are looked at.
  public func last(of kinds: [String]) throws(AuditLogError) -> StoredRecord? {
    for segment in try LogSnapshot(of: place).segments.reversed() {
      let lines = try LineStream(place.path(segment.name.segment), in: place, size: segment.size)
      var found: StoredRecord?
      while let line = try lines.next() {
        guard let read = LogLine(line), kinds.contains(where: { line[read.kind].elementsEqual($0.utf8) }) else {
          continue
        }
        found = StoredRecord(line: Array(line)) ?? found
      }
      if let found { return found }
    }
    return nil
  }
}
