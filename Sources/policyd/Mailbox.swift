import LinuxFiles
import PropertyList
import Synchronization

/// What other threads have for the agent's loop.
final class Mailbox: Sendable {
  private struct State {
    var records: [AgentRecord] = []
    var heartbeat: Int64 = 0
    var fields: [String: PropertyListValue] = [:]
    var spoolsLeft = 0
    var isEnded = false
  }

  let wakeup: Wakeup
  private let state = Mutex(State())

  init() throws(Errno) { wakeup = try Wakeup() }

  /// Puts a record in, and wakes the loop.
  func put(_ record: AgentRecord) {
    state.withLock { $0.records.append(record) }
    wakeup.raise()
  }

  func take() -> [AgentRecord] {
    wakeup.clear()
    return state.withLock { state in
      defer { state.records = [] }
      return state.records
    }
  }

  /// Tells a sign of life.
  /// - Parameters:
  ///   - fields: those of every record about the agent itself.
  ///   - spoolsLeft: files in spools that are left alone.
  func beat(at instant: Int64, _ fields: [String: PropertyListValue], spoolsLeft: Int = 0) {
    state.withLock {
      $0.heartbeat = instant
      $0.fields = fields
      $0.spoolsLeft = spoolsLeft
    }
  }

  /// Nothing is installed here any more: the agent ends, and writes nothing.
  func end() {
    state.withLock { $0.isEnded = true }
    wakeup.raise()
  }

  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Unix seconds; 0 before the first.
  var lastHeartbeat: Int64 { state.withLock { $0.heartbeat } }
  var spoolsLeft: Int { state.withLock { $0.spoolsLeft } }
  var lastFields: [String: PropertyListValue] { state.withLock { $0.fields } }
}
