import LinuxFiles
import PropertyList
import Synchronization

/// Sends events to the agent of an installation; what the agent does not take goes into the user's spool.
///
/// `send` only appends to a queue in memory; a background thread talks to the agent, and goes on with the spool where none
/// runs, where it takes too long, or where an event is too long for a packet. An event is the agent's only when the agent
/// says that it is kept. So nothing is lost when the agent is killed; what it had kept without having said so is in the
/// spool as well, and comes in twice.
public final class AgentSink: AuditEventSink, QueuedSink {
  private let socket: String
  private let spool: AuditSpool
  private let patience: Double?
  private let lost = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - socket: the path at which the agent listens.
  ///   - spool: of the agent's installation.
  public convenience init(at socket: String, spool: AuditSpool) { self.init(at: socket, spool: spool, patience: nil) }

  /// One that waits for its agent as long as it is told.
  /// - Parameter patience: in seconds; nil is what the queue allows, two and at the end of the process a half.
  package init(at socket: String, spool: AuditSpool, patience: Double?) {
    self.socket = socket
    self.spool = spool
    self.patience = patience
  }

  /// Events that reached neither the agent nor the spool, since the process began.
  public var dropped: UInt64 { lost.load(ordering: .relaxed) + spool.dropped }

  public func send(_ event: AuditEvent) {
    if !SpoolQueue.shared.enqueue(event, for: self) { lost.add(1, ordering: .relaxed) }
  }

  public func flush() { SpoolQueue.shared.drain() }

  var queueLimit: Int { spool.limits.queue }

  func write(_ events: [AuditEvent], patience: Double) {
    let lines = events.map { $0.jsonLine() }
    var rest = events[...]
    while let first = rest.first {
      let packets = lines[rest.startIndex...].prefix { $0.count <= AgentProtocol.packetBytes }
      if packets.isEmpty {
        spool.write([first], patience: patience)
        rest.removeFirst()
        continue
      }
      let kept = AgentProtocol.deliver(packets, to: socket, patience: self.patience ?? patience)
      rest.removeFirst(kept)
      if kept < packets.count {
        spool.write(Array(rest), patience: patience)
        return
      }
    }
  }
}
