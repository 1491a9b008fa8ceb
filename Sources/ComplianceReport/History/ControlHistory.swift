/// One control over time.
public struct ControlHistory: Sendable, Hashable {
  /// A time in which its result was the same.
  public struct Stretch: Sendable, Hashable {
    public var span: Range<Int64>
    public var generation: UInt64?
    public var result: ControlResult
    /// What was wrong, or why it was not asked; empty for a pass.
    public var why: String
    /// Nothing is known of the time, and a gap of the report says so: it is an error, and counts only where nothing else does.
    public var isUnknown = false
  }

  public let id: String
  /// As the newest policy of the time has it.
  public internal(set) var title: String
  public internal(set) var severity: String
  /// In order.
  public internal(set) var stretches: [Stretch] = []
  /// Writes to its keys that were refused, as far as programs reported them.
  public internal(set) var attempts = 0

  /// Over the whole time: a failure at any moment is a failure; it passes where it passed whenever it was asked. Times of which
  /// nothing is known are gaps of the whole report, which then has not passed.
  public var result: ControlResult {
    let all = Set(stretches.lazy.filter { !$0.isUnknown }.map(\.result))
    if all.isEmpty, !stretches.isEmpty { return .error }
    for result in [ControlResult.fail, .error, .pass, .exempt] where all.contains(result) { return result }
    return .notApplicable
  }

  /// When it failed or could not be evaluated; times of which nothing is known only where there are no others.
  var bad: [Stretch] {
    let bad = stretches.filter { $0.result == .fail || $0.result == .error }
    let known = bad.filter { !$0.isUnknown }
    return known.isEmpty && result == .error ? bad : known
  }

  /// One thing that was wrong, and when.
  struct Cause: Hashable {
    var result: ControlResult
    var why: String
    var spans: [Range<Int64>]
  }

  /// What was wrong, in the order in which it first was; times that touch are one, whichever generations they were of.
  var causes: [Cause] {
    var causes: [Cause] = []
    var known: [Cause: Int] = [:]
    for stretch in bad {
      let name = Cause(result: stretch.result, why: stretch.why, spans: [])
      if let index = known[name] {
        causes[index].spans = TimeSpans(causes[index].spans + [stretch.span]).ranges
      } else {
        known[name] = causes.count
        causes.append(Cause(result: stretch.result, why: stretch.why, spans: [stretch.span]))
      }
    }
    return causes
  }

  /// How long it had each result: the worst first, and last the time of which nothing is known.
  var shares: [(word: String, seconds: Int64)] {
    var seconds: [String: Int64] = [:]
    for stretch in stretches {
      seconds[stretch.isUnknown ? "unknown" : stretch.result.word, default: 0] += Int64(stretch.span.count)
    }
    let words = [ControlResult.fail, .error, .pass, .exempt, .notApplicable].map(\.word) + ["unknown"]
    return words.compactMap { word in seconds[word].map { (word, $0) } }
  }

  mutating func add(_ stretch: Stretch) {
    if let last = stretches.last, last.span.upperBound == stretch.span.lowerBound, last.result == stretch.result,
      last.why == stretch.why, last.generation == stretch.generation
    {
      stretches[stretches.count - 1].span = last.span.lowerBound..<stretch.span.upperBound
    } else {
      stretches.append(stretch)
    }
  }
}

/// The controls of one user over time.
public struct UserHistory: Sendable, Hashable {
  /// A time in which all results were the same.
  public struct Point: Sendable, Hashable {
    public var span: Range<Int64>
    /// nil where it is not known, or nothing was installed.
    public var generation: UInt64?
    /// The agent attests that it ran all the time.
    public var isAttested: Bool
    /// nil where nothing can be told.
    public var counts: ResultCounts?
  }

  public let user: String
  public let userID: UInt32?
  public internal(set) var points: [Point] = []
  /// In the order in which policies name them first.
  public internal(set) var controls: [ControlHistory] = []
  public internal(set) var notes: [String]

  /// Of each control over the whole time.
  public var counts: ResultCounts { ResultCounts(controls.lazy.map(\.result)) }
}
