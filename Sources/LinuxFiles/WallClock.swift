import Glibc

/// The clocks.
public enum WallClock {
  /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
  public static func unixSeconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec)
  }

  /// Milliseconds since 1970-01-01T00:00:00Z.
  public static func unixMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return milliseconds(of: time)
  }

  /// The greatest time that is given: 2⁵² milliseconds, in the year 144683. A clock that says more is wrong, and must not stop who
  /// asks it, nor who adds an hour.
  static let greatestMilliseconds: Int64 = 1 << 52

  static func milliseconds(of time: timespec) -> Int64 {
    let bound = greatestMilliseconds / 1000
    if time.tv_sec >= bound { return greatestMilliseconds }
    return max(Int64(time.tv_sec), -bound) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Seconds of a clock that never goes back; only differences mean something.
  public static func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
