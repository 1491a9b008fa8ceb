public import LinuxFiles

/// The default serial number of a bundle.
public enum SerialNumber {
  /// `SOURCE_DATE_EPOCH` is set to something that is not a whole number of seconds.
  public struct MalformedSourceDate: Error, Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public var description: String {
      "SOURCE_DATE_EPOCH is '\(text)'; it must be a whole number of seconds since 1970 (or unset)"
    }
  }

  /// Milliseconds of the time of making: now, or what `SOURCE_DATE_EPOCH` (reproducible-builds.org) says, so that a build
  /// can be repeated to the byte.
  public static func ofNow() throws(MalformedSourceDate) -> UInt64 {
    try of(sourceDate: EnvironmentVariables.nonEmpty("SOURCE_DATE_EPOCH"), now: WallClock.unixMilliseconds())
  }

  /// The number lies so far ahead that bundles numbered by the clock would be refused as older for years.
  public struct TooHigh: Error, Hashable, Sendable, CustomStringConvertible {
    public let serial: UInt64
    public let limit: UInt64
    public var description: String {
      "serial number \(serial) is more than ten years of milliseconds ahead (the highest today is \(limit)): "
        + "later bundles would be refused as older"
    }
  }

  /// How far ahead of the clock a number may be: ten years of milliseconds.
  static let reach: UInt64 = 3653 * 86_400_000
  /// 2026-01-01, in milliseconds: a clock that shows less was reset, and does not count.
  static let earliestClock: UInt64 = 1_767_225_600_000

  /// The highest number that is accepted.
  /// - Parameters:
  ///   - now: Unix seconds.
  ///   - highestSeen: what was accepted before, whatever the clock says today.
  static func limit(now: Int64, highestSeen: UInt64 = 0) -> UInt64 {
    let clock = UInt64(clamping: now).multipliedReportingOverflow(by: 1000)
    let (limit, isBeyond) = max(clock.overflow ? .max : clock.partialValue, earliestClock, highestSeen)
      .addingReportingOverflow(reach)
    return isBeyond ? .max : limit
  }

  /// Refuses a number for a new bundle that would lock out the next ones.
  public static func validate(_ serial: UInt64, now: Int64 = WallClock.unixSeconds()) throws(TooHigh) {
    // Where the clock itself is so far on, the end of the range stays refused.
    let limit = min(limit(now: now), .max - reach)
    if serial > limit { throw TooHigh(serial: serial, limit: limit) }
  }

  static func of(sourceDate: String?, now: Int64) throws(MalformedSourceDate) -> UInt64 {
    guard let sourceDate else { return UInt64(max(now, 0)) }
    guard sourceDate.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let seconds = UInt64(sourceDate), seconds <= UInt64(Int64.max) / 1000
    else { throw MalformedSourceDate(text: sourceDate) }
    return seconds * 1000
  }
}
