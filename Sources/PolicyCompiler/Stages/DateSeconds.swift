import PropertyList

extension PropertyListDate {
  /// The end of something that lasts until this date, in whole Unix seconds: never too early.
  var firstUnixSecondNotBefore: Int64 { Self.clamped(unixTime.rounded(.up)) }

  /// The second that a clock shows at this date.
  var lastUnixSecondNotAfter: Int64 { Self.clamped(unixTime.rounded(.down)) }

  private static func clamped(_ seconds: Double) -> Int64 { Int64(min(max(seconds, -0x1p50), 0x1p50)) }
}
