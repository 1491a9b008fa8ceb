/// The rule that a zone's file states for the times past its table, in POSIX's notation: `CET-1CEST,M3.5.0,M10.5.0/3`.
///
/// The grammar is that of RFC 8536 §3.3: names in letters or `<…>`, offsets west of Greenwich, days as `Mm.w.d`, `Jn` or
/// `n`, times of change from −167 to 167 hours.
struct PosixTimeZone: Sendable {
  /// A day of a year on which the clocks change.
  enum Day: Sendable, Hashable {
    /// `Mm.w.d`: the w-th weekday d (0 = Sunday) of month m; w = 5 is the last.
    case weekday(month: Int, week: Int, day: Int)
    /// `Jn`: 1–365, 29 February never counted.
    case julian(Int)
    /// `n`: 0–365, 29 February counted.
    case ordinal(Int)

    /// The day's number (`CivilDay`) in a year.
    func number(in year: Int) -> Int {
      let newYear = CivilDay.number(year: year, month: 1, day: 1)
      switch self {
      case .julian(let day): return newYear + day - 1 + (CivilDay.isLeap(year) && day >= 60 ? 1 : 0)
      case .ordinal(let day): return newYear + day
      case .weekday(let month, let week, let day):
        let first = CivilDay.number(year: year, month: month, day: 1)
        // CivilDay counts from Monday, POSIX from Sunday.
        let firstWeekday = (CivilDay.weekday(ofDay: first) + 1) % 7
        var dayOfMonth = floorModulo(day - firstWeekday, 7) + (week - 1) * 7
        if dayOfMonth >= CivilDay.daysIn(month: month, of: year) { dayOfMonth -= 7 }
        return first + dayOfMonth
      }
    }
  }

  struct Change: Sendable, Hashable {
    let day: Day
    /// Seconds after the day's local midnight.
    let time: Int
  }

  let standard: LocalTimeType
  /// nil: the zone keeps standard time all year.
  let daylight: (type: LocalTimeType, start: Change, end: Change)?

  /// The moments of change in the years around `range`, ascending, each with the type that begins there.
  ///
  /// Where an end and a start fall on one moment (a zone that keeps daylight time all year), the start comes last.
  func changes(around range: Range<Int64>) -> [(instant: Int64, type: LocalTimeType)] {
    guard let daylight else { return [] }
    let first = Self.year(of: range.lowerBound) - 1
    let last = Self.year(of: range.upperBound) + 1
    var changes: [(instant: Int64, type: LocalTimeType)] = []
    for year in first...last {
      let start = daylight.start.day.number(in: year) * 86400 + daylight.start.time - Int(standard.offset)
      let end = daylight.end.day.number(in: year) * 86400 + daylight.end.time - Int(daylight.type.offset)
      changes.append((Int64(start), daylight.type))
      changes.append((Int64(end), standard))
    }
    return changes.sorted {
      ($0.instant, $0.type.isDaylight ? 1 : 0) < ($1.instant, $1.type.isDaylight ? 1 : 0)
    }
  }

  private static func year(of instant: Int64) -> Int {
    CivilDay.date(ofDay: Int(floorDivide(instant, 86400))).year
  }
}

extension PosixTimeZone {
  /// Reads the notation; nil where it is malformed in any way, trailing text included.
  init?(_ text: some Collection<UInt8>) {
    var scanner = Scanner(rest: Array(text)[...])
    guard let name = scanner.name(), let west = scanner.time(maximumHours: 24) else { return nil }
    standard = LocalTimeType(offset: Int32(-west), isDaylight: false, abbreviation: name)
    if scanner.rest.isEmpty {
      daylight = nil
      return
    }
    guard let daylightName = scanner.name() else { return nil }
    var daylightOffset = -west + 3600
    if scanner.rest.first != UInt8(ascii: ",") {
      guard let daylightWest = scanner.time(maximumHours: 24) else { return nil }
      daylightOffset = -daylightWest
    }
    guard scanner.take(","), let start = scanner.change(), scanner.take(","), let end = scanner.change(),
      scanner.rest.isEmpty
    else { return nil }
    daylight = (
      LocalTimeType(offset: Int32(daylightOffset), isDaylight: true, abbreviation: daylightName), start, end
    )
  }

  private struct Scanner {
    var rest: ArraySlice<UInt8>

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    mutating func name() -> String? {
      let quoted = take("<")
      let name = rest.prefix { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): quoted
        default: false
        }
      }
      rest.removeFirst(name.count)
      if quoted && !take(">") { return nil }
      return name.count >= 3 ? String(decoding: name, as: UTF8.self) : nil
    }

    mutating func number(upTo maximum: Int) -> Int? {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      guard (1...3).contains(digits.count) else { return nil }
      rest.removeFirst(digits.count)
      let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      return number <= maximum ? number : nil
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    mutating func time(maximumHours: Int) -> Int? {
      let negative = take("-")
      if !negative { _ = take("+") }
      guard let hours = number(upTo: maximumHours) else { return nil }
      var seconds = hours * 3600
      if take(":") {
        guard let minutes = number(upTo: 59) else { return nil }
        seconds += minutes * 60
        if take(":") {
          guard let rest = number(upTo: 59) else { return nil }
          seconds += rest
        }
      }
      return negative ? -seconds : seconds
    }

    mutating func change() -> Change? {
      let day: Day
      if take("M") {
        guard let month = number(upTo: 12), month >= 1, take("."), let week = number(upTo: 5), week >= 1, take("."),
          let weekday = number(upTo: 6)
        else { return nil }
        day = .weekday(month: month, week: week, day: weekday)
      } else if take("J") {
        guard let number = number(upTo: 365), number >= 1 else { return nil }
        day = .julian(number)
      } else {
        guard let number = number(upTo: 365) else { return nil }
        day = .ordinal(number)
      }
      guard take("/") else { return Change(day: day, time: 7200) }
      guard let time = time(maximumHours: 167) else { return nil }
      return Change(day: day, time: time)
    }
  }
}
