import Glibc
import Testing

@testable import LinuxFiles

@Suite struct WallClockTests {
  struct Case {
    let seconds: Int
    let nanoseconds: Int
    let milliseconds: Int64
  }

  /// The end of what nanoseconds in 64 bits can say is in April 2262; a clock may say anything.
  @Test(arguments: [
    Case(seconds: 1, nanoseconds: 2_999_999, milliseconds: 1002),
    Case(seconds: -1, nanoseconds: 500_000_000, milliseconds: -500),
    Case(seconds: 9_223_372_037, nanoseconds: 999_000_000, milliseconds: 9_223_372_037_999),
    Case(seconds: Int.max, nanoseconds: 999_999_999, milliseconds: 4_503_599_627_370_496),
    Case(seconds: Int.min, nanoseconds: 0, milliseconds: -4_503_599_627_370_000),
  ])
  func aClockFarAheadStopsNobody(_ test: Case) {
    let time = timespec(tv_sec: test.seconds, tv_nsec: test.nanoseconds)
    #expect(WallClock.milliseconds(of: time) == test.milliseconds)
  }
}
