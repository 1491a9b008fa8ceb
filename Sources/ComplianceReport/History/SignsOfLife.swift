import AuditLog
import PropertyList

/// The times in which the agent attests that it ran.
///
/// From its start, and from each sign of life to the next of the same run: a sign tells for how many seconds the agent has been
/// serving, by a clock that stands still while the machine sleeps, so a longer time between two signs than between their
/// figures is not attested. What has no figure is taken for `PolicyTimeline.patience` seconds.
struct SignsOfLife {
  private var spans: [Range<Int64>] = []
  private var last: (time: Int64, uptime: Int64?)?

  /// After lost records.
  mutating func forget() { last = nil }

  mutating func take(_ record: StoredRecord, _ time: Int64) {
    switch record.kind {
    case "agent.started": last = (time, 0)
    case "agent.heartbeat":
      let uptime = record.fields["uptime"].map { Int64($0.integerValue) }
      if let last { attest(last, until: time, uptime) }
      last = (time, uptime)
    case "agent.stopped":
      if let last { attest(last, until: time, nil) }
      last = nil
    default: break
    }
  }

  func spans(until end: Int64) -> TimeSpans {
    guard let last, end > last.time, end - last.time <= PolicyTimeline.patience else { return TimeSpans(spans) }
    return TimeSpans(spans + [last.time..<end])
  }

  private mutating func attest(_ last: (time: Int64, uptime: Int64?), until time: Int64, _ uptime: Int64?) {
    guard time > last.time else { return }
    let passed = time - last.time
    let served: Bool
    if let before = last.uptime, let uptime, uptime >= before {
      served = passed - (uptime - before) <= max(5, passed / 100)
    } else {
      served = passed <= PolicyTimeline.patience
    }
    if served { spans.append(last.time..<time) }
  }
}
