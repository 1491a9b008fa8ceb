/// A process's copy of a store: what it reads and edits, whether or not the back end can be reached.
///
/// A value type without locks, clocks or files of its own; `SyncedStore` gives it those.
public struct Replica: Sendable {
  public internal(set) var store: StoreID
  public private(set) var entries = ReplicaEntries()
  /// How far the back end's changes were taken in; nil before the first answer.
  public private(set) var cursor: StoreCursor?
  private var clock: HybridLogicalClock
  /// The greatest stamp of collected tombstones, as the back end last said with whole contents: what a key may have been
  /// removed with of which nothing is known here any longer, while others still know it.
  private var floor: Stamp?

  public init(store: StoreID, device: DeviceID = .random()) {
    self.store = store
    clock = HybridLogicalClock(device: device)
  }

  // MARK: Edits

  /// Sets a value, a binary property list. The same value as before is no edit.
  ///
  /// A value that makes neither the number of keys nor that of bytes grow is stored also where others' edits have brought
  /// the store beyond its limits.
  /// - Parameter now: the wall clock's milliseconds.
  /// - Returns: whether this was an edit.
  /// - Throws: the limit that would be passed; everything is as it was then.
  @discardableResult
  public mutating func set(_ key: StoreKey, to value: [UInt8], now: Int64) throws(StoreRefusal) -> Bool {
    if let wrong = RecordCheck.objection(key) { throw StoreRefusal(key: key, limit: .key, text: wrong) }
    if value.count > StoreLimits.valueBytes {
      throw StoreRefusal(
        key: key, limit: .valueBytes,
        text: "would have a value of \(value.count) bytes, and at most \(StoreLimits.valueBytes) are stored")
    }
    let before = entries.value(key)
    if before == value { return false }
    if before == nil && entries.liveKeyCount >= StoreLimits.keyCount {
      throw StoreRefusal(
        key: key, limit: .keyCount,
        text: "would be one more than the \(StoreLimits.keyCount) keys that a store holds; remove some first")
    }
    let total = entries.liveByteCount - (before?.count ?? 0) + value.count
    if total > StoreLimits.totalBytes && total > entries.liveByteCount {
      throw StoreRefusal(
        key: key, limit: .totalBytes,
        text: "would bring all values to \(total) bytes, and a store holds \(StoreLimits.totalBytes); remove some first"
      )
    }
    edit(key, value, now)
    return true
  }

  /// Removes a value; removing what is not there is no edit.
  @discardableResult
  public mutating func remove(_ key: StoreKey, now: Int64) -> Bool {
    guard entries.value(key) != nil else { return false }
    edit(key, nil, now)
    return true
  }

  private mutating func edit(_ key: StoreKey, _ value: [UInt8]?, _ now: Int64) {
    let stamp = clock.stamp(now: now, replacing: entries[key]?.record.stamp ?? floor)
    entries.edit(StoreRecord(key: key, value: value, stamp: stamp))
  }

  // MARK: Exchange with the back end

  /// Takes in an answer to the question what changed after `asked`. One to another question than the last, late or
  /// come twice, changes nothing.
  /// - Returns: the keys whose value is another one now.
  public mutating func take(_ changes: StoreChanges, after asked: StoreCursor?, now: Int64) -> Set<StoreKey> {
    guard asked == cursor else { return [] }
    let history: ReplicaHistory =
      switch cursor {
      case nil: .joining
      case .some(let known): known.incarnation == changes.cursor.incarnation ? .known : .otherIncarnation
      }
    cursor = changes.cursor
    if changes.isWhole { floor = changes.floor }
    for record in changes.records { clock.observe(record.stamp, now: now) }
    return entries.take(changes, history: history)
  }

  /// The edits to push.
  public mutating func offer() -> [StoreRecord] { entries.offer() }

  /// Takes in the answer to a push.
  /// - Returns: the keys whose value is another one now.
  public mutating func acknowledge(_ pushed: [StoreRecord], _ outcomes: [PushOutcome]) -> Set<StoreKey> {
    entries.acknowledge(pushed, outcomes, clock: &clock)
  }

  /// Whether others' edits, each of them allowed where it was made, came together to more than the limits.
  public var isBeyondLimits: Bool {
    entries.liveKeyCount > StoreLimits.keyCount || entries.liveByteCount > StoreLimits.totalBytes
  }
}

/// Why a value was not stored.
public struct StoreRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Limit: Hashable, Sendable { case key, keyCount, valueBytes, totalBytes, notStorable, forkedProcess }

  public let key: StoreKey
  public let limit: Limit
  /// The end of a sentence that begins with the key.
  let text: String

  public var description: String { "the key \"\(key)\" \(text)" }
}
