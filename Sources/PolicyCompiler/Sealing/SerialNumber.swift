import LinuxFiles

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

  static func of(sourceDate: String?, now: Int64) throws(MalformedSourceDate) -> UInt64 {
    guard let sourceDate else { return UInt64(max(now, 0)) }
    guard sourceDate.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let seconds = UInt64(sourceDate), seconds <= UInt64(Int64.max) / 1000
    else { throw MalformedSourceDate(text: sourceDate) }
    return seconds * 1000
  }
}
