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
  public static func unixMilliseconds() -> Int64 { unixNanoseconds() / 1_000_000 }

  public static func unixNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Seconds of a clock that never goes back; only differences mean something.
  public static func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
