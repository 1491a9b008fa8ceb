extension PropertyListDate {
  /// Reads a date of RFC 3339: `2026-12-24T23:59:59.5+01:00`, any number of fraction digits, `Z` or an offset.
  ///
  /// Nil for anything else: a missing offset, a day that the month does not have, a leap second (property-list dates
  /// have none), a moment outside the years 0000 … 9999.
  public init?(rfc3339 text: some StringProtocol) {
    guard
      let date = Self.parse(
        Array(text.utf8), separator: [UInt8(ascii: "T"), UInt8(ascii: "t")], zone: Self.rfc3339Zone)
    else { return nil }
    self = date
  }

  /// RFC 3339 in UTC with `Z`, and a fraction only where there is one.
  ///
  /// It reads back as the same date. One outside the years 0000 … 9999, which no file can hold, is given as its
  /// distance from the reference date, for messages.
  public var rfc3339: String {
    guard let parts = CalendarDate(self) else {
      return "2001-01-01T00:00:00Z + \(RealText.shortest(secondsSinceReferenceDate)) s"
    }
    return parts.dateText + "T" + parts.timeText + "Z"
  }

  /// The date of an XML property list: `2004-10-26T10:33:33Z`, with a fraction or without.
  init?(xml text: some StringProtocol) {
    let zone: (ArraySlice<UInt8>) -> Int? = { $0.elementsEqual("Z".utf8) ? 0 : nil }
    guard let date = Self.parse(Array(text.utf8), separator: [UInt8(ascii: "T")], zone: zone) else { return nil }
    self = date
  }

  /// GNUstep's form in old-style text, which macOS's descriptions have as well: `2001-02-03 04:05:06 +0000`, with a
  /// fraction or without.
  public init?(gnustep text: some StringProtocol) {
    let zone: (ArraySlice<UInt8>) -> Int? = { bytes in
      guard bytes.count == 6, bytes.first == UInt8(ascii: " ") else { return nil }
      var withColon = Array(bytes.dropFirst())
      withColon.insert(UInt8(ascii: ":"), at: 3)
      return Self.offset(withColon[...])
    }
    guard let date = Self.parse(Array(text.utf8), separator: [UInt8(ascii: " ")], zone: zone) else { return nil }
    self = date
  }

  /// GNUstep's form of a representable date.
  var gnustep: String {
    guard let parts = CalendarDate(self) else { return rfc3339 }
    return parts.dateText + " " + parts.timeText + " +0000"
  }

  private static func rfc3339Zone(_ bytes: ArraySlice<UInt8>) -> Int? {
    if bytes.count == 1, let only = bytes.first, only | 0x20 == UInt8(ascii: "z") { return 0 }
    return offset(bytes)
  }

  /// `+01:30` in minutes.
  private static func offset(_ bytes: ArraySlice<UInt8>) -> Int? {
    let bytes = Array(bytes)
    guard bytes.count == 6, bytes[3] == UInt8(ascii: ":"), let hours = digits(bytes[1..<3]),
      let minutes = digits(bytes[4..<6]), hours <= 23, minutes <= 59
    else { return nil }
    return switch bytes[0] {
    case UInt8(ascii: "+"): hours * 60 + minutes
    case UInt8(ascii: "-"): -(hours * 60 + minutes)
    default: nil
    }
  }

  private static func digits(_ bytes: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for byte in bytes {
      guard 0x30...0x39 ~= byte else { return nil }
      value = value * 10 + Int(byte - 0x30)
    }
    return value
  }

  /// `YYYY-MM-DD`, a separator, `HH:MM:SS` with or without `.fraction`, and a zone.
  private static func parse(
    _ bytes: [UInt8], separator: [UInt8], zone: (ArraySlice<UInt8>) -> Int?
  ) -> PropertyListDate? {
    guard bytes.count >= 19, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      separator.contains(bytes[10]), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      let year = digits(bytes[0..<4]), let month = digits(bytes[5..<7]), let day = digits(bytes[8..<10]),
      let hour = digits(bytes[11..<13]), let minute = digits(bytes[14..<16]), let second = digits(bytes[17..<19])
    else { return nil }
    var rest = bytes[19...]
    var fraction = ""
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix { 0x30...0x39 ~= $0 }
      // The smallest Double has 341 digits; a text with many more is no date, and costs time.
      guard !digits.isEmpty, digits.count <= 1024 else { return nil }
      fraction = String(decoding: digits, as: UTF8.self)
      rest = bytes[digits.endIndex...]
    }
    guard let offset = zone(rest) else { return nil }
    return CalendarDate(
      year: year, month: month, day: day, hour: hour, minute: minute, second: second, fraction: fraction
    ).date(offsetInMinutes: offset)
  }
}

extension CalendarDate {
  fileprivate var dateText: String {
    let year = String(self.year)
    return String(repeating: "0", count: 4 - year.utf8.count) + year + "-" + Self.two(month) + "-" + Self.two(day)
  }

  fileprivate var timeText: String {
    Self.two(hour) + ":" + Self.two(minute) + ":" + Self.two(second) + (fraction.isEmpty ? "" : "." + fraction)
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
