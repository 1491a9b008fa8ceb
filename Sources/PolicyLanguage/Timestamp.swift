import PropertyList

/// Dates and instants in text: the forms of YAML's `!!timestamp`, in the proleptic Gregorian calendar.
///
/// Day and month exist or the text is refused; nothing depends on the time zone of the machine.
struct Timestamp: Hashable, Sendable {
  /// Without an offset, as if it were in UTC.
  var date: PropertyListDate
  /// Days from 1970-01-01 to the written date, before the offset is applied.
  var day: Int32
  var hasTime: Bool
  /// An offset or `Z` was written.
  var hasOffset: Bool

  /// Reads `2026-03-01`, or a date, `T` or blanks, `10:00:00`, an optional fraction and an optional offset (`Z`, `+5`,
  /// `+05`, `+05:00`, `+0500`). Without an offset the time is UTC, as YAML says. Nil for anything else.
  init?(yaml text: UnsafeRawBufferPointer) {
    var reader = Reader(text: text)
    guard let year = reader.number(digits: 4...4), reader.skip("-"), let month = reader.number(digits: 1...2),
      reader.skip("-"), let dayOfMonth = reader.number(digits: 1...2),
      let day = Self.days(year: year, month: month, day: dayOfMonth)
    else { return nil }
    self.day = Int32(day)
    hasTime = false
    hasOffset = false
    date = Self.date(day * 86_400)
    if reader.isAtEnd { return }
    guard reader.skip("T") || reader.skip("t") || reader.skipBlanks() else { return nil }
    guard let hour = reader.number(digits: 1...2), reader.skip(":"), let minute = reader.number(digits: 2...2),
      reader.skip(":"), let second = reader.number(digits: 2...2), hour < 24, minute < 60, second < 60
    else { return nil }
    hasTime = true
    var seconds = day * 86_400 + hour * 3_600 + minute * 60 + second
    guard let fraction = reader.fraction() else { return nil }
    _ = reader.skipBlanks()
    if !reader.isAtEnd {
      guard let offset = reader.offset(), reader.isAtEnd else { return nil }
      hasOffset = true
      seconds -= offset
    }
    date = Self.date(seconds, fraction)
  }

  /// Counted from the property lists' own beginning, so that a fraction keeps all its digits.
  private static func date(_ unixSeconds: Int, _ fraction: Double = 0) -> PropertyListDate {
    PropertyListDate(
      secondsSinceReferenceDate: Double(unixSeconds - Int(PropertyListDate.referenceDateInUnixTime)) + fraction)
  }

  init?(_ text: String) {
    var text = text
    guard let value = text.withUTF8({ Timestamp(yaml: UnsafeRawBufferPointer($0)) }) else { return nil }
    self = value
  }

  /// Days from 1970-01-01, nil for a date that does not exist.
  static func days(year: Int, month: Int, day: Int) -> Int? {
    guard (1...12).contains(month), day >= 1 else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= lengths[month - 1] else { return nil }
    // Counted in years that begin in March, so that the leap day comes last.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private struct Reader {
    let text: UnsafeRawBufferPointer
    var index = 0

    init(text: UnsafeRawBufferPointer) { self.text = text }

    var isAtEnd: Bool { index == text.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard index < text.count, text[index] == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    mutating func skipBlanks() -> Bool {
      let start = index
      while index < text.count && (text[index] == 0x20 || text[index] == 0x09) { index += 1 }
      return index > start
    }

    mutating func number(digits: ClosedRange<Int>) -> Int? {
      let start = index
      var value = 0
      while index < text.count && index - start < digits.upperBound && text[index] &- 0x30 < 10 {
        value = value * 10 + Int(text[index] - 0x30)
        index += 1
      }
      return index - start >= digits.lowerBound ? value : nil
    }

    mutating func fraction() -> Double? {
      guard skip(".") else { return 0 }
      let start = index
      while index < text.count && text[index] &- 0x30 < 10 { index += 1 }
      guard index > start else { return 0 }
      return Double("0." + String(decoding: text[start..<index], as: UTF8.self))
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
      if skip("Z") || skip("z") { return 0 }
      let isWest = index < text.count && text[index] == 0x2D
      guard skip("+") || skip("-"), let hours = number(digits: 1...2), hours <= 23 else { return nil }
      var minutes = 0
      if !isAtEnd {
        _ = skip(":")
        guard let number = number(digits: 2...2), number < 60 else { return nil }
        minutes = number
      }
      let seconds = hours * 3_600 + minutes * 60
      return isWest ? -seconds : seconds
    }
  }
}
