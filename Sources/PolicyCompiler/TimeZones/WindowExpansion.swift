public import ForcedDomain

/// Turning windows of wall-clock time into moments: POLICY-LANGUAGE rule 9.
///
/// The law: a window belongs to the local day on which it starts; that day must be one of its weekdays and lie between
/// its first and last day, both included. It starts at `from`, inclusive, and ends at `to`, exclusive, which is on the
/// next day where `to` is not after `from`. A start or end in a skipped hour moves to the first moment that exists. In a
/// repeated hour the window starts at the first time and ends at the last: it covers both hours, and what lies between.
public enum WindowExpansion {
  /// The span for which an install or refresh at `now` expands windows: from the start of the year (UTC) of `now` to the
  /// first start of a year that is at least three years away.
  ///
  /// Whole years, so that a nightly refresh finds nothing to change except once a year.
  public static func horizon(at now: Int64) -> Range<Int64> {
    let today = CivilDay.date(ofDay: Int(floorDivide(now, 86400)))
    let start = CivilDay.number(year: today.year, month: 1, day: 1)
    let end = CivilDay.number(year: today.year + 4, month: 1, day: 1)
    return Int64(start) * 86400..<Int64(end) * 86400
  }

  /// The moments of one window, sorted, disjoint, not touching, clipped to the horizon.
  public static func intervals(
    of window: WeeklyWindow, over horizon: Range<Int64>, zones: inout TimeZoneShelf
  ) throws(TimeZoneError) -> [Range<Int64>] {
    let rules = try zones.rules(named: window.timeZone)
    guard !horizon.isEmpty else { return [] }
    // A window starts at most two days before it still holds (24 hours long, a day apart from UTC), so three are enough.
    let margin: Int64 = 3 * 86400
    let clock = rules.clock(covering: (horizon.lowerBound - margin)..<(horizon.upperBound + margin))
    var first = Int(floorDivide(horizon.lowerBound - margin, 86400))
    var last = Int(floorDivide(horizon.upperBound + margin, 86400))
    if let firstDay = window.firstDay { first = max(first, Int(firstDay)) }
    if let lastDay = window.lastDay { last = min(last, Int(lastDay)) }
    guard first <= last else { return [] }

    let length = window.toMinute > window.fromMinute ? 0 : 86400
    var intervals: [Range<Int64>] = []
    for day in first...last where window.days >> CivilDay.weekday(ofDay: day) & 1 == 1 {
      let from = clock.moments(ofLocal: Int64(day * 86400 + window.fromMinute * 60))
      let to = clock.moments(ofLocal: Int64(day * 86400 + window.toMinute * 60 + length))
      let start = max(from.earliest, horizon.lowerBound)
      let end = min(to.latest, horizon.upperBound)
      if start < end { intervals.append(start..<end) }
    }
    return merged(intervals)
  }

  /// The moments at which any of the windows holds.
  public static func intervals(
    of windows: [WeeklyWindow], over horizon: Range<Int64>, zones: inout TimeZoneShelf
  ) throws(TimeZoneError) -> [Range<Int64>] {
    var all: [Range<Int64>] = []
    for window in windows { all += try intervals(of: window, over: horizon, zones: &zones) }
    return merged(all)
  }

  /// Sorts, and joins what overlaps or touches.
  static func merged(_ intervals: [Range<Int64>]) -> [Range<Int64>] {
    var result: [Range<Int64>] = []
    for next in intervals.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = result.last, next.lowerBound <= last.upperBound {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
      } else {
        result.append(next)
      }
    }
    return result
  }
}
