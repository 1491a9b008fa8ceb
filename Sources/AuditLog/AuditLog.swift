import AuditEvents
import LinuxFiles
import PropertyList

/// The audit log of a host: an append-only chain of records that can't be changed unseen.
///
/// Any number of processes append; each call takes the one lock, reads where the log ends (nothing is remembered from an
/// earlier call), writes all its records with one write, waits for the disk, and then moves the anchor. When it returns, the
/// records are durable. What a crash left is recovered by the next call.
public struct AuditLog: Sendable {
  public let place: AuditLogPlace
  let operations: LogOperations

  /// - Parameter operations: other than the system's in tests only.
  public init(_ place: AuditLogPlace, operations: LogOperations = .system) {
    self.place = place
    self.operations = operations
  }

  /// Appends records, in their order, as one group.
  ///
  /// - Parameter patience: seconds to wait for another writer.
  /// - Returns: where they ended, and how many of those that are not administrative found no room.
  /// - Throws: where an administrative record could not be made durable. Nothing of the group is then in the log, unless
  ///   the anchor alone could not be written.
  /// - Complexity: O(records); O(newest segment) after a crash.
  @discardableResult
  public func append(_ records: [AuditRecord], patience: Double = 30) throws(AuditLogError) -> AuditReceipt {
    let writer = try LogWriter(place, operations, patience: patience)
    return try writer.append(records)
  }

  /// Ends the newest segment and begins another, whatever its size.
  public func rotate(patience: Double = 30) throws(AuditLogError) {
    let writer = try LogWriter(place, operations, patience: patience)
    try writer.append([])
    try writer.rotate()
    try writer.append([])
  }

  /// Says that an administrator has seen every alarm so far: `verify` no longer fails because of them.
  ///
  /// - Parameter reason: what was found out, for the log.
  /// - Returns: whether there was an alarm to acknowledge.
  public func acknowledge(reason: String, patience: Double = 30) throws(AuditLogError) -> Bool {
    let writer = try LogWriter(place, operations, patience: patience)
    try writer.append([])
    guard writer.anchor.alarm > 0 else { return false }
    let fields: [String: PropertyListValue] = [
      "through": .integer(PropertyListInteger(writer.anchor.tip.sequence)), "reason": .string(reason),
    ]
    try writer.append([.own(.auditAcknowledged, fields: fields)], acknowledging: true)
    return true
  }

  /// Appends last records and puts a copy of the anchor into the log's folder, where it stays with the log when everything
  /// else is uninstalled.
  public func appendLast(_ records: [AuditRecord], patience: Double = 30) throws(AuditLogError) {
    let writer = try LogWriter(place, operations, patience: patience)
    try writer.append(records)
    try writer.leaveAnchorBehind()
  }
}
