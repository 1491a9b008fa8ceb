/// A moment, as property lists hold it: seconds since 2001-01-01T00:00:00Z, fractions included.
///
/// The conversion from and to text stands in `PropertyListDate+RFC3339.swift`.
public struct PropertyListDate: Sendable, Hashable, Comparable {
  /// Seconds since 2001-01-01T00:00:00Z, negative before it.
  public var secondsSinceReferenceDate: Double

  /// 2001-01-01T00:00:00Z in Unix time.
  public static let referenceDateInUnixTime: Double = 978_307_200

  /// The moment that many seconds after 2001-01-01T00:00:00Z.
  public init(secondsSinceReferenceDate: Double) {
    self.secondsSinceReferenceDate = secondsSinceReferenceDate
  }

  /// The moment that many seconds after 1970-01-01T00:00:00Z.
  public init(unixTime: Double) {
    secondsSinceReferenceDate = unixTime - Self.referenceDateInUnixTime
  }

  /// The moment that many milliseconds after 1970-01-01T00:00:00Z, exactly that one: by way of a `Double` of seconds since 1970,
  /// `.173` would come out as `.1730001`.
  public init(unixMilliseconds: Int64) {
    secondsSinceReferenceDate = Double(unixMilliseconds - Int64(Self.referenceDateInUnixTime) * 1000) / 1000
  }

  /// Seconds since 1970-01-01T00:00:00Z. What is a fraction of a second loses its last digit here.
  public var unixTime: Double { secondsSinceReferenceDate + Self.referenceDateInUnixTime }

  /// Whether files can hold this date: it is finite and in the years 0000 … 9999.
  public var isRepresentable: Bool { CalendarDate.isRepresentable(self) }

  public static func == (a: Self, b: Self) -> Bool {
    a.secondsSinceReferenceDate.bitPattern == b.secondsSinceReferenceDate.bitPattern
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(secondsSinceReferenceDate.bitPattern) }

  public static func < (a: Self, b: Self) -> Bool { a.secondsSinceReferenceDate < b.secondsSinceReferenceDate }
}
