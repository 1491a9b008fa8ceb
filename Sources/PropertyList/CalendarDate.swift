/// A moment on the proleptic Gregorian calendar in UTC, with its seconds as decimal text so that no fraction is lost.
struct CalendarDate: Equatable {
  var year: Int
  var month: Int
  var day: Int
  var hour: Int
  var minute: Int
  var second: Int
  /// The digits after the point, without trailing zeros; empty for whole seconds.
  var fraction: String

  /// 0000-01-01T00:00:00Z and 10000-01-01T00:00:00Z, in seconds since 2001-01-01T00:00:00Z.
  ///
  /// XML property lists and RFC 3339 write four digits of year. Year 0 is needed: `Foundation.Date.distantPast` is
  /// 0000-12-30 on this calendar.
  private static let range: Range<Double> = -63_145_526_400..<252_423_993_600

  /// Whether files can hold this date: it is finite and in the years 0000 … 9999.
  static func isRepresentable(_ date: PropertyListDate) -> Bool { range.contains(date.secondsSinceReferenceDate) }

  /// The days since 2001-01-01 of a civil date. (Howard Hinnant, "chrono-compatible low-level date algorithms".)
  static func days(year: Int, month: Int, day: Int) -> Int {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 730_791
  }

  /// The civil date of a day that is counted from 2001-01-01.
  static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let z = days + 730_791
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  static func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, fraction: String) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
    self.fraction = fraction
  }

  /// The calendar's view of a representable date; nil for another one.
  ///
  /// The fraction has as many digits as it takes to read the same Double back, however many that are near the
  /// reference date.
  init?(_ date: PropertyListDate) {
    guard Self.isRepresentable(date) else { return nil }
    let seconds = date.secondsSinceReferenceDate
    let (magnitude, digits) = Self.plainDecimal(seconds.magnitude)
    var whole = seconds < 0 ? -magnitude : magnitude
    fraction = digits
    if seconds < 0, !digits.isEmpty {
      // −1.25 s is 2 s before the reference, and 0.75 s on from there.
      whole -= 1
      fraction = Self.complement(digits)
    }
    let dayNumber = whole >= 0 ? whole / 86_400 : (whole - 86_399) / 86_400
    let secondOfDay = whole - dayNumber * 86_400
    (year, month, day) = Self.civil(days: dayNumber)
    (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
  }

  /// The date; nil when a part is out of range, or the sum is outside the years 0000 … 9999.
  ///
  /// - Parameter offsetInMinutes: How far the calendar's clock is ahead of UTC.
  func date(offsetInMinutes: Int = 0) -> PropertyListDate? {
    guard 1...12 ~= month, day >= 1, day <= Self.daysIn(month: month, year: year), 0...23 ~= hour, 0...59 ~= minute,
      0...59 ~= second
    else { return nil }
    let dayNumber = Self.days(year: year, month: month, day: day)
    let whole = dayNumber * 86_400 + hour * 3600 + (minute - offsetInMinutes) * 60 + second
    let digits = String(fraction.reversed().drop { $0 == "0" }.reversed())
    let seconds: Double?
    if digits.isEmpty {
      seconds = Double(whole)
    } else if whole >= 0 {
      seconds = Double("\(whole).\(digits)")
    } else {
      seconds = Double("-\(-whole - 1).\(Self.complement(digits))")
    }
    guard let seconds else { return nil }
    let date = PropertyListDate(secondsSinceReferenceDate: seconds)
    return Self.isRepresentable(date) ? date : nil
  }

  /// 1 − 0.digits, as digits after the point; `digits` must not be zero and not end in one.
  private static func complement(_ digits: String) -> String {
    let last = digits.utf8.count - 1
    let bytes = digits.utf8.enumerated().map { index, byte in
      let digit = byte - 0x30
      return 0x30 + (index == last ? 10 - digit : 9 - digit)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A number of seconds as whole part and digits after the point, without an exponent and trailing zeros.
  private static func plainDecimal(_ number: Double) -> (whole: Int, fraction: String) {
    let text = number.description
    let parts = text.split(separator: "e")
    let point = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    var digits = String(point[0])
    var fraction = point.count > 1 ? String(point[1]) : ""
    if parts.count > 1, let exponent = Int(parts[1]), exponent < 0 {
      // Only small numbers need an exponent here: representable dates are below 10^16.
      fraction = String(repeating: "0", count: -exponent - digits.utf8.count) + digits + fraction
      digits = "0"
    }
    let trimmed = String(fraction.reversed().drop { $0 == "0" }.reversed())
    return (Int(digits) ?? 0, trimmed)
  }
}
