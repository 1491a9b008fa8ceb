/// Byte strings, each kept once per owner and numbered in the order of arrival: the writer's texts, and its keys by
/// domain.
///
/// Two spellings of one character stay two strings, which Swift's `String` would take for one.
struct ByteTable {
  private struct Record {
    /// Where the bytes end; they start where those before end.
    var end: UInt32
    var owner: UInt32
    var hash: UInt32
  }

  private(set) var bytes: [UInt8] = []
  private var records: [Record] = []
  private var slots: [UInt32] = [UInt32](repeating: 0, count: 16)

  var count: Int { records.count }

  mutating func reserve(_ count: Int) {
    records.reserveCapacity(count)
    bytes.reserveCapacity(count * 16)
    let size = Format.indexCount(forKeys: count)
    if slots.count < size { rehash(to: size) }
  }

  func end(_ number: Int) -> UInt32 { records[number].end }

  func owner(_ number: Int) -> UInt32 { records[number].owner }

  func range(_ number: Int) -> Range<Int> {
    (number == 0 ? 0 : Int(records[number - 1].end))..<Int(records[number].end)
  }

  /// - Returns: the number of these bytes, new or known.
  /// - Complexity: O(length), amortised.
  mutating func number(of content: UnsafeRawBufferPointer, owner: UInt32 = 0) -> UInt32 {
    let hash = UInt32(truncatingIfNeeded: ByteHash.hash(content, seed: UInt64(owner)))
    let mask = slots.count - 1
    var slot = Int(hash) & mask
    while slots[slot] != 0 {
      let known = Int(slots[slot] - 1)
      if records[known].hash == hash, records[known].owner == owner, hasBytes(known, content) { return UInt32(known) }
      slot = (slot + 1) & mask
    }
    bytes.append(contentsOf: content)
    records.append(Record(end: UInt32(clamping: bytes.count), owner: owner, hash: hash))
    let count = records.count
    slots[slot] = UInt32(count)
    if count + count / 2 + 1 > slots.count { rehash(to: slots.count * 2) }
    return UInt32(count - 1)
  }

  /// Gives back the memory of look-ups, once no more bytes will come.
  mutating func forgetIndex() { slots = [] }

  private func hasBytes(_ number: Int, _ content: UnsafeRawBufferPointer) -> Bool {
    let range = range(number)
    guard range.count == content.count else { return false }
    return bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[range]).compared(with: content) == 0 }
  }

  private mutating func rehash(to size: Int) {
    slots = [UInt32](repeating: 0, count: size)
    for number in records.indices {
      var slot = Int(records[number].hash) & (size - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = UInt32(number + 1)
    }
  }
}
