/// An integer of −2⁶³ … 2⁶⁴−1: the range that property-list files hold.
public struct PropertyListInteger: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible
{
  /// The low 64 bits in two's complement.
  public let bitPattern: UInt64
  /// Whether the value is below zero.
  public let isNegative: Bool

  /// A signed integer.
  public init(_ value: Int64) {
    bitPattern = UInt64(bitPattern: value)
    isNegative = value < 0
  }

  /// An unsigned integer.
  public init(_ value: UInt64) {
    bitPattern = value
    isNegative = false
  }

  /// An integer of the machine's width.
  public init(_ value: Int) { self.init(Int64(value)) }

  public init(integerLiteral value: Int64) { self.init(value) }

  /// The value as Int64, nil above 2⁶³−1.
  public var int64: Int64? {
    isNegative || bitPattern <= UInt64(Int64.max) ? Int64(bitPattern: bitPattern) : nil
  }

  /// The value as UInt64, nil below zero.
  public var uint64: UInt64? { isNegative ? nil : bitPattern }

  /// The nearest Int64: what the `integer` getter answers.
  public var clampedToInt64: Int64 { int64 ?? .max }

  /// The nearest Double.
  public var double: Double {
    isNegative ? Double(Int64(bitPattern: bitPattern)) : Double(bitPattern)
  }

  /// Decimal digits, in full.
  public var description: String {
    isNegative ? String(Int64(bitPattern: bitPattern)) : String(bitPattern)
  }

  /// Reads decimal text: an optional sign and digits, nothing else; nil outside −2⁶³ … 2⁶⁴−1.
  public init?(decimal text: some StringProtocol) {
    if let value = Int64(text) {
      self.init(value)
    } else if let value = UInt64(text) {
      self.init(value)
    } else {
      return nil
    }
  }

  public static func < (a: Self, b: Self) -> Bool {
    if a.isNegative != b.isNegative { return a.isNegative }
    return a.isNegative
      ? Int64(bitPattern: a.bitPattern) < Int64(bitPattern: b.bitPattern) : a.bitPattern < b.bitPattern
  }
}
