/// The numbers of the scalars that a binary file already has: an open-addressing table over their bytes.
///
/// A `Dictionary` would do, at some times the cost.
struct ScalarTable {
  private struct Slot {
    var hash: UInt64
    /// The object's number; -1 where the slot is free.
    var number: Int
    var value: PropertyListValue
  }

  /// Differs from process to process, so that no file can be made whose strings all collide. (What is written does not
  /// depend on it: numbers are given in the order of the value.)
  private static let secret = UInt64.random(in: 0...UInt64.max)

  private static let free = Slot(hash: 0, number: -1, value: .boolean(false))

  private var slots = [Slot](repeating: free, count: 64)
  private var count = 0

  /// The number that this scalar has; `next`, which it has from now on, when it is new.
  mutating func number(of value: PropertyListValue, next: Int) -> Int {
    if 2 * count >= slots.count { grow() }
    let hash = Self.hash(value)
    var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[index].number >= 0 {
      if slots[index].hash == hash, slots[index].value == value { return slots[index].number }
      index = (index + 1) & (slots.count - 1)
    }
    slots[index] = Slot(hash: hash, number: next, value: value)
    count += 1
    return next
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Self.free, count: 4 * old.count)
    for slot in old where slot.number >= 0 {
      var index = Int(truncatingIfNeeded: slot.hash) & (slots.count - 1)
      while slots[index].number >= 0 { index = (index + 1) & (slots.count - 1) }
      slots[index] = slot
    }
  }

  private static func hash(_ value: PropertyListValue) -> UInt64 {
    switch value {
    case .string(var text): text.withUTF8 { hash(UnsafeRawBufferPointer($0), seed: 1) }
    case .data(let bytes): bytes.withUnsafeBytes { hash($0, seed: 2) }
    case .integer(let number): mix(number.bitPattern, number.isNegative ? 3 : 4)
    case .real(let number): mix(number.bitPattern, 5)
    case .date(let date): mix(date.secondsSinceReferenceDate.bitPattern, 6)
    case .boolean(let flag): mix(flag ? 1 : 0, 7)
    case .array, .dictionary: preconditionFailure("a container is not a scalar")
    }
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    var state = mix(UInt64(bytes.count), seed)
    var offset = 0
    while offset + 8 <= bytes.count {
      state = mix(state ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self), seed)
      offset += 8
    }
    var tail: UInt64 = 0
    while offset < bytes.count {
      tail = tail << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return mix(state ^ tail, seed)
  }

  /// The two halves of a product, folded: each bit of the input reaches all of the result.
  private static func mix(_ value: UInt64, _ seed: UInt64) -> UInt64 {
    let product = (value ^ secret).multipliedFullWidth(by: 0xBF58_476D_1CE4_E5B9 &+ (seed << 1))
    return product.high ^ product.low
  }
}
