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

/// The value of `--at` and other flags that take a moment.
enum InstantArgument {
  /// Unix seconds from RFC 3339 with its offset, or from a local date and time (`2026-12-01 09:30`) that exists exactly
  /// once in this machine's time zone.
  static func parse(_ text: String, verb: String, flag: String = "--at") throws(CommandFailure) -> Int64 {
    if let date = PropertyListDate(rfc3339: text) { return Int64(date.unixTime.rounded(.down)) }
    guard let wall = localParts(text) else {
      throw failure(text, verb: verb, flag: flag, why: "is not a date and time")
    }
    let candidates = Set([0, 1].compactMap { instant(of: wall, daylightSaving: $0) })
    guard let first = candidates.first else {
      throw failure(text, verb: verb, flag: flag, why: "does not exist in this time zone")
    }
    guard candidates.count == 1 else {
      throw failure(text, verb: verb, flag: flag, why: "exists twice in this time zone")
    }
    return first
  }

  private static func failure(_ text: String, verb: String, flag: String, why: String) -> CommandFailure {
    CommandFailure(.notAnInstant(verb: verb, flag: flag, value: text, why: why), command: Policyctl.name)
  }

  /// The instant of a wall-clock time under one reading of daylight saving, nil where the clock never shows it so.
  private static func instant(of wall: tm, daylightSaving: Int32) -> Int64? {
    var parts = wall
    parts.tm_isdst = daylightSaving
    let seconds = mktime(&parts)
    let isSame =
      parts.tm_year == wall.tm_year && parts.tm_mon == wall.tm_mon && parts.tm_mday == wall.tm_mday
      && parts.tm_hour == wall.tm_hour && parts.tm_min == wall.tm_min && parts.tm_sec == wall.tm_sec
    return isSame && parts.tm_isdst == daylightSaving ? Int64(seconds) : nil
  }

  /// `YYYY-MM-DD HH:MM[:SS]`, with a space or a `T` in between.
  private static func localParts(_ text: String) -> tm? {
    let bytes = Array(text.utf8)
    guard bytes.count == 16 || bytes.count == 19 else { return nil }
    func number(_ start: Int, _ count: Int) -> Int32? {
      var value: Int32 = 0
      for byte in bytes[start..<(start + count)] {
        guard byte >= 48, byte <= 57 else { return nil }
        value = value * 10 + Int32(byte - 48)
      }
      return value
    }
    func has(_ character: Character, at index: Int) -> Bool { bytes[index] == character.asciiValue }
    guard has("-", at: 4), has("-", at: 7), has(" ", at: 10) || has("T", at: 10), has(":", at: 13),
      let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2),
      let minute = number(14, 2)
    else { return nil }
    var second: Int32 = 0
    if bytes.count == 19 {
      guard has(":", at: 16), let given = number(17, 2) else { return nil }
      second = given
    }
    guard year >= 1900, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60 else {
      return nil
    }
    var parts = tm()
    parts.tm_year = year - 1900
    parts.tm_mon = month - 1
    parts.tm_mday = day
    parts.tm_hour = hour
    parts.tm_min = minute
    parts.tm_sec = second
    return parts
  }
}
