import ForcedDomain

/// The times at which a condition can hold.
///
/// Two windows of one zone are compared by that zone's clocks, day by day. Those of two zones are compared by what holds
/// wherever the clocks are: no zone is further from UTC than 16 hours. The proof needs no zone file, so that the same
/// sources are accepted or refused alike on every machine; only where windows of one zone follow each other within three
/// hours of clock time is the zone's file asked, since a repeated hour makes the earlier one last into the later one.
struct WindowReach: Hashable {
  /// One list for each part on the way that names windows; any window of each list must be open.
  private(set) var lists: [[WeeklyWindow]] = []
  /// Unix seconds before which the condition ends, the earliest on the way.
  private(set) var notAfter: Int64?

  init() {}

  /// The times of a condition and of the conditions around it.
  init(of condition: Condition) { add(condition) }

  private mutating func add(_ condition: Condition) {
    if !condition.windows.isEmpty { lists.append(condition.windows) }
    if let end = condition.notAfter { notAfter = min(end, notAfter ?? end) }
    for outer in condition.within { add(outer) }
  }

  /// False only where it is proven that there is no moment at which both can hold.
  func canMeet(_ other: WindowReach, zones: inout TimeZoneShelf) -> Bool {
    let end = [notAfter, other.notAfter].compactMap { $0 }.min()
    return Self.canMeet((lists + other.lists)[...], [], end, &zones)
  }

  /// Picks one window of each list in turn.
  private static func canMeet(
    _ lists: ArraySlice<[WeeklyWindow]>, _ chosen: [WeeklyWindow], _ end: Int64?, _ zones: inout TimeZoneShelf
  ) -> Bool {
    guard let list = lists.first else { return true }
    for window in list where starts(window, before: end) {
      guard chosen.allSatisfy({ canMeet(window, $0, &zones) }) else { continue }
      if canMeet(lists.dropFirst(), chosen + [window], end, &zones) { return true }
    }
    return false
  }

  /// Whether a window can be open before a moment: its first day has begun there in some zone.
  private static func starts(_ window: WeeklyWindow, before end: Int64?) -> Bool {
    guard let end, let first = window.firstDay else { return true }
    return Int64(first) * 86400 - Int64(farthestOffset) * 60 < end
  }

  /// Minutes; no zone is, or has been since 1900, further from UTC.
  static let farthestOffset = 16 * 60
  private static let day = 1440
  private static let week = 7 * day

  /// Whether two windows can be open at one moment.
  static func canMeet(_ a: WeeklyWindow, _ b: WeeklyWindow, _ zones: inout TimeZoneShelf) -> Bool {
    guard a.timeZone == b.timeZone else { return canMeet(a, b, slack: 2 * farthestOffset) }
    if canMeet(a, b, slack: 0) { return true }
    guard canMeet(a, b, slack: 180) else { return false }
    return overlapExactly(a, b, &zones)
  }

  /// Whether two windows come closer to each other than `slack` minutes, clocks running evenly.
  private static func canMeet(_ a: WeeklyWindow, _ b: WeeklyWindow, slack: Int) -> Bool {
    // Days on which b may start, relative to one of a's: windows last at most a day.
    let span = (slack + day - 1) / day + 2
    for aDay in 0..<7 where a.days >> aDay & 1 == 1 {
      for distance in -span...span {
        let bDay = ((aDay + distance) % 7 + 7) % 7
        guard b.days >> bDay & 1 == 1, bothStart(a, b, on: aDay, distance) else { continue }
        let bStart = distance * day + b.fromMinute
        if a.fromMinute < bStart + length(b) + slack && bStart < a.fromMinute + length(a) + slack { return true }
      }
    }
    return false
  }

  private static func length(_ window: WeeklyWindow) -> Int {
    window.toMinute > window.fromMinute
      ? window.toMinute - window.fromMinute : window.toMinute - window.fromMinute + day
  }

  /// Whether a day exists that is the given weekday, on which a may start, with b starting `distance` days later.
  private static func bothStart(_ a: WeeklyWindow, _ b: WeeklyWindow, on weekday: Int, _ distance: Int) -> Bool {
    let first = max(a.firstDay.map(Int.init) ?? .min, b.firstDay.map { Int($0) - distance } ?? .min)
    let last = min(a.lastDay.map(Int.init) ?? .max, b.lastDay.map { Int($0) - distance } ?? .max)
    guard first <= last else { return false }
    if first == .min || last == .max || last - first >= 6 { return true }
    return (first...last).contains { CivilDay.weekday(ofDay: $0) == weekday }
  }

  /// Compares two windows of one zone moment by moment. Where the zone can't be read, clock time has decided.
  private static func overlapExactly(_ a: WeeklyWindow, _ b: WeeklyWindow, _ zones: inout TimeZoneShelf) -> Bool {
    let first = max(a.firstDay ?? .min, b.firstDay ?? .min, somedayFirst)
    let last = min(a.lastDay ?? .max, b.lastDay ?? .max, max(first, somedayLast))
    let span = (Int64(first) - 2) * 86400..<(Int64(max(first, last)) + 3) * 86400
    guard let left = try? WindowExpansion.intervals(of: a, over: span, zones: &zones),
      let right = try? WindowExpansion.intervals(of: b, over: span, zones: &zones)
    else { return false }
    var index = 0
    for interval in left {
      while index < right.count && right[index].upperBound <= interval.lowerBound { index += 1 }
      if index < right.count && right[index].overlaps(interval) { return true }
    }
    return false
  }

  // 2025-01-01 and 2045-01-01: where dates don't bound two windows, these years stand for all.
  private static let somedayFirst: Int32 = 20_089
  private static let somedayLast: Int32 = 27_394
}
