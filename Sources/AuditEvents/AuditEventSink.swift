import Synchronization

/// Where events go.
///
/// `send` returns at once and never fails: a program that asks for a preference must not wait for, or break with, the
/// audit trail. What a sink can't keep it counts and says so in the trail.
public protocol AuditEventSink: Sendable {
  func send(_ event: AuditEvent)
}

/// The process's sink for whoever does not choose one: the user's bounded spool, until an agent takes its place.
public enum DefaultAuditEventSink {
  private static let replacement = Mutex<(any AuditEventSink)?>(nil)
  private static let spool = AuditSpool()

  public static var current: any AuditEventSink { replacement.withLock { $0 } ?? spool }

  /// Replaces the sink for the whole process; nil goes back to the spool.
  public static func replace(with sink: (any AuditEventSink)?) { replacement.withLock { $0 = sink } }
}

/// Forgets every event; for what-if questions, which concern no real program.
public struct DiscardingAuditEventSink: AuditEventSink {
  public init() {}
  public func send(_ event: AuditEvent) {}
}
