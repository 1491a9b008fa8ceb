/// Days of the Gregorian calendar as numbers, 0 = 1970-01-01, without any library's calendar or locale.
///
/// The arithmetic is Howard Hinnant's ("chrono-Compatible Low-Level Date Algorithms"): eras of 400 years, years that
/// begin in March.
public enum CivilDay {
  /// The day's number.
  public static func number(year: Int, month: Int, day: Int) -> Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = floorDivide(shiftedYear, 400)
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The day's year, month (1–12) and day (1–31).
  public static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = number + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  /// 0 = Monday … 6 = Sunday.
  public static func weekday(ofDay number: Int) -> Int { floorModulo(number + 3, 7) }

  static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  static func daysIn(month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

/// The quotient rounded towards minus infinity; `divisor` is positive.
func floorDivide<Number: FixedWidthInteger>(_ number: Number, _ divisor: Number) -> Number {
  let quotient = number / divisor
  return number % divisor < 0 ? quotient - 1 : quotient
}

/// The remainder in `0..<divisor`; `divisor` is positive.
func floorModulo<Number: FixedWidthInteger>(_ number: Number, _ divisor: Number) -> Number {
  let remainder = number % divisor
  return remainder < 0 ? remainder + divisor : remainder
}
