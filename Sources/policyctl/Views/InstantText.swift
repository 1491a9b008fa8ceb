import CommandLineKit
import Glibc
import PolicyCompiler
import PropertyList

/// Moments as people read them: in this machine's local time, as short as it stays clear.
enum InstantText {
  /// `today 11:30`, `Tue 09:00 CET` within six days, else `2026-12-01 09:00 CET`.
  ///
  /// - Parameters:
  ///   - instant: Unix seconds.
  ///   - now: Unix seconds; what "today" is held against.
  ///   - zone: the zone of a rule: its edges are told by the clock that the rule was written for.
  static func short(_ instant: Int64, now: Int64, zone: String? = nil) -> String {
    if let zone, let rules = try? TimeZoneRules(named: zone) { return short(instant, now: now, by: rules) }
    var moment = local(instant)
    let present = local(now)
    if moment.tm_year == present.tm_year, moment.tm_yday == present.tm_yday { return format("today %H:%M", &moment) }
    if abs(instant - now) < 6 * 86_400, instant > now { return format("%a %H:%M %Z", &moment) }
    return format("%Y-%m-%d %H:%M %Z", &moment)
  }

  /// The same by the clock of a zone, which is named also for today: `today 11:30 CET`.
  private static func short(_ instant: Int64, now: Int64, by rules: TimeZoneRules) -> String {
    func clock(_ instant: Int64) -> tm {
      var shifted = time_t(instant + Int64(rules.type(at: instant).offset))
      var parts = tm()
      gmtime_r(&shifted, &parts)
      return parts
    }
    var moment = clock(instant)
    let present = clock(now)
    let abbreviation = rules.type(at: instant).abbreviation
    // Many zones have only a number for a name.
    let isWord = abbreviation.utf8.first.map { ($0 | 0x20) >= UInt8(ascii: "a") } ?? false
    let suffix = " " + (isWord ? abbreviation : rules.name)
    if moment.tm_year == present.tm_year, moment.tm_yday == present.tm_yday {
      return format("today %H:%M", &moment) + suffix
    }
    let isNear = instant > now && instant - now < 6 * 86_400
    return format(isNear ? "%a %H:%M" : "%Y-%m-%d %H:%M", &moment) + suffix
  }

  /// How long it is since a moment: `12 s ago`, `3 min ago`, `5 h ago`, `2 d ago`.
  static func ago(_ instant: Int64, now: Int64) -> String {
    let seconds = max(0, now - instant)
    switch seconds {
    case ..<120: return "\(seconds) s ago"
    case ..<7200: return "\(seconds / 60) min ago"
    case ..<172_800: return "\(seconds / 3600) h ago"
    default: return "\(seconds / 86_400) d ago"
    }
  }

  /// `2026-12-01`.
  static func day(_ instant: Int64) -> String {
    var moment = local(instant)
    return format("%Y-%m-%d", &moment)
  }

  /// RFC 3339 in UTC, for JSON.
  static func rfc3339(_ instant: Int64) -> String { PropertyListDate(unixTime: Double(instant)).rfc3339 }

  private static func local(_ instant: Int64) -> tm {
    var seconds = time_t(instant)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return parts
  }

  private static func format(_ pattern: String, _ moment: inout tm) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    let length = strftime(&buffer, buffer.count, pattern, &moment)
    return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
