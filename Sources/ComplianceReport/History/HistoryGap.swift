/// A time of which the log does not tell all, or something in the log that makes it tell less.
public struct HistoryGap: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The log has no record from that time.
    case logStartsLater = "log-starts-later"
    /// Records were lost; an alarm tells of it.
    case recordsLost = "records-lost"
    /// What a crash left of an unfinished line was cut off.
    case recovered = "recovered"
    /// Records found no room, or a user's events were refused.
    case dropped = "dropped"
    /// No sign of life of the agent: whether the machine ran, and its files were whole, nobody attests.
    case noAgent = "no-agent"
    /// The clock was set back: what happened then has two times.
    case clock = "clock"
    /// Which generation was in force the records don't settle.
    case unsettled = "unsettled"
    /// The generation is known, but can't be evaluated any more.
    case notEvaluated = "not-evaluated"
    /// Whether newer records are missing can't be told.
    case endUnknown = "end-unknown"
  }

  public var kind: Kind
  /// Unix seconds.
  public var from: Int64
  /// Unix seconds, not included; equal to `from` for what happened at a moment.
  public var to: Int64
  /// The number of the record that tells of it; nil where none does.
  public var record: UInt64?
  /// One sentence, without its full stop.
  public var text: String
  /// The user of whom alone it makes the log tell less; nil where it is of all.
  public var user: UInt32?

  public init(_ kind: Kind, from: Int64, to: Int64, record: UInt64? = nil, user: UInt32? = nil, _ text: String) {
    self.user = user
    self.kind = kind
    self.from = from
    self.to = to
    self.record = record
    self.text = text
  }
}

/// Spans of time, none of which touches another, in order.
struct TimeSpans: Sendable, Hashable {
  private(set) var ranges: [Range<Int64>] = []

  init(_ ranges: some Sequence<Range<Int64>> = []) {
    for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = self.ranges.last, range.lowerBound <= last.upperBound {
        self.ranges[self.ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  /// The parts of a span that are in none of these.
  func missing(from whole: Range<Int64>) -> [Range<Int64>] {
    var missing: [Range<Int64>] = []
    var start = whole.lowerBound
    for range in ranges where range.upperBound > whole.lowerBound && range.lowerBound < whole.upperBound {
      if range.lowerBound > start { missing.append(start..<range.lowerBound) }
      start = max(start, range.upperBound)
    }
    if start < whole.upperBound { missing.append(start..<whole.upperBound) }
    return missing
  }

  /// Whether a span lies in one of these as a whole.
  func contains(_ span: Range<Int64>) -> Bool { missing(from: span).isEmpty }
}
