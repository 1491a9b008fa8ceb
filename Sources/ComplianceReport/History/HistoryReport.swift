public import AuditLog
public import ForcedDomain
import PropertyList

/// What was in force on this host over a time, and what its controls were then, from the audit log: what can be proved, and the gaps.
///
/// The log has no values and no results. It has which generation was in force when, and the digest of its sources. So controls are
/// evaluated anew, over the generation that is still kept and whose digests are those of the log. What is not kept, or has another
/// digest, is an error with the reason. What users had written is not in the log, and not needed: a control passes only on what is
/// forced. Which Unix groups a user belonged to is not in the log either: where that decides, the answer is an error.
public struct HistoryReport: Sendable {
  public let host: String
  /// Unix seconds.
  public let span: Range<Int64>
  /// When it was made, in Unix seconds.
  public let made: Int64
  /// What the log's verification said; never `tampered`.
  public let verification: AuditVerification
  public internal(set) var timeline: PolicyTimeline
  public internal(set) var users: [UserHistory] = []
  public internal(set) var notes: [String] = []

  /// A generation to be evaluated, or why it can't be.
  public enum Policy: Sendable {
    case kept(marker: GenerationMarker, forced: ForcedDomain, provenance: ForcedDomain)
    case unavailable(String)
  }

  /// Who is asked about.
  public struct Subject {
    public let user: String
    public let userID: UInt32?
    /// Why nothing can be told of this user; nil where it can.
    public let failure: String?
    /// The context in which a file is asked for the user.
    public let context: (_ file: ForcedDomain, _ host: HostIdentity?, _ instant: Int64) -> EvaluationContext

    public init(
      user: String, userID: UInt32?, failure: String?,
      context: @escaping (_ file: ForcedDomain, _ host: HostIdentity?, _ instant: Int64) -> EvaluationContext
    ) {
      self.user = user
      self.userID = userID
      self.failure = failure
      self.context = context
    }
  }

  /// - Parameters:
  ///   - isAboutAll: whether what the agent refused of anybody is a gap; else only of the subjects. A user can have the agent
  ///     refuse as much as that user likes, and that says nothing about others.
  ///   - policy: reads a generation that is kept; asked once for each.
  ///   - progress: told after each stretch of each user: how many of how many.
  /// - Complexity: O(records + moments at which something changes × controls × users).
  public init(
    host: String, made: Int64, verification: AuditVerification, timeline: PolicyTimeline, subjects: [Subject],
    isAboutAll: Bool, policy: (UInt64) -> Policy, progress: (Int, Int) -> Void = { _, _ in }
  ) {
    self.host = host
    self.made = made
    self.verification = verification
    self.timeline = timeline
    span = timeline.span
    if verification.verdict != .sound {
      self.timeline.add(
        HistoryGap(
          .endUnknown, from: span.lowerBound, to: span.upperBound,
          verification.findings.first?.what ?? "the log is not complete"))
    }
    var policies: [UInt64: Policy] = [:]
    for case .inForce(let generation) in timeline.stretches.map(\.state) where policies[generation] == nil {
      policies[generation] = Self.checked(generation, policy(generation), timeline)
    }
    for stretch in timeline.stretches {
      guard case .inForce(let generation) = stretch.state, case .unavailable(let why)? = policies[generation] else {
        continue
      }
      self.timeline.add(
        HistoryGap(
          .notEvaluated, from: stretch.span.lowerBound, to: stretch.span.upperBound,
          "generation \(generation) was in force, but \(why)"))
    }
    self.timeline.sortGaps()
    let others = isAboutAll ? 0 : self.timeline.keepGaps(of: Set(subjects.compactMap(\.userID)))
    if others > 0 {
      notes.append(
        "The agent refused events of users whom this report is not about (\(others) records): no gap of this report.")
    }
    let total = subjects.count * timeline.stretches.count
    var done = 0
    for subject in subjects {
      var builder = UserHistoryBuilder(subject)
      for stretch in timeline.stretches {
        builder.add(stretch, policies, attested: timeline.attested)
        done += 1
        progress(done, total)
      }
      users.append(builder.finished(timeline))
    }
    if timeline.erasedCount > 0 {
      notes.append(
        "The personal parts of \(timeline.erasedCount) records were erased: refused writes in them are not counted.")
    }
  }

  /// A kept generation counts only where it is the one that the log names.
  private static func checked(_ generation: UInt64, _ policy: Policy, _ timeline: PolicyTimeline) -> Policy {
    guard case .kept(let marker, _, _) = policy else { return policy }
    let digest = ReportJSON.hexadecimal(marker.sourceDigest)
    // The empty generation is made of no sources.
    let expected = timeline.digests[generation] ?? (generation == 0 && digest.isEmpty ? [""] : [])
    if expected.isEmpty { return .unavailable("the log does not have the digest of its sources") }
    guard expected == [digest] else { return .unavailable("what is kept of it has another digest than the log says") }
    let checksum = ReportJSON.hexadecimal(
      (0..<8).map { UInt8(truncatingIfNeeded: marker.forcedChecksum >> (56 - 8 * $0)) })
    if let checksums = timeline.checksums[generation], checksums != [checksum] {
      return .unavailable("what is kept of it has another checksum than the agent's signs of life say")
    }
    return policy
  }

  /// The results of all users together.
  public var counts: ResultCounts { users.reduce(into: ResultCounts()) { $0 += $1.counts } }

  /// A time with gaps has not passed.
  public var verdict: Verdict {
    let own = Verdict(counts)
    return timeline.gaps.isEmpty ? own : Verdict.worse(own, .incomplete)
  }

  /// How much of the time the agent attests, in percent, rounded down.
  public var attestedPercentage: Int {
    let open = timeline.attested.missing(from: span).reduce(0) { $0 + $1.count }
    return Int(Double(span.count - open) * 100 / Double(span.count))
  }
}
