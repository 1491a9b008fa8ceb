/// Who made an edit: 128 random bits, new each time a store is opened, so that no two writers ever share one.
///
/// A name that was kept on the disk would be shared by the processes of a machine, and be used twice after a disk was
/// restored from a copy: then two different edits could carry one stamp. Ties between stamps are broken by it, in the
/// same way on all devices: the bytes are compared from the first to the last, as `memcmp`, SQLite's BLOB and
/// PostgreSQL's `uuid` do.
public struct DeviceID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let high: UInt64
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  public static func random() -> DeviceID {
    DeviceID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }

  /// The sixteen bytes, most significant first.
  public var bytes: [UInt8] {
    (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - 8 * ($0 % 8))) }
  }

  /// - Returns: nil for another number of bytes than sixteen.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    self.init(
      high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
      low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// 32 hexadecimal digits.
  public var description: String {
    [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }

  public static func < (a: DeviceID, b: DeviceID) -> Bool { (a.high, a.low) < (b.high, b.low) }
}
