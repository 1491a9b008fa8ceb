import Synchronization
public import UbiquitousStore

/// What a server keeps, in memory; `MemoryBackEnd` is a connection to it.
public final class MemoryServer: Sendable {
  struct Contents {
    var entries = ReplicaEntries()
    var sequences: [StoreKey: Int64] = [:]
    var takenAt: [StoreKey: Int64] = [:]
    var incarnation = DeviceID.random()
    var former: DeviceID?
    var sequence: Int64 = 0
    var floorSequence: Int64 = 0
    var floor: Stamp?
    var farCursor: StoreCursor?
  }
  struct State {
    var stores: [StoreID: Contents] = [:]
    var presentAccount = ""
    var firstAccount = ""
    var hints: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }
  let state = Mutex(State())
  let clock: @Sendable () -> Int64
  let refusesClocks: Bool
  let tombstoneLifetime: Int64

  public init(
    clock: @escaping @Sendable () -> Int64, refusesClocks: Bool,
    tombstoneLifetime: Int64 = TombstoneRetention.milliseconds
  ) {
    self.clock = clock
    self.refusesClocks = refusesClocks
    self.tombstoneLifetime = tombstoneLifetime
  }

  /// A copy of the contents, to be given back by `restore`.
  public func copy(of store: StoreID) -> StoredCopy {
    StoredCopy(contents: state.withLock { $0.stores[store] ?? Contents() })
  }

  /// Puts a copy back, as who restores a backup: under a new incarnation.
  public func restore(_ copy: StoredCopy, to store: StoreID) {
    state.withLock {
      $0.stores[store] = copy.contents
      $0.stores[store]!.incarnation = .random()
    }
  }

  public struct StoredCopy: Sendable { let contents: Contents }

  /// Every record of a store.
  public func records(of store: StoreID) -> [StoreKey: StoreRecord] {
    state.withLock { $0.stores[store]?.entries.byKey.mapValues(\.record) ?? [:] }
  }
}

/// The smallest back end that keeps the promises: what others can be compared with, and what simulations run over.
public final class MemoryBackEnd: NearBackEnd {
  public let server: MemoryServer
  private let ownAccount: String?

  /// - Parameter account: that of the connection; nil follows `setAccount`, as on one machine.
  public init(_ server: MemoryServer, account: String?) {
    self.server = server
    ownAccount = account
  }

  public func account() throws(BackEndError) -> String {
    ownAccount ?? server.state.withLock { $0.presentAccount }
  }

  private func edit<R: Sendable>(
    _ store: StoreID, _ body: (inout MemoryServer.Contents) throws(BackEndError) -> R
  ) throws(BackEndError) -> R {
    if let ownAccount, ownAccount != store.account { throw .notPermitted("\(store) is not \(ownAccount)'s") }
    var hints: [@Sendable () -> Void] = []
    let result = try server.state.withLock { state throws(BackEndError) -> R in
      let store =
        store.account.isEmpty && ownAccount == nil
        ? StoreID(account: state.firstAccount, application: store.application) : store
      var contents = state.stores[store] ?? MemoryServer.Contents()
      let before = contents.sequence
      let incarnation = contents.incarnation
      let result = try body(&contents)
      state.stores[store] = contents
      if contents.sequence != before || contents.incarnation != incarnation { hints = Array(state.hints.values) }
      return result
    }
    for hint in hints { hint() }
    return result
  }

  public func changes(in store: StoreID, after cursor: StoreCursor?) throws(BackEndError) -> StoreChanges {
    try edit(store) { contents throws(BackEndError) in
      let end = StoreCursor(incarnation: contents.incarnation, sequence: contents.sequence)
      if let cursor, cursor.incarnation == contents.incarnation,
        (contents.floorSequence...contents.sequence).contains(cursor.sequence)
      {
        let keys = contents.sequences.filter { $0.value > cursor.sequence }.keys.sorted()
        return StoreChanges(
          records: keys.map { contents.entries[$0]!.record }, cursor: end, isWhole: false)
      }
      return StoreChanges(
        records: contents.entries.byKey.values.map(\.record), cursor: end, isWhole: true, floor: contents.floor,
        endsFirstDays: cursor != nil && cursor?.incarnation == contents.former)
    }
  }

  public func push(_ pushed: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome] {
    try push(pushed, to: store, knowing: nil) ?? []
  }

  public func push(
    _ pushed: [StoreRecord], to store: StoreID, knowing cursor: StoreCursor
  ) throws(BackEndError) -> [PushOutcome]? {
    try push(pushed, to: store, knowing: cursor.incarnation)
  }

  private func push(
    _ pushed: [StoreRecord], to store: StoreID, knowing incarnation: DeviceID?
  ) throws(BackEndError) -> [PushOutcome]? {
    if let wrong = RecordCheck.objection(pushed) { throw .refused(wrong) }
    let now = server.clock()
    let (refuses, lifetime) = (server.refusesClocks, server.tombstoneLifetime)
    return try edit(store) { contents throws(BackEndError) -> [PushOutcome]? in
      if let incarnation, contents.incarnation != incarnation { return nil }
      var outcomes: [PushOutcome] = []
      for record in pushed {
        let standing = contents.entries[record.key]?.record
        let outcome = PushOutcome.of(record, standing: standing, now: refuses ? now : nil)
        if outcome == .taken && standing?.stamp != record.stamp {
          contents.entries.edit(record)
          contents.number(record.key, now)
        }
        outcomes.append(outcome)
      }
      contents.collect(takenBefore: now - lifetime)
      return outcomes
    }
  }

  private final class Watch: ChangeWatch {
    let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  public func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch {
    let server = server
    let number = server.state.withLock { state in
      state.next += 1
      state.hints[state.next] = hint
      return state.next
    }
    return Watch { server.state.withLock { $0.hints[number] = nil } }
  }

  // MARK: Near

  public func farCursor(of store: StoreID) throws(BackEndError) -> StoreCursor? {
    try edit(store) { contents throws(BackEndError) in contents.farCursor }
  }

  public func take(
    _ changes: StoreChanges, after asked: StoreCursor?, into store: StoreID
  ) throws(BackEndError) {
    let now = server.clock()
    try edit(store) { contents throws(BackEndError) in
      guard contents.farCursor == asked else { return }
      let before = contents.entries
      let history: ReplicaHistory =
        asked == nil ? .none : asked?.incarnation == changes.cursor.incarnation ? .known : .otherIncarnation
      _ = contents.entries.take(changes, history: history)
      contents.number(insteadOf: before, now)
      contents.farCursor = changes.cursor
      if asked == nil { (contents.former, contents.incarnation) = (contents.incarnation, .random()) }
    }
  }

  public func offer(of store: StoreID) throws(BackEndError) -> [StoreRecord] {
    try edit(store) { contents throws(BackEndError) in contents.entries.offer() }
  }

  public func acknowledge(
    _ pushed: [StoreRecord], _ outcomes: [PushOutcome], in store: StoreID, clock: inout HybridLogicalClock
  ) throws(BackEndError) {
    let now = server.clock()
    var advanced = clock
    try edit(store) { contents throws(BackEndError) in
      let before = contents.entries
      _ = contents.entries.acknowledge(pushed, outcomes, clock: &advanced)
      contents.number(insteadOf: before, now)
    }
    clock = advanced
  }

  public func setAccount(_ account: String) throws(BackEndError) {
    let hints = server.state.withLock { state in
      let before = state.presentAccount
      state.presentAccount = account
      if before.isEmpty && !account.isEmpty {
        state.firstAccount = account
        for (store, contents) in state.stores where store.account.isEmpty {
          state.stores[store] = nil
          state.stores[StoreID(account: account, application: store.application)] = contents
        }
      }
      return Array(state.hints.values)
    }
    for hint in hints { hint() }
  }
}

extension MemoryServer.Contents {
  fileprivate mutating func number(_ key: StoreKey, _ now: Int64) {
    sequence += 1
    sequences[key] = sequence
    takenAt[key] = now
  }

  /// Gives numbers to the records that changed; a key that is gone leaves a tombstone for readers.
  fileprivate mutating func number(insteadOf before: ReplicaEntries, _ now: Int64) {
    for key in Set(before.byKey.keys).union(entries.byKey.keys).sorted() {
      guard before[key]?.record != entries[key]?.record else { continue }
      if entries[key] == nil, let old = before[key] {
        let gone = StoreRecord(key: key, value: nil, stamp: old.record.stamp)
        entries[key] = ReplicaEntry(record: gone, isUnsent: false, isKnown: false)
        if old.record == gone { continue }
      }
      number(key, now)
    }
  }

  fileprivate mutating func collect(takenBefore time: Int64) {
    for (key, entry) in entries.byKey
    where entry.record.isTombstone && takenAt[key]! < time && !(entry.isUnsent && entry.isKnown) {
      floorSequence = max(floorSequence, sequences[key]!)
      floor = max(floor ?? entry.record.stamp, entry.record.stamp)
      entries[key] = nil
      sequences[key] = nil
      takenAt[key] = nil
    }
  }
}
