/// The records of a store at one place, and how they follow those of a back end: the rules of synchronisation.
///
/// Two places are such replicas: a process's memory, whose back end is the file of the machine; and that file, whose
/// back end is a database between machines. Both go by these functions, and only by these.
///
/// **The law.** The back end is right: what it says of a key is taken, whatever the stamps. Only an edit made here that it
/// has not acknowledged competes, by its stamp. Taking is never an edit: what was taken is not offered back.
///
/// What the whole contents of a back end do not have was removed there, or is not known there:
///
/// - A device *meets its account for the first time*: values of the back end win, whatever the stamps; edits of keys
///   that have no value there stay and will be offered; tombstones compete by their stamps.
/// - A device *was away for longer than tombstones are kept*: what the back end may once have known is removed — an edit
///   that it never acknowledged excepted, if its stamp is beyond all collected tombstones.
/// - The back end *lost its memory* (restored from a copy, begun anew): what is here is offered again, unless a collected
///   tombstone may be greater.
public struct ReplicaEntries: Sendable, Hashable {
  public private(set) var byKey: [StoreKey: ReplicaEntry] = [:]
  /// Keys that have a value.
  public private(set) var liveKeyCount = 0
  /// Bytes of the values.
  public private(set) var liveByteCount = 0

  public init() {}

  public init(_ entries: some Sequence<ReplicaEntry>) {
    for entry in entries { self[entry.record.key] = entry }
  }

  /// The entry of a key, a tombstone's included.
  public subscript(key: StoreKey) -> ReplicaEntry? {
    get { byKey[key] }
    set {
      let before = byKey[key]?.record.value?.count
      let after = newValue?.record.value?.count
      liveKeyCount += (after == nil ? 0 : 1) - (before == nil ? 0 : 1)
      liveByteCount += (after ?? 0) - (before ?? 0)
      byKey[key] = newValue
    }
  }

  /// The value of a key; nil for none, be there a tombstone or not.
  public func value(_ key: StoreKey) -> [UInt8]? { byKey[key]?.record.value }

  public var hasUnsent: Bool { byKey.values.contains { $0.isUnsent } }

  /// Records an edit made here.
  public mutating func edit(_ record: StoreRecord) {
    self[record.key] = ReplicaEntry(record: record, isUnsent: true, isKnown: byKey[record.key]?.isKnown ?? false)
  }

  /// The edits to push, in the order of their keys, and takes down that the back end may know them from now on.
  public mutating func offer() -> [StoreRecord] {
    let keys = byKey.filter { $0.value.isUnsent }.keys.sorted()
    return keys.map { key in
      byKey[key]!.isKnown = true
      return byKey[key]!.record
    }
  }

  // MARK: Changes from the back end

  /// Takes in what a back end answered.
  /// - Returns: the keys whose value is another one now.
  public mutating func take(_ changes: StoreChanges, history: ReplicaHistory) -> Set<StoreKey> {
    let meets = history == .none || changes.endsFirstDays
    var changed: Set<StoreKey> = []
    for record in changes.records where take(record, meets: meets, history: history) { changed.insert(record.key) }
    guard changes.isWhole else { return changed }
    let present = Set(changes.records.map(\.key))
    for (key, entry) in byKey where !present.contains(key) {
      if let kept = kept(entry, absentFrom: changes, meets: meets, history: history) {
        self[key] = kept
      } else {
        self[key] = nil
        if !entry.record.isTombstone { changed.insert(key) }
      }
    }
    return changed
  }

  /// - Returns: whether the value changed.
  private mutating func take(_ record: StoreRecord, meets: Bool, history: ReplicaHistory) -> Bool {
    let before = byKey[record.key]
    var after = ReplicaEntry(standing: record)
    if let before, before.record.stamp > record.stamp {
      // Whoever meets an account yields to its values.
      let competes = before.isUnsent && !(meets && !record.isTombstone)
      if competes || (history == .otherIncarnation && !meets) {
        after = ReplicaEntry(record: before.record, isUnsent: true, isKnown: true)
      }
    }
    self[record.key] = after
    return before?.record.value != after.record.value
  }

  /// What stays of an entry that whole contents do not have; nil: nothing.
  private func kept(
    _ entry: ReplicaEntry, absentFrom changes: StoreChanges, meets: Bool, history: ReplicaHistory
  ) -> ReplicaEntry? {
    let isBeyondFloor = changes.floor.map { entry.record.stamp > $0 } ?? true
    if meets {
      if entry.record.isTombstone { return nil }
      return ReplicaEntry(record: entry.record, isUnsent: true, isKnown: false)
    }
    switch history {
    case .none, .joining: return entry.isUnsent ? entry : nil
    case .known: return !entry.isKnown || (entry.isUnsent && isBeyondFloor) ? entry : nil
    case .otherIncarnation:
      if entry.record.isTombstone && !entry.isUnsent { return nil }
      if entry.isKnown && !isBeyondFloor { return nil }
      return ReplicaEntry(record: entry.record, isUnsent: true, isKnown: entry.isKnown)
    }
  }

  // MARK: Answers to a push

  /// Takes in what became of the records that were pushed. An edit made meanwhile stays, unless a greater one stands.
  /// - Parameter clock: gives stamps after the back end's time to edits whose clock was too far ahead.
  /// - Returns: the keys whose value is another one now.
  public mutating func acknowledge(
    _ pushed: [StoreRecord], _ outcomes: [PushOutcome], clock: inout HybridLogicalClock
  ) -> Set<StoreKey> {
    var changed: Set<StoreKey> = []
    for (record, outcome) in zip(pushed, outcomes) {
      guard let entry = byKey[record.key] else { continue }
      let isSame = entry.record.stamp == record.stamp
      switch outcome {
      case .taken:
        if isSame { byKey[record.key]!.isUnsent = false }
      case .superseded(let standing):
        guard isSame || (entry.isUnsent && standing.stamp > entry.record.stamp) else { continue }
        self[record.key] = ReplicaEntry(standing: standing)
        if standing.value != entry.record.value { changed.insert(record.key) }
      case .clockAhead(let time, let standing):
        guard isSame else { continue }
        let stamp = clock.stamp(now: time, replacing: standing)
        self[record.key]!.record = StoreRecord(key: record.key, value: record.value, stamp: stamp)
      }
    }
    return changed
  }
}

extension PushOutcome {
  /// What a back end answers to a record, given the one that stands: the order of records, in one place.
  /// - Parameter now: the clock of a back end that refuses what is too far ahead of it; nil for one that takes all.
  public static func of(_ record: StoreRecord, standing: StoreRecord?, now: Int64?) -> PushOutcome {
    if let standing {
      if standing.stamp == record.stamp { return .taken }
      if standing.stamp > record.stamp { return .superseded(by: standing) }
    }
    if let now, record.stamp.time > max(now + HybridLogicalClock.tolerance, standing?.stamp.time ?? 0) {
      return .clockAhead(backEndTime: now, standing: standing?.stamp)
    }
    return .taken
  }
}
