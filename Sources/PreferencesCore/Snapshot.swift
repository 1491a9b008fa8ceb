import CReaderEpoch
import Synchronization

/// What one read sees: two tables and what else decides, at one address.
///
/// `changes` comes first: it holds the winners of keys that changed since `base` was filled. Both give the winner over all
/// layers, forced ones included, so one probe (two, while there are changes) answers any getter and `isForced` together.
struct SnapshotHeader {
  var base: UnsafeMutablePointer<TableSlot>
  var baseMask: UInt64
  var changes: UnsafeMutablePointer<TableSlot>?
  var changesMask: UInt64
  var seed: UInt64
  /// `SlotDescription.forcedBit` where everything counts as forced, since the forced domain of an installed host can't be
  /// read; else 0.
  var forced: UInt64

  @inline(__always)
  func find(_ key: UnsafeRawPointer, _ count: Int) -> TableEntry? {
    let hash = KeyHash.hash(key, count, seed: seed)
    if let changes, let entry = SlotTable.find(changes, changesMask, hash, key, count) { return entry }
    if let entry = SlotTable.find(base, baseMask, hash, key, count) { return entry }
    return KeySpelling.isASCII(key, count) ? nil : findOtherSpelling(key, count)
  }

  @inline(never)
  func findOtherSpelling(_ key: UnsafeRawPointer, _ count: Int) -> TableEntry? {
    guard var stored = KeySpelling.known(UnsafeRawBufferPointer(start: key, count: count)) else { return nil }
    return stored.withUTF8 { bytes in
      guard let start = bytes.baseAddress else { return nil }
      let hash = KeyHash.hash(start, bytes.count, seed: seed)
      if let changes, let entry = SlotTable.find(changes, changesMask, hash, start, bytes.count) { return entry }
      return SlotTable.find(base, baseMask, hash, start, bytes.count)
    }
  }
}

/// Memory that every read touches gets a cache line of its own: nobody else's writes must invalidate it.
enum CacheLine {
  static let size = 64

  static func allocate<T: ~Copyable>(_ type: T.Type) -> UnsafeMutablePointer<T> {
    precondition(MemoryLayout<T>.size <= size)
    return UnsafeMutableRawPointer.allocate(byteCount: size, alignment: size).bindMemory(to: type, capacity: 1)
  }
}

/// A published header and the tables it leads to.
final class Snapshot: @unchecked Sendable {
  let header: UnsafeMutablePointer<SnapshotHeader>
  let base: SlotTable
  let changes: SlotTable?

  init(base: SlotTable, changes: SlotTable?, everythingIsForced: Bool) {
    self.base = base
    self.changes = changes
    header = CacheLine.allocate(SnapshotHeader.self)
    header.initialize(
      to: SnapshotHeader(
        base: base.slots, baseMask: base.mask, changes: changes?.slots, changesMask: changes?.mask ?? 0,
        seed: KeyHash.seed, forced: everythingIsForced ? SlotDescription.forcedBit : 0))
  }

  deinit { header.deallocate() }

  var everythingIsForced: Bool { header.pointee.forced != 0 }

  /// Visits every key that some layer has, with the winner.
  func visit(_ body: (_ hash: UInt64, _ key: UnsafeRawBufferPointer, _ entry: TableEntry) -> Void) {
    changes?.visit { hash, key, entry in if entry.kind != .absent { body(hash, key, entry) } }
    base.visit { hash, key, entry in
      if changes?.find(hash, key) == nil { body(hash, key, entry) }
    }
  }

  /// The entry of a key; nil when no layer has it. Only for holders of the engine's lock.
  func entry(_ hash: UInt64, _ key: UnsafeRawBufferPointer) -> TableEntry? {
    let entry = changes?.find(hash, key) ?? base.find(hash, key)
    return entry?.kind == .absent ? nil : entry
  }
}

/// The pointer that readers load, and the snapshots that they may still hold.
///
/// `publish` and `collect` are called under the engine's lock. A replaced snapshot stays in `retired` until the reader
/// epoch says that every read that could have seen it has ended.
final class PublishedSnapshot: @unchecked Sendable {
  /// The address of the current `SnapshotHeader`.
  let address: UnsafeMutablePointer<Atomic<UInt>>
  private(set) var current: Snapshot
  private var retired: [Snapshot] = []

  init(_ first: Snapshot) {
    current = first
    address = CacheLine.allocate(Atomic<UInt>.self)
    address.initialize(to: Atomic(UInt(bitPattern: first.header)))
  }

  deinit { address.deallocate() }

  func publish(_ next: Snapshot) {
    let old = current
    current = next
    address.pointee.store(UInt(bitPattern: next.header), ordering: .sequentiallyConsistent)
    retired.append(old)
    collect(patience: 16)
  }

  /// Puts a snapshot in the place of one that nobody can have read yet.
  func publishFirst(_ first: Snapshot) {
    current = first
    address.pointee.store(UInt(bitPattern: first.header), ordering: .releasing)
  }

  /// Frees what no reader can hold; what some thread that is not running may hold waits for the next call.
  func collect(patience: UInt32) {
    if !retired.isEmpty, reader_epoch_wait(patience) { retired.removeAll() }
  }
}
