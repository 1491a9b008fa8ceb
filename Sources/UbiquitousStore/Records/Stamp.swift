/// The place of an edit in the order of all edits of one key: the greater stamp wins.
///
/// The order is that of (time, counter, device), in this sequence: total, the same on all devices and in all back ends.
/// A stamp names one edit: whoever meets the same stamp twice has met the same edit twice.
///
/// The time is that of a hybrid logical clock (`HybridLogicalClock`): the wall clock's where that is not behind what its
/// device has seen, else what it has seen, with the counter raised.
public struct Stamp: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Milliseconds since 1970-01-01T00:00:00Z: 0…`greatestTime`.
  public let time: Int64
  /// Orders what falls into one millisecond: 0…2³¹−1, which every database's integer holds.
  public let counter: Int32
  public let device: DeviceID

  /// 2⁵³, in the year 287396: what no clock says, and what can still be counted on from without an overflow.
  public static let greatestTime: Int64 = 1 << 53

  public init(time: Int64, counter: Int32, device: DeviceID) {
    self.time = time
    self.counter = counter
    self.device = device
  }

  public static func < (a: Stamp, b: Stamp) -> Bool {
    (a.time, a.counter, a.device) < (b.time, b.counter, b.device)
  }

  public var description: String { "\(time).\(counter)@\(device)" }
}
