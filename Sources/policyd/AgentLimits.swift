/// How much of the agent each user may have, and how long things may take.
///
/// The law: what one user does is counted against that user alone. Whoever wants more than a share is refused the rest, and
/// the log says how much that was; nobody else waits for it.
struct AgentLimits {
  /// Connections of one user that are open at a time; more are closed at once.
  var connections = 32
  /// Connections of all users; beyond, who is let in takes the place of another (`UserGroups`).
  var allConnections = 512
  /// Of these, how many only root may have, and who runs the agent.
  var reservedConnections = 32
  /// New connections that are looked at before the packets of others are.
  var acceptances = 64
  /// Packets of one user that are read before it is another user's turn.
  var packets = 32
  /// Records that a user may cause in a second, in the long run, and at once.
  var recordsPerSecond = 20.0
  var burst = 500.0
  /// Seconds for which what one user repeats is gathered into one record before it is written; after so many repetitions
  /// within so many seconds.
  var gathering = 0.1
  var repetitions = 8
  var memory = 10.0
  /// Records that are written at a time.
  var batch = 256
  /// Records that wait while the log can't be written; with more of them nothing more is read.
  var waiting = 1024
  /// Seconds after which a connection is closed that has nothing to say.
  var idle = 10.0
  /// Seconds in which refusals of one user are told as one record.
  var refusals = 10.0
  /// Seconds between attempts to write a log that can't be written.
  var retry = 1.0
}

/// Seconds of a clock that never goes back.
typealias Moment = Double

/// What is left of a share that fills by itself.
struct TokenBucket {
  let rate: Double
  let capacity: Double
  private(set) var tokens: Double
  private var filled: Moment

  /// Full at first.
  init(rate: Double, capacity: Double, at now: Moment) {
    self.rate = rate
    self.capacity = capacity
    tokens = capacity
    filled = now
  }

  /// Takes one.
  /// - Returns: false where none is left.
  mutating func take(at now: Moment) -> Bool {
    tokens = min(capacity, tokens + max(0, now - filled) * rate)
    filled = now
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }

  func isFull(at now: Moment) -> Bool { tokens + max(0, now - filled) * rate >= capacity }
}
