import PropertyList
import Synchronization

/// A hash table from keys to values that readers search without a lock while one writer adds to it.
///
/// Open addressing over slots of a cache line, at most half of them filled, behind which there is a byte for each (its tag):
/// a key that is not there is told by the tags alone, which stay in the cache where the slots can't. Strings and long keys
/// lie in an arena beside them, so a table is freed as one. Writers hold the engine's lock. A table of a search list's base is filled once and
/// published; one of recent changes is added to while it is published (see `TableSlot` for the order of stores).
final class SlotTable: @unchecked Sendable {
  private(set) var slots: UnsafeMutablePointer<TableSlot>
  private(set) var mask: UInt64
  /// Slots that can't be filled again, the dead ones included.
  private(set) var filled = 0
  private(set) var live = 0
  private var arena = Arena()
  private var boxes: [ValueBox] = []
  /// About how many bytes dead entries hold.
  private var wasted = 0

  /// - Parameter capacity: how many keys it takes before `isFull`.
  init(capacity: Int) {
    var count = 16
    while count < capacity * 2 { count *= 2 }
    slots = Self.emptySlots(count)
    mask = UInt64(count - 1)
  }

  deinit { slots.deallocate() }

  private static func emptySlots(_ count: Int) -> UnsafeMutablePointer<TableSlot> {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: count * (TableSlot.size + 1), alignment: TableSlot.size)
    let slots = memory.bindMemory(to: TableSlot.self, capacity: count)
    for index in 0..<count { (slots + index).initialize(to: TableSlot()) }
    let tags = (memory + count * TableSlot.size).bindMemory(to: Atomic<UInt8>.self, capacity: count)
    for index in 0..<count { (tags + index).initialize(to: Atomic(0)) }
    return slots
  }

  /// The tags of slots: 0 for one that is not filled, else the top byte of its hash.
  @inline(__always)
  private static func tags(
    _ slots: UnsafeMutablePointer<TableSlot>, _ mask: UInt64
  ) -> UnsafeMutablePointer<Atomic<UInt8>> {
    UnsafeMutableRawPointer(slots + Int(truncatingIfNeeded: mask &+ 1)).assumingMemoryBound(to: Atomic<UInt8>.self)
  }

  /// Never 0, since every hash has `KeyHash.used`.
  @inline(__always)
  private static func tag(_ hash: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: hash >> 56) }

  /// Whether the next key needs a table of its own: too many slots are taken, or too much memory is held by dead ones.
  var isFull: Bool { filled >= Int(mask + 1) / 2 || wasted > 1 << 20 }

  /// Doubles the slots where half of them are taken. Only before the table is published.
  private func makeRoom() {
    guard filled >= Int(mask + 1) / 2 else { return }
    let old = slots
    let oldMask = mask
    let count = Int(mask + 1) * 2
    slots = Self.emptySlots(count)
    mask = UInt64(count - 1)
    for place in 0...Int(oldMask) {
      let hash = old[place].hash.load(ordering: .relaxed)
      if hash == 0 { continue }
      var index = hash & mask
      while slots[Int(index)].hash.load(ordering: .relaxed) != 0 { index = (index &+ 1) & mask }
      let slot = slots + Int(index)
      slot.pointee.key = old[place].key
      slot.pointee.payload = old[place].payload
      slot.pointee.description.store(old[place].description.load(ordering: .relaxed), ordering: .relaxed)
      slot.pointee.hash.store(hash, ordering: .relaxed)
      Self.tags(slots, mask)[Int(index)].store(Self.tag(hash), ordering: .relaxed)
    }
    old.deallocate()
  }

  /// The slot of a key, or nil. The caller is inside a read section or holds the engine's lock.
  /// - Complexity: O(1) expected.
  @inline(__always)
  static func find(
    _ slots: UnsafeMutablePointer<TableSlot>, _ mask: UInt64, _ hash: UInt64, _ key: UnsafeRawPointer, _ count: Int
  ) -> TableEntry? {
    let tags = tags(slots, mask)
    let tag = tag(hash)
    var index = hash & mask
    while true {
      let found = tags[Int(truncatingIfNeeded: index)].load(ordering: .acquiring)
      if found == tag {
        let slot = slots + Int(truncatingIfNeeded: index)
        if slot.pointee.hash.load(ordering: .relaxed) == hash {
          let description = SlotDescription(slot.pointee.description.load(ordering: .acquiring))
          if description.keyLength == count, KeyHash.equal(TableSlot.key(slot, count), key, count), !description.isDead
          {
            return TableEntry(description, slot.pointee.payload)
          }
        }
      } else if found == 0 {
        return nil
      }
      index = (index &+ 1) & mask
    }
  }

  func find(_ hash: UInt64, _ key: UnsafeRawBufferPointer) -> TableEntry? {
    Self.find(slots, mask, hash, key.baseAddress ?? UnsafeRawPointer(slots), key.count)
  }

  /// Puts a key that the table does not have, or that it has and is to have another value from now on.
  func put(_ hash: UInt64, _ key: UnsafeRawBufferPointer, layer: Layer, _ value: TableValue) {
    precondition(filled <= Int(mask), "a table of preferences overflows")
    let (kind, payload) = store(value)
    var old: Int?
    var index = hash & mask
    while true {
      let slot = slots + Int(index)
      let found = slot.pointee.hash.load(ordering: .relaxed)
      if found == 0 { break }
      if found == hash {
        let description = SlotDescription(slot.pointee.description.load(ordering: .relaxed))
        if description.keyLength == key.count, !description.isDead,
          KeyHash.equal(
            TableSlot.key(slot, key.count), key.baseAddress ?? UnsafeRawPointer(slots), key.count)
        {
          old = Int(index)
        }
      }
      index = (index &+ 1) & mask
    }
    let slot = slots + Int(index)
    if let old { slot.pointee.key = slots[old].key } else { place(key, in: slot) }
    slot.pointee.payload = payload
    slot.pointee.description.store(
      SlotDescription(kind: kind, layer: layer, keyLength: key.count).bits, ordering: .relaxed)
    slot.pointee.hash.store(hash, ordering: .relaxed)
    Self.tags(slots, mask)[Int(index)].store(Self.tag(hash), ordering: .releasing)
    filled += 1
    if let old {
      wasted +=
        64
        + size(
          of: TableEntry(
            SlotDescription(slots[old].description.load(ordering: .relaxed)), slots[old].payload))
      slots[old].description.store(SlotDescription.dead.bits, ordering: .releasing)
    } else {
      live += 1
    }
  }

  private func place(_ key: UnsafeRawBufferPointer, in slot: UnsafeMutablePointer<TableSlot>) {
    let place = UnsafeMutableRawPointer(slot) + TableSlot.keyOffset
    if key.count > TableSlot.inlineKeySize {
      place.storeBytes(of: arena.copy(key), as: UnsafeRawPointer.self)
    } else if let start = key.baseAddress {
      place.copyMemory(from: start, byteCount: key.count)
    }
  }

  /// Puts a key unless the table has it: how a table is filled from the first layer down. Only before the table is
  /// published.
  @inline(__always)
  func putFirst(_ key: UnsafeRawBufferPointer, layer: Layer, _ value: () -> TableValue) {
    KeySpelling.withStored(key) { key in
      let hash = KeyHash.hash(key)
      if find(hash, key) == nil {
        makeRoom()
        put(hash, key, layer: layer, value())
      }
    }
  }

  /// A table with the same entries and room for as many again.
  func compacted() -> SlotTable {
    let table = SlotTable(capacity: live * 2 + 16)
    visit { hash, key, entry in
      table.put(hash, key, layer: entry.description.layer, TableValue(entry))
    }
    return table
  }

  /// Visits the live entries, in no order that means anything.
  func visit(_ body: (_ hash: UInt64, _ key: UnsafeRawBufferPointer, _ entry: TableEntry) -> Void) {
    for index in 0...Int(mask) {
      let hash = slots[index].hash.load(ordering: .relaxed)
      if hash == 0 { continue }
      let description = SlotDescription(slots[index].description.load(ordering: .relaxed))
      if description.isDead { continue }
      body(
        hash,
        UnsafeRawBufferPointer(
          start: TableSlot.key(slots + index, description.keyLength), count: description.keyLength),
        TableEntry(description, slots[index].payload))
    }
  }

  private func size(of entry: TableEntry) -> Int {
    switch entry.kind {
    case .string: return entry.utf8.count
    case .object:
      if case .data(let bytes) = entry.box._withUnsafeGuaranteedRef({ $0.value }) { return bytes.count }
      return 4096
    default: return 0
    }
  }

  private func store(_ value: TableValue) -> (SlotKind, UInt64) {
    switch value {
    case .absent: return (.absent, 0)
    case .scalar(let kind, let payload): return (kind, payload)
    case .utf8(let bytes): return (.string, UInt64(UInt(bitPattern: arena.record(bytes))))
    case .object(let box):
      boxes.append(box)
      return (.object, UInt64(UInt(bitPattern: Unmanaged.passUnretained(box).toOpaque())))
    }
  }
}

/// A value on its way into a table.
enum TableValue {
  case absent
  case scalar(SlotKind, UInt64)
  case utf8(UnsafeRawBufferPointer)
  case object(ValueBox)

  /// The value of another table's entry, which must outlive this.
  init(_ entry: TableEntry) {
    switch entry.kind {
    case .absent, .dead: self = .absent
    case .string: self = .utf8(UnsafeRawBufferPointer(entry.utf8))
    case .object: self = .object(entry.box.takeUnretainedValue())
    default: self = .scalar(entry.kind, entry.payload)
    }
  }

  /// Gives `body` the form that a table takes; a string's bytes are valid only there.
  static func with<R>(_ value: PropertyListValue, _ body: (TableValue) -> R) -> R {
    switch value {
    case .boolean(let value): return body(.scalar(.boolean, value ? 1 : 0))
    case .integer(let value): return body(.integer(value))
    case .real(let value): return body(.scalar(.real, value.bitPattern))
    case .date(let value): return body(.scalar(.date, value.secondsSinceReferenceDate.bitPattern))
    case .string(var value): return value.withUTF8 { body(.utf8(UnsafeRawBufferPointer($0))) }
    case .data, .array, .dictionary: return body(.object(ValueBox(value)))
    }
  }

  static func integer(_ value: PropertyListInteger) -> TableValue {
    .scalar(value.int64 == nil ? .unsigned : .signed, value.bitPattern)
  }
}

/// Memory for keys and strings that lives as long as its table.
struct Arena: ~Copyable {
  private var chunks: [UnsafeMutableRawPointer] = []
  private var next = UnsafeMutableRawPointer(bitPattern: 8)!
  private var left = 0

  deinit { for chunk in chunks { chunk.deallocate() } }

  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
    let place = room(for: bytes.count, alignment: 1)
    if let start = bytes.baseAddress { place.copyMemory(from: start, byteCount: bytes.count) }
    return UnsafeRawPointer(place)
  }

  /// A count of eight bytes, and the bytes.
  mutating func record(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
    let place = room(for: bytes.count + 8, alignment: 8)
    place.storeBytes(of: bytes.count, as: Int.self)
    if let start = bytes.baseAddress { (place + 8).copyMemory(from: start, byteCount: bytes.count) }
    return UnsafeRawPointer(place)
  }

  private mutating func room(for count: Int, alignment: Int) -> UnsafeMutableRawPointer {
    let skip = Int(bitPattern: UInt(bitPattern: -Int(bitPattern: next)) & UInt(alignment - 1))
    if skip + count > left {
      // Strings of megabytes get a chunk of their own size; the common small ones share.
      let size = max(count, chunks.isEmpty ? 1024 : 32768)
      let chunk = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      chunks.append(chunk)
      next = chunk + count
      left = size - count
      return chunk
    }
    let place = next + skip
    next = place + count
    left -= skip + count
    return place
  }
}
