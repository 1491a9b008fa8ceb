import Synchronization

/// Where events go.
///
/// `send` returns at once and never fails: a program that asks for a preference must not wait for, or break with, the
/// audit trail. What a sink can't keep it counts and says so in the trail.
public protocol AuditEventSink: Sendable {
  func send(_ event: AuditEvent)
  /// Brings what was sent so far to where it is kept, as far as that goes.
  func flush()
}

extension AuditEventSink {
  public func flush() {}
}

/// The process's sinks for whoever does not choose one: the agent of an installation, with the user's spool behind it.
public enum DefaultAuditEventSink {
  private struct Place: Hashable {
    let socket: String
    let home: String?
  }

  private struct State {
    var replacement: (any AuditEventSink)?
    var sinks: [Place: AgentSink] = [:]
  }

  private static let state = Mutex(State())

  /// - Parameters:
  ///   - socket: the path at which the installation's agent listens, if there is one.
  ///   - home: where the spool is; nil: in the user's directory for state.
  ///   - origin: that installation, on this host.
  public static func current(
    agent socket: String, home: String?, origin: @autoclosure () -> SpoolOrigin
  ) -> any AuditEventSink {
    state.withLock { state in
      if let replacement = state.replacement { return replacement }
      let place = Place(socket: socket, home: home)
      if let sink = state.sinks[place] { return sink }
      let sink = AgentSink(at: socket, spool: AuditSpool(of: origin(), home: home))
      state.sinks[place] = sink
      return sink
    }
  }

  /// Replaces the sink for the whole process; nil goes back to the agents.
  public static func replace(with sink: (any AuditEventSink)?) { state.withLock { $0.replacement = sink } }
}

/// Forgets every event; for what-if questions, which concern no real program.
public struct DiscardingAuditEventSink: AuditEventSink {
  public init() {}
  public func send(_ event: AuditEvent) {}
}
