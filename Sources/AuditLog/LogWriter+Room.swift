import AuditEvents
import Glibc
import LinuxFiles
import PropertyList

/// Room on the disk, and what is left out where there is none.
extension LogWriter {
  /// Counts the records that may not have the reserve, and leaves them out.
  func drop(from batch: inout [AuditRecord]) -> Int {
    let kept = batch.filter(\.isAdministrative)
    let dropped = batch.count - kept.count
    if dropped > 0 {
      anchor.dropped += UInt64(dropped)
      anchor.droppedSince = anchor.droppedSince ?? AuditRecord.own(.auditDropped, fields: [:]).time
    }
    batch = kept
    return dropped
  }

  func droppedRecord() -> AuditRecord {
    var fields: [String: PropertyListValue] = ["count": .integer(PropertyListInteger(anchor.dropped))]
    if let since = anchor.droppedSince { fields["since"] = .date(since) }
    return .own(.auditDropped, fields: fields)
  }

  /// - Returns: false where the disk has no room for these records and the reserve behind them.
  func reserve(for batch: [AuditRecord]) throws(AuditLogError) -> Bool {
    guard let segment else { return true }
    // A guess from above: what is reserved too much serves the next records.
    var guess = 0
    var isPersonal = false
    for index in batch.indices {
      guess += 512 + 64 * batch[index].fields.count
      if batch[index].isPersonal { isPersonal = true }
    }
    if isPersonal, let personal = try segment.personalFile(in: place, creating: true),
      try !reserve(guess, at: personal.size, of: personal.file, personal.path)
    {
      return false
    }
    let path = place.path(segment.name.segment)
    let kept = place.limits.reserveBytes
    if try reserve(guess + kept, at: segment.size, of: segment.file, path) { return true }
    // A disk so small that the whole reserve has no place on it, ever, keeps a quarter of itself.
    guard let whole = FileSystemType.byteCount(of: segment.file), whole / 4 < kept else { return false }
    return try reserve(guess + whole / 4, at: segment.size, of: segment.file, path)
  }

  private func reserve(
    _ count: Int, at offset: Int, of file: borrowing FileDescriptor, _ path: String
  ) throws(AuditLogError) -> Bool {
    do throws(AuditLogError) {
      try operations.perform(.reserve, path) { () throws(Errno) in try file.reserve(at: offset, count: count) }
      return true
    } catch {
      if error.reason == .full { return false }
      // File systems without such room: what is written finds its own.
      if case .file(let failure) = error.reason, failure.errno == .notSupported || failure.errno.rawValue == ENOSYS {
        return true
      }
      throw error
    }
  }
}
