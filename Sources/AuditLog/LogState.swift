/// The end of a log against its anchor: what can be told at once, without a verification of the whole.
///
/// The law: what the anchor counted is there, and no alarm stays that nobody has acknowledged. A log that is ahead of its anchor
/// is what a crash leaves. Who may not read the anchor learns nothing of either.
public struct LogState: Sendable, Hashable {
  public enum End: Sendable, Hashable {
    case sound
    /// The anchor counted so many records.
    case behind(expected: UInt64)
    /// The last record is not the one that the anchor counted.
    case replaced
    /// The number of an alarm that nobody has acknowledged.
    case alarm(UInt64)
    case anchorMissing
    case anchorDamaged
    /// The anchor can't be read, or there are neither records nor an anchor.
    case unknown
  }

  /// nil where the log has no records.
  public let head: LogHead?
  public let end: End

  /// - Complexity: O(newest segment).
  public init(of place: AuditLogPlace) throws(AuditLogError) {
    let snapshot = try LogSnapshot(of: place)
    head = try LogReader(place).head(of: snapshot)
    let last = head?.sequence ?? 0
    if snapshot.anchorFault != nil {
      end = .unknown
      return
    }
    switch snapshot.anchor {
    case .missing: end = last == 0 ? .unknown : .anchorMissing
    case .damaged: end = .anchorDamaged
    case .read(let anchor):
      if last < anchor.tip.sequence {
        end = .behind(expected: anchor.tip.sequence)
      } else if last == anchor.tip.sequence, let head, head.hash != anchor.tip.hash {
        end = .replaced
      } else {
        end = anchor.alarm > 0 ? .alarm(anchor.alarm) : .sound
      }
    }
  }
}
