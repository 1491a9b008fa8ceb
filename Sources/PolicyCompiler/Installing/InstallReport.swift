public import ForcedDomain

/// What an installation or a refresh did, in the numbers that an administrator reads.
public struct InstallReport: Sendable {
  public enum Outcome: Hashable, Sendable {
    /// A new generation is in use.
    case installed
    /// The generation in use is what an installation would have made; nothing was written.
    case unchanged
    /// The generation in use stays; files of it that were damaged or missing were written again (their paths).
    case mended([String])
  }

  public var outcome: Outcome
  public var generation: UInt64
  public var host: HostIdentity
  public var serial: UInt64
  /// On whose word the bundle was accepted.
  public var trust: TrustDecision
  /// Keys that a forced entry may give a value here, in how many domains.
  public var forcedKeys: Int
  public var forcedDomains: Int
  public var recommendedKeys: Int
  /// Applications that are contained here, for some users at least.
  public var containedApplications: Int
  /// Different windows of time.
  public var windows: Int
  /// The next moment (Unix seconds) at which a window opens or closes or an entry expires; nil when none will.
  public var nextEdge: Int64?
  /// The zone of the window that has that edge: the time to show it in.
  public var nextEdgeZone: String?
  /// Until when (Unix seconds) windows are expanded.
  public var horizon: Range<Int64>
  /// What was done nevertheless needs attention: names without ids, damage that was found.
  public var faults: [String]
  /// Names of users and groups that nobody knows, and that were accepted.
  public var unresolvedNames: [String] = []
  /// Generations that were removed to keep the number small.
  public var pruned: [UInt64]
}

/// The first moment after `instant` at which something in a narrowed file changes by itself.
struct NextEdge {
  private(set) var instant: Int64?
  private(set) var zone: String?

  init(of forced: ForcedDomain, after instant: Int64) {
    for (index, condition) in forced.conditions.enumerated() {
      if let end = condition.notAfter, end > instant { offer(end, nil) }
      for (window, intervals) in zip(condition.windows, forced.intervals(ofCondition: index)) {
        for interval in intervals {
          if interval.lowerBound > instant {
            offer(interval.lowerBound, window.timeZone)
            break
          }
          // The horizon's end is no window's end.
          if interval.upperBound > instant && interval.upperBound < forced.horizon.upperBound {
            offer(interval.upperBound, window.timeZone)
            break
          }
        }
      }
    }
  }

  private mutating func offer(_ candidate: Int64, _ zone: String?) {
    if let instant, instant <= candidate { return }
    instant = candidate
    self.zone = zone
  }
}
