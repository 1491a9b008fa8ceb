import CommandLineKit
import Glibc
import PropertyList

/// A time on the command line: the one reading of `--at`, `--from`, `--to`, `--since`, `--until` and `--before`.
///
/// The rule. What is written names a moment, or a day.
///
/// - A date and time is a moment: `2026-12-01 09:30`, `2026-12-01T09:30:00.25`, with `T` or a space in between. An offset
///   (`Z`, `UTC`, `+01:00`, `+0100`, `+01`, with a space before it or not) says where; without one it is a time of this machine's
///   zone and must exist there exactly once. The zone's own abbreviation tells which (`2026-10-25 02:30 CEST`).
/// - A date alone is a day of this machine's zone: as a beginning its first moment, as an end the first moment after it, so
///   that a span `--from 2026-11-30 --to 2026-11-30` is the day. A day whose midnight is skipped begins with the first
///   moment that exists.
///
/// A fraction of a second is kept. Who needs whole seconds rounds outwards, so that nothing that was asked for is left out.
struct InstantArgument: Hashable {
  /// The word as it was typed.
  let text: String
  /// The first moment of what it names, in Unix seconds.
  let begin: Double
  /// Where what it names ends, not included: of a day its end, of a moment the moment.
  let end: Double

  /// The value of a flag of this call; nil where the flag is not given.
  init?(_ flag: String, of call: Invocation) throws(CommandFailure) {
    guard let text = call.arguments.value(flag) else { return nil }
    do throws(Fault) { self = try Self(text) } catch {
      throw call.usage(
        .notAnInstant(verb: call.verb.name, flag: flag, value: text, why: error.why, examples: error.examples))
    }
  }

  struct Fault: Error {
    var why: String
    /// What can be typed in its place.
    var examples = ["2026-12-01", "'2026-12-01 09:30'", "2026-12-01T09:30:00+01:00"]
  }

  private init(_ text: String) throws(Fault) {
    let bytes = Array(text.utf8)
    let date = String(decoding: bytes.prefix(10), as: UTF8.self)
    guard bytes.count >= 10, let midnight = Self.wall(date + "T00:00:00") else { throw Fault(why: "is not a time") }
    self.text = text
    if bytes.count == 10 {
      guard let first = Self.first(from: midnight, minutes: 0..<1440),
        let next = Self.first(from: midnight + 86_400, minutes: 0..<2880)
      else { throw Fault(why: "does not exist in this time zone") }
      begin = first
      end = next
    } else {
      begin = try Self.moment(date, bytes[10...])
      end = begin
    }
  }

  // MARK: A date and time

  /// - Parameter rest: what stands behind the date: a separator, a clock time, and a zone or none.
  private static func moment(_ date: String, _ rest: ArraySlice<UInt8>) throws(Fault) -> Double {
    guard let separator = rest.first, [0x20, 0x54, 0x74].contains(separator) else { throw Fault(why: "is not a time") }
    let digits = rest.dropFirst().prefix { 0x30...0x39 ~= $0 || $0 == 0x3A || $0 == 0x2E }
    var clock = String(decoding: digits, as: UTF8.self)
    if digits.count == 5 { clock += ":00" }
    guard let wall = wall(date + "T" + clock) else { throw Fault(why: "is not a time") }
    var zone = rest[digits.endIndex...]
    if zone.first == 0x20 { zone = zone.dropFirst() }
    if zone.isEmpty, digits.endIndex < rest.endIndex { throw Fault(why: "is not a time") }
    if let offset = Self.offset(zone) {
      guard let moment = PropertyListDate(rfc3339: date + "T" + clock + offset) else {
        throw Fault(why: "is not a time")
      }
      return moment.unixTime
    }
    var readings = Self.readings(of: wall)
    if !zone.isEmpty {
      guard zone.allSatisfy({ 0x41...0x5A ~= $0 & 0xDF }) else { throw Fault(why: "is not a time") }
      let abbreviation = String(decoding: zone, as: UTF8.self)
      readings.removeAll { $0.abbreviation != abbreviation }
      guard !readings.isEmpty else { throw Fault(why: "is not a time of this machine's zone, and has no offset") }
    }
    guard let first = readings.first else { throw Fault(why: "does not exist in this time zone") }
    guard readings.count == 1 else {
      throw Fault(
        why: "exists twice in this time zone", examples: readings.map { date + "T" + clock + offsetText($0.offset) })
    }
    return first.instant
  }

  /// The offset in the spelling of RFC 3339; nil where there is none.
  private static func offset(_ zone: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: zone, as: UTF8.self)
    if ["Z", "z", "UTC"].contains(text) { return "Z" }
    guard zone.first == 0x2B || zone.first == 0x2D else { return nil }
    switch zone.count {
    case 3: return text + ":00"
    case 5: return text.prefix(3) + ":" + text.suffix(2)
    default: return text
    }
  }

  private static func offsetText(_ seconds: Int64) -> String {
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = abs(seconds) / 60
    return (seconds < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60)
  }

  // MARK: This machine's zone

  /// What the clock on the wall shows, in seconds as if it were one in UTC; nil for a date or time that no clock shows.
  private static func wall(_ text: String) -> Double? { PropertyListDate(rfc3339: text + "Z")?.unixTime }

  /// The moments at which this machine's clock shows a time, in order: none in a skipped hour, two in a repeated one.
  private static func readings(of wall: Double) -> [(instant: Double, offset: Int64, abbreviation: String)] {
    // The years 1 to 9998: the moment is in one that RFC 3339 can write, wherever the zone puts it.
    guard (-62_135_596_800..<253_370_764_800).contains(wall) else { return [] }
    let second = Int64(wall.rounded(.down))
    // No two changes of a zone are that close together, and no zone is that far from UTC.
    let offsets = Set([-129_600, 0, 129_600].map { local(second + $0).offset })
    return offsets.sorted(by: >).compactMap { offset in
      let reading = local(second - offset)
      return reading.offset == offset ? (wall - Double(offset), offset, reading.abbreviation) : nil
    }
  }

  /// The first moment at or after a time on the wall.
  private static func first(from wall: Double, minutes: Range<Int>) -> Double? {
    minutes.lazy.compactMap { readings(of: wall + Double($0 * 60)).first?.instant }.first
  }

  private static func local(_ instant: Int64) -> (offset: Int64, abbreviation: String) {
    var seconds = time_t(instant)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return (Int64(parts.tm_gmtoff), parts.tm_zone.map { String(cString: $0) } ?? "")
  }
}

extension InstantArgument {
  /// The whole second in which it begins.
  var beginSecond: Int64 { Int64(begin.rounded(.down)) }
  /// The first whole second that holds nothing of it.
  var endSecond: Int64 { Int64(end.rounded(.up)) }
}
