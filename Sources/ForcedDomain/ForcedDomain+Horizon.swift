extension ForcedDomain {
  /// How long before the end of the horizon a host is told: 90 days.
  public static let horizonWarning: Int64 = 90 * 86_400

  /// Whether anything in the file depends on windows of time.
  public var hasWindows: Bool { withView { $0.layout.windows.count > 0 } }

  /// What is wrong, or soon will be, with the span over which windows are expanded; nil when nothing is.
  ///
  /// Outside the span windows count as open for what they force and as closed for what they release. `refresh` expands
  /// them anew.
  ///
  /// - Parameter instant: Unix seconds.
  public func horizonFault(at instant: Int64) -> String? {
    guard kind != .fleet, hasWindows else { return nil }
    if instant < horizon.lowerBound {
      return "the clock is before the time from which windows are known; all of them count as open. "
        + "Set the clock, then: policyctl refresh"
    }
    if instant >= horizon.upperBound {
      return "windows are not known any more; all of them count as open. Next: policyctl refresh"
    }
    // No overflow: the instant lies within the horizon.
    let (left, overflow) = horizon.upperBound.subtractingReportingOverflow(instant)
    if overflow || left > Self.horizonWarning { return nil }
    return "windows are known for \(left / 86_400) more days only. Next: policyctl refresh"
  }
}
