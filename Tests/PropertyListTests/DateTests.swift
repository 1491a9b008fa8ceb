import PropertyList
import Testing

@Suite("Dates")
struct DateTests {
  static let readsRows: [(String, Double)] = [
    ("2001-01-01T00:00:00Z", 0), ("2001-01-01t00:00:00z", 0), ("1970-01-01T00:00:00Z", -978_307_200),
    ("2001-01-01T00:00:00.5Z", 0.5),
    ("2000-12-31T23:59:59.75Z", -0.25), ("2026-12-24T23:59:59+01:00", 819_845_999),
    ("2026-12-24T22:59:59Z", 819_845_999),
    ("2001-01-01T00:00:00-00:30", 1800), ("2000-02-29T12:00:00Z", -26_481_600),
    ("0000-01-01T00:00:00Z", -63_145_526_400),
    ("9999-12-31T23:59:59Z", 252_423_993_599), ("2001-01-01T00:00:00.1000Z", 0.1), ("2001-01-01T00:00:00.0Z", 0),
    ("0000-12-30T00:00:00Z", -63_114_076_800),
  ]

  @Test(
    "RFC 3339",
    arguments: readsRows)
  func reads(_ text: String, _ seconds: Double) {
    #expect(PropertyListDate(rfc3339: text)?.secondsSinceReferenceDate == seconds)
  }

  static let refusesRows: [String] = [
    "", "2001-01-01", "2001-01-01T00:00:00", "2001-01-01 00:00:00Z", "2001-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
    "2001-13-01T00:00:00Z", "2001-00-01T00:00:00Z",
    "2001-01-00T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "2016-12-31T23:59:60Z",
    "2001-01-01T00:00:00.Z", "2001-01-01T00:00:00+0100",
    "2001-01-01T00:00:00+24:00", "2001-01-01T00:00:00ZZ", "20001-01-01T00:00:00Z", "+001-01-01T00:00:00Z",
    "2001-1-01T00:00:00Z", "9999-12-31T23:59:59-00:01",
    "0000-01-01T00:00:00+00:01", "２００１-01-01T00:00:00Z",
  ]

  @Test(
    "what is not RFC 3339",
    arguments: refusesRows)
  func refuses(_ text: String) {
    #expect(PropertyListDate(rfc3339: text) == nil)
  }

  static let writesRows: [(Double, String)] = [
    (0, "2001-01-01T00:00:00Z"), (-0.25, "2000-12-31T23:59:59.75Z"), (0.1, "2001-01-01T00:00:00.1Z"),
    (-1e-9, "2000-12-31T23:59:59.999999999Z"),
    (1.5e-7, "2001-01-01T00:00:00.00000015Z"), (-63_114_076_800, "0000-12-30T00:00:00Z"),
    (252_423_993_599, "9999-12-31T23:59:59Z"),
    (.infinity, "2001-01-01T00:00:00Z + inf s"), (700_000_000.123456, "2023-03-08T20:26:40.123456Z"),
  ]

  @Test(
    "writes UTC, a fraction only where there is one",
    arguments: writesRows)
  func writes(_ seconds: Double, _ text: String) {
    #expect(PropertyListDate(secondsSinceReferenceDate: seconds).rfc3339 == text)
  }

  /// Each Double comes back, whatever its fraction: 5,000 of them, spread over all magnitudes.
  @Test("no fraction is lost")
  func lossless() {
    var random = SplitMix64(seed: 1)
    var lost: [Double] = []
    for _ in 0..<5_000 {
      let magnitude = Double(sign: .plus, exponent: Int.random(in: -60...37, using: &random), significand: 1)
      let seconds = Double.random(in: -1...1, using: &random) * magnitude
      let date = PropertyListDate(secondsSinceReferenceDate: seconds)
      guard date.rfc3339.hasSuffix("Z") else { continue }
      if PropertyListDate(rfc3339: date.rfc3339) != date { lost.append(seconds) }
    }
    #expect(lost.isEmpty)
  }

  /// The calendar against a count of days, at the start and the first of March of each year that files hold.
  @Test("the calendar is the Gregorian one")
  func calendar() {
    func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
    var seconds = -63_145_526_400.0
    var wrong: [Int] = []
    for year in 0..<10_000 {
      let digits = String(year)
      let text = String(repeating: "0", count: 4 - digits.count) + digits
      if PropertyListDate(rfc3339: "\(text)-01-01T00:00:00Z")?.secondsSinceReferenceDate != seconds {
        wrong.append(year)
      }
      let march = PropertyListDate(secondsSinceReferenceDate: seconds + (isLeap(year) ? 60 : 59) * 86_400)
      if march.rfc3339 != "\(text)-03-01T00:00:00Z" { wrong.append(year) }
      seconds += (isLeap(year) ? 366 : 365) * 86_400
    }
    #expect(wrong.isEmpty)
  }
}
