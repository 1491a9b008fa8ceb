public import AuditLog
public import ForcedDomain
import PropertyList

/// Which generation of the policy was in force when, as far as the records of the audit log settle it.
///
/// The law. A generation is put on record before it takes effect, so between two records that follow each other without a
/// loss nothing changed that is not on record. A record *names* a generation: a change names the one it brings and the one
/// before; a sign of life of the agent names the one that is there. So
///
/// 1. between a naming and the next, the first one's generation was in force where the next names it as well;
/// 2. a change whose generation the next naming does not know, though it knows the one before, did not come into force (a
///    crash right between record and effect);
/// 3. what the two name differently otherwise is not settled, and a gap;
/// 4. before the first naming behind a loss, or in the log, what that one names as there before it;
/// 5. after the last, what is installed now, where that is the same;
/// 6. where the clock was set back, the time that passed twice is a gap.
///
/// Only what root, by the kernel's word, has recorded counts as a naming.
public struct PolicyTimeline: Sendable {
  public enum State: Sendable, Hashable {
    case inForce(UInt64)
    /// Nothing was installed.
    case nothing
    /// Not settled, and why.
    case unknown(String)
  }

  public struct Stretch: Sendable, Hashable {
    public var span: Range<Int64>
    public var state: State
  }

  /// What happened, for people: no signs of life.
  public struct Event: Sendable, Hashable {
    public var record: UInt64
    public var time: Int64
    public var kind: String
    public var text: String
  }

  public let span: Range<Int64>
  /// In order, without holes or overlaps; together the whole span.
  public private(set) var stretches: [Stretch] = []
  public private(set) var gaps: [HistoryGap] = []
  public internal(set) var events: [Event] = []
  /// Where the agent attests that it ran.
  private(set) var attested = TimeSpans()
  /// The digests of the sources that the log has for a generation; more than one is a contradiction.
  var digests: [UInt64: Set<String>] = [:]
  /// The checksums of forced files that signs of life have for it.
  var checksums: [UInt64: Set<String>] = [:]
  /// Records of writes to forced keys in the span, with user, domain and key.
  var attempts: [Attempt: Int] = [:]
  /// Records in the span whose personal part was erased.
  var erasedCount = 0
  /// All records of the log.
  public let recordCount: Int

  struct Attempt: Sendable, Hashable {
    let user: UInt32
    let domain: String
    let key: String
  }

  /// Seconds without a sign of life that count as none missing: three times the agent's usual interval.
  static let patience: Int64 = 900
  /// Seconds by which records of several writers may overtake each other without anybody having set the clock.
  static let overtaking: Int64 = 10
  /// Seconds from the record of a change to its effect, in which the agent may still see what was there before.
  static let takingEffect: Int64 = 60

  struct Naming {
    let record: UInt64
    let time: Int64
    /// Behind it; nil where nothing was installed any more.
    let generation: UInt64?
    /// Before it; nil where the record does not say.
    let before: UInt64?
    let isChange: Bool
  }

  /// A part of the chain in which no record was lost.
  private struct Piece {
    var start: Int64
    var end: Int64
    var namings: [Naming] = []
  }

  /// - Parameters:
  ///   - records: all of the log, in their order.
  ///   - marker: what is installed now.
  ///   - isTrusted: whether a user's records count as root's.
  /// - Complexity: O(records).
  public init(
    _ records: [StoredRecord], over span: Range<Int64>, marker: GenerationMarker?, isTrusted: (UInt32) -> Bool
  ) {
    self.span = span
    recordCount = records.count
    var painted: [Stretch] = []
    var pieces: [Piece] = []
    var clockGaps: [Range<Int64>] = []
    var life = SignsOfLife()
    var last: (time: Int64, record: UInt64)?
    for record in records {
      var time = Int64(record.time.unixTime.rounded(.down))
      if let last, time < last.time {
        if last.time - time <= Self.overtaking {
          time = last.time
        } else {
          clockGaps.append(time..<last.time)
          add(
            HistoryGap(
              .clock, from: time, to: last.time, record: record.sequence,
              "record \(record.sequence) is \(last.time - time) s older than the one before: the clock was set back"))
        }
      }
      if record.kind == "audit.alarm" || pieces.isEmpty {
        if record.kind == "audit.alarm" {
          let start = min(last?.time ?? time, time)
          painted.append(Stretch(span: start..<time, state: .unknown("records were lost")))
          add(
            HistoryGap(
              .recordsLost, from: start, to: time, record: record.sequence,
              "records were lost: \(Self.word(record.fields["reason"]) ?? "the log is not what was counted")"))
          life.forget()
        }
        pieces.append(Piece(start: time, end: time))
      }
      pieces[pieces.count - 1].end = time
      if let naming = naming(record, time, isTrusted),
        !Self.isBeforeEffect(naming, pieces[pieces.count - 1].namings.last)
      {
        pieces[pieces.count - 1].namings.append(naming)
      }
      life.take(record, time)
      note(record, time, last?.time)
      last = (time, record.sequence)
    }
    if var piece = pieces.popLast() {
      // From the last record on, the chain goes to the present: whatever changes is recorded first.
      piece.end = max(piece.end, span.upperBound)
      pieces.append(piece)
    }
    for (index, piece) in pieces.enumerated() {
      paint(piece, marker: index == pieces.count - 1 ? .some(marker) : nil, &painted)
    }
    attested = life.spans(until: span.upperBound)
    settle(painted, clockGaps)
    if let first = records.first {
      let start = Int64(first.time.unixTime.rounded(.down))
      if start > span.lowerBound {
        let why = first.sequence == 1 ? "it began then" : "what came before record \(first.sequence) was removed"
        add(
          HistoryGap(
            .logStartsLater, from: span.lowerBound, to: start, record: first.sequence,
            "the log has nothing from that time: \(why)"))
      }
    }
    findTimesWithoutAgent(records.first.map { Int64($0.time.unixTime.rounded(.down)) })
    sortGaps()
  }

  /// Takes out the gaps that are of other users alone.
  /// - Returns: how many.
  mutating func keepGaps(of users: Set<UInt32>) -> Int {
    let before = gaps.count
    gaps.removeAll { gap in gap.user.map { !users.contains($0) } ?? false }
    return before - gaps.count
  }

  mutating func sortGaps() {
    gaps.sort { ($0.from, $0.to, $0.record ?? 0) < ($1.from, $1.to, $1.record ?? 0) }
  }

  /// Adds a gap as far as it concerns the span.
  mutating func add(_ gap: HistoryGap) {
    var gap = gap
    guard gap.from < span.upperBound, gap.to > span.lowerBound || gap.from == gap.to && gap.from >= span.lowerBound
    else { return }
    gap.from = max(gap.from, span.lowerBound)
    gap.to = min(gap.to, span.upperBound)
    gaps.append(gap)
  }

  // MARK: Painting

  /// - Parameter marker: what is installed now, for the last piece; nil for others.
  private mutating func paint(_ piece: Piece, marker: GenerationMarker??, _ painted: inout [Stretch]) {
    func state(_ generation: UInt64?) -> State { generation.map { .inForce($0) } ?? .nothing }
    func add(_ from: Int64, _ to: Int64, _ state: State) {
      if from < to { painted.append(Stretch(span: from..<to, state: state)) }
    }
    guard let first = piece.namings.first else {
      if let marker {
        add(piece.start, piece.end, state(marker?.generation))
      } else {
        add(piece.start, piece.end, .unknown("no record names the generation"))
      }
      return
    }
    add(piece.start, first.time, first.before.map { .inForce($0) } ?? .unknown("no record names the generation"))
    for (naming, next) in zip(piece.namings, piece.namings.dropFirst()) {
      let found = settle(naming, next.before)
      if case .unknown(let why) = found {
        self.add(HistoryGap(.unsettled, from: naming.time, to: max(next.time, naming.time), record: next.record, why))
      }
      add(naming.time, next.time, found)
    }
    guard let end = piece.namings.last else { return }
    if let marker {
      let found = settle(end, marker?.generation)
      if case .unknown(let why) = found {
        self.add(HistoryGap(.unsettled, from: end.time, to: piece.end, record: end.record, why))
      }
      add(end.time, piece.end, found)
    } else {
      add(end.time, piece.end, state(end.generation))
    }
  }

  /// What was in force behind a naming, when the next one knows `later` as what was there before it.
  private func settle(_ naming: Naming, _ later: UInt64?) -> State {
    if naming.generation == later { return later.map { .inForce($0) } ?? .nothing }
    // After everything was taken away, a new installation begins with the empty generation.
    if naming.generation == nil, later == 0 { return .nothing }
    if naming.isChange, let before = naming.before, later == before { return .inForce(before) }
    let names = naming.generation.map { "generation \($0)" } ?? "that nothing is installed"
    let found = later.map { "generation \($0) was there later" } ?? "nothing was installed later"
    return .unknown("record \(naming.record) names \(names), but \(found), and no record tells how that came about")
  }

  /// Cuts what was painted to the span, with the times that passed twice and those that nothing tells of.
  private mutating func settle(_ painted: [Stretch], _ clockGaps: [Range<Int64>]) {
    let twice = TimeSpans(clockGaps)
    var all: [Stretch] = []
    for stretch in painted {
      let inside = stretch.span.clamped(to: span)
      for part in twice.missing(from: inside) where !part.isEmpty {
        all.append(Stretch(span: part, state: stretch.state))
      }
    }
    for range in twice.ranges.map({ $0.clamped(to: span) }) where !range.isEmpty {
      all.append(Stretch(span: range, state: .unknown("the clock was set back")))
    }
    for range in TimeSpans(all.map(\.span)).missing(from: span) {
      all.append(Stretch(span: range, state: .unknown("the log has nothing from that time")))
    }
    for stretch in all.sorted(by: { $0.span.lowerBound < $1.span.lowerBound }) {
      if let last = stretches.last, last.state == stretch.state, last.span.upperBound == stretch.span.lowerBound {
        stretches[stretches.count - 1].span = last.span.lowerBound..<stretch.span.upperBound
      } else {
        stretches.append(stretch)
      }
    }
  }

  private mutating func findTimesWithoutAgent(_ start: Int64?) {
    guard let start, max(start, span.lowerBound) < span.upperBound else { return }
    for range in attested.missing(from: max(start, span.lowerBound)..<span.upperBound) {
      add(
        HistoryGap(
          .noAgent, from: range.lowerBound, to: range.upperBound,
          "no sign of life of the agent: what is said of that time rests on the records of root's commands alone"))
    }
  }
}
