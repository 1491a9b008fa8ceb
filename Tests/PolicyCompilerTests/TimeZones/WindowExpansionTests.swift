import ForcedDomain
import Testing

@testable import PolicyCompiler

@Suite struct WindowExpansionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let window: WeeklyWindow
    let from: (Int, Int, Int)
    let to: (Int, Int, Int)
    /// In UTC.
    let intervals: [String]
    var testDescription: String { id }
  }

  static func window(
    _ days: UInt8, _ from: Int, _ to: Int, _ zone: String, _ first: (Int, Int, Int)? = nil,
    _ last: (Int, Int, Int)? = nil
  ) -> WeeklyWindow {
    WeeklyWindow(
      days: days, fromMinute: from, toMinute: to, timeZone: zone,
      firstDay: first.map { Int32(CivilDay.number(year: $0.0, month: $0.1, day: $0.2)) },
      lastDay: last.map { Int32(CivilDay.number(year: $0.0, month: $0.1, day: $0.2)) })
  }

  static let weekdays: UInt8 = 0b001_1111
  static let sunday: UInt8 = 0b100_0000

  static let rows: [Row] = [
    Row(
      id: "weekdays between two days, both included",
      window: window(weekdays, 540, 690, "Europe/Berlin", (2026, 12, 3), (2026, 12, 7)), from: (2026, 11, 1),
      to: (2027, 1, 1),
      intervals: [
        "2026-12-03T08:00 2026-12-03T10:30", "2026-12-04T08:00 2026-12-04T10:30", "2026-12-07T08:00 2026-12-07T10:30",
      ]),
    Row(
      id: "across midnight belongs to its start day",
      window: window(0b001_0000, 1320, 120, "Europe/Berlin", (2026, 12, 1), (2026, 12, 4)), from: (2026, 11, 1),
      to: (2027, 1, 1), intervals: ["2026-12-04T21:00 2026-12-05T01:00"]),
    Row(
      id: "equal times are a whole day", window: window(0b000_0001, 480, 480, "Asia/Kolkata"), from: (2026, 12, 6),
      to: (2026, 12, 13), intervals: ["2026-12-07T02:30 2026-12-08T02:30"]),
    Row(
      id: "midnight at the end of the day", window: window(0b000_0001, 0, 1440, "Asia/Kolkata"), from: (2026, 12, 6),
      to: (2026, 12, 13), intervals: ["2026-12-06T18:30 2026-12-07T18:30"]),
    Row(
      id: "start in the skipped hour", window: window(sunday, 150, 300, "Europe/Berlin"), from: (2026, 3, 28),
      to: (2026, 3, 31), intervals: ["2026-03-29T01:00 2026-03-29T03:00"]),
    Row(
      id: "end in the skipped hour", window: window(sunday, 60, 150, "Europe/Berlin"), from: (2026, 3, 28),
      to: (2026, 3, 31), intervals: ["2026-03-29T00:00 2026-03-29T01:00"]),
    Row(
      id: "wholly in the skipped hour", window: window(sunday, 130, 170, "Europe/Berlin"), from: (2026, 3, 28),
      to: (2026, 3, 31), intervals: []),
    Row(
      id: "the repeated hour, both", window: window(sunday, 120, 180, "Europe/Berlin"), from: (2026, 10, 24),
      to: (2026, 10, 27), intervals: ["2026-10-25T00:00 2026-10-25T02:00"]),
    Row(
      id: "part of the repeated hour, with what lies between", window: window(sunday, 135, 165, "Europe/Berlin"),
      from: (2026, 10, 24), to: (2026, 10, 27), intervals: ["2026-10-25T00:15 2026-10-25T01:45"]),
    Row(
      id: "New York's repeated hour", window: window(sunday, 90, 240, "America/New_York"), from: (2026, 10, 31),
      to: (2026, 11, 3), intervals: ["2026-11-01T05:30 2026-11-01T09:00"]),
    Row(
      id: "Lord Howe skips half an hour", window: window(sunday, 125, 180, "Australia/Lord_Howe"), from: (2026, 10, 2),
      to: (2026, 10, 6), intervals: ["2026-10-03T15:30 2026-10-03T16:00"]),
    Row(
      id: "Apia skips a Friday", window: window(weekdays, 540, 660, "Pacific/Apia"), from: (2011, 12, 29),
      to: (2012, 1, 3),
      intervals: [
        "2011-12-29T19:00 2011-12-29T21:00", "2012-01-01T19:00 2012-01-01T21:00", "2012-01-02T19:00 2012-01-02T21:00",
      ]),
    Row(
      id: "every day all day joins to one", window: window(0x7F, 0, 1440, "Europe/Berlin"), from: (2026, 1, 1),
      to: (2027, 1, 1), intervals: ["2026-01-01T00:00 2027-01-01T00:00"]),
    Row(
      id: "clipped to the horizon", window: window(0x7F, 1380, 60, "UTC"), from: (2026, 5, 1), to: (2026, 5, 2),
      intervals: ["2026-05-01T00:00 2026-05-01T01:00", "2026-05-01T23:00 2026-05-02T00:00"]),
    Row(
      id: "no day", window: window(0, 540, 690, "UTC"), from: (2026, 5, 1), to: (2026, 6, 1), intervals: []),
    Row(
      id: "its first day after its last", window: window(0x7F, 540, 690, "UTC", (2026, 5, 9), (2026, 5, 8)),
      from: (2026, 5, 1), to: (2026, 6, 1), intervals: []),
  ]

  static func seconds(_ date: (Int, Int, Int)) -> Int64 {
    Int64(CivilDay.number(year: date.0, month: date.1, day: date.2)) * 86400
  }

  static func text(_ instant: Int64) -> String {
    let date = CivilDay.date(ofDay: Int(floorDivide(instant, 86400)))
    let minute = floorModulo(instant, 86400) / 60
    func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(date.year)-\(pad(date.month))-\(pad(date.day))T\(pad(Int(minute / 60))):\(pad(Int(minute % 60)))"
  }

  @Test(arguments: rows) func expands(row: Row) throws {
    var zones = TimeZoneShelf()
    let horizon = Self.seconds(row.from)..<Self.seconds(row.to)
    let intervals = try WindowExpansion.intervals(of: row.window, over: horizon, zones: &zones)
    #expect(intervals.map { "\(Self.text($0.lowerBound)) \(Self.text($0.upperBound))" } == row.intervals)
  }

  @Test func severalWindowsUnite() throws {
    var zones = TimeZoneShelf()
    let windows = [Self.window(1, 600, 720, "UTC"), Self.window(1, 540, 660, "UTC"), Self.window(1, 720, 780, "UTC")]
    let horizon = Self.seconds((2026, 12, 6))..<Self.seconds((2026, 12, 12))
    let intervals = try WindowExpansion.intervals(of: windows, over: horizon, zones: &zones)
    #expect(
      intervals.map { "\(Self.text($0.lowerBound)) \(Self.text($0.upperBound))" } == [
        "2026-12-07T09:00 2026-12-07T13:00"
      ])
  }

  @Test func anUnknownZoneIsAnError() {
    var zones = TimeZoneShelf()
    #expect(throws: TimeZoneError(zone: "Europe/Atlantis", reason: .unknownZone)) {
      try WindowExpansion.intervals(of: Self.window(1, 0, 60, "Europe/Atlantis"), over: 0..<86400, zones: &zones)
    }
  }

  @Test(arguments: [
    ((2026, 11, 30), (2026, 1, 1), (2030, 1, 1)), ((2026, 1, 1), (2026, 1, 1), (2030, 1, 1)),
    ((2026, 12, 31), (2026, 1, 1), (2030, 1, 1)),
  ])
  func theHorizonIsWholeYears(now: (Int, Int, Int), start: (Int, Int, Int), end: (Int, Int, Int)) {
    let moment = Self.seconds(now) + 86399
    let horizon = WindowExpansion.horizon(at: moment)
    #expect(horizon == Self.seconds(start)..<Self.seconds(end))
    #expect(horizon.contains(moment) && horizon.upperBound - moment >= 3 * 365 * 86400)
  }

  @Test func symbolicWindowsAgreeWithTheirExpansion() throws {
    var zones = TimeZoneShelf()
    let symbolic = SymbolicWindows()
    for row in Self.rows {
      let horizon = Self.seconds(row.from)..<Self.seconds(row.to)
      let intervals = try WindowExpansion.intervals(of: row.window, over: horizon, zones: &zones)
      for instant in stride(from: horizon.lowerBound + 43200, to: horizon.upperBound - 43200, by: 41_399) {
        let state = try symbolic.state(of: row.window, at: instant)
        #expect(state.isOpen == intervals.contains { $0.contains(instant) }, "\(row.id) at \(instant)")
        #expect(state.nextEdge == nil || state.nextEdge! > instant)
      }
    }
    let exams = Self.window(Self.weekdays, 540, 690, "Europe/Berlin", (2031, 12, 1), (2031, 12, 5))
    let early = try symbolic.state(of: exams, at: Self.seconds((2026, 1, 1)))
    #expect(early == WindowState(isOpen: false, nextEdge: Self.seconds((2031, 12, 1)) + 8 * 3600))
    #expect(try symbolic.state(of: exams, at: Self.seconds((2032, 1, 1))) == WindowState(isOpen: false, nextEdge: nil))
    #expect(symbolic.evaluate(Self.window(1, 0, 60, "Europe/Atlantis"), 0) == WindowState(isOpen: true, nextEdge: nil))
  }
}
