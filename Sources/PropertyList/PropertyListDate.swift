/// A moment, as property lists hold it: seconds since 2001-01-01T00:00:00Z, fractions included.
///
/// The conversion from and to text stands in `PropertyListDate+RFC3339.swift`.
public struct PropertyListDate: Sendable, Hashable, Comparable {
  public var secondsSinceReferenceDate: Double

  /// 2001-01-01T00:00:00Z in Unix time.
  public static let referenceDateInUnixTime: Double = 978_307_200

  public init(secondsSinceReferenceDate: Double) {
    self.secondsSinceReferenceDate = secondsSinceReferenceDate
  }

  public init(unixTime: Double) {
    secondsSinceReferenceDate = unixTime - Self.referenceDateInUnixTime
  }

  public var unixTime: Double { secondsSinceReferenceDate + Self.referenceDateInUnixTime }

  public static func == (a: Self, b: Self) -> Bool {
    a.secondsSinceReferenceDate.bitPattern == b.secondsSinceReferenceDate.bitPattern
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(secondsSinceReferenceDate.bitPattern) }

  public static func < (a: Self, b: Self) -> Bool { a.secondsSinceReferenceDate < b.secondsSinceReferenceDate }
}
