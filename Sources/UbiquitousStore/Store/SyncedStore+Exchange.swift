import Synchronization

/// How a store and its back end are kept in step.
extension SyncedStore {
  /// Takes in what has arrived and saves what was edited here, to the back end on this machine. It does not wait for other
  /// machines.
  /// - Returns: false where the back end could not be reached, and in a forked process.
  @discardableResult
  public func synchronize() -> Bool { saveAndTakeIn() }

  /// Why the back end could not be used when it was asked last; nil where it could.
  public var trouble: String? { memory.withLock { $0.lastTrouble } }

  /// Whether there are edits that the back end has not acknowledged.
  public var hasUnsavedEdits: Bool { memory.withLock { $0.replica.entries.hasUnsent } }

  /// - Parameter onOwnThread: whether nobody asks for it but the store's thread.
  func saveAndTakeIn(isOpening: Bool = false, onOwnThread: Bool = false) -> Bool {
    if isForked { return false }
    var changes: [StoreChange] = []
    let failure: BackEndError? = exchanging.withLock { _ in
      let isIdle = memory.withLock { memory in
        memory.isClosed || onOwnThread && memory.isLetGo && !memory.replica.entries.hasUnsent
      }
      if isIdle { return nil }
      do throws(BackEndError) {
        try exchange(&changes)
        return nil
      } catch {
        return error
      }
    }
    let trouble = memory.withLock { memory -> String? in
      defer { memory.lastTrouble = failure?.description }
      guard let failure else {
        memory.backOff.succeeded()
        return nil
      }
      thread.schedule(in: failure.isTransient ? memory.backOff.next() : 300)
      return failure.description == memory.lastTrouble ? nil : failure.description
    }
    if let trouble { options.report(trouble) }
    if trouble != nil, !isOpening, hasUnsavedEdits {
      for observer in memory.withLock({ Array($0.editObservers.values) }) { observer() }
    }
    let untold = memory.withLock { memory in
      defer { memory.untold = [] }
      return memory.untold
    }
    if !isOpening { tell(untold + changes) }
    return failure == nil
  }

  private func exchange(_ notices: inout [StoreChange]) throws(BackEndError) {
    let account = try backEnd.account()
    let present = memory.withLock { $0.replica.store.account }
    if account != present {
      if present.isEmpty {
        memory.withLock { $0.replica.store = StoreID(account: account, application: application) }
      } else {
        return try change(to: account, &notices)
      }
    }
    let store = memory.withLock { $0.replica.store }
    // Once more where the far contents were met between the two calls; that happens once in a store's life.
    for _ in 0..<3 {
      try takeIn(store, &notices)
      let offered = memory.withLock { $0.replica.offer() }
      if offered.isEmpty { return }
      guard let outcomes = try push(offered, to: store) else { continue }
      take(&notices, .serverChange) { memory in memory.replica.acknowledge(offered, outcomes) }
      return
    }
  }

  private func takeIn(_ store: StoreID, _ notices: inout [StoreChange]) throws(BackEndError) {
    let cursor = memory.withLock { $0.replica.cursor }
    let changes = try backEnd.changes(in: store, after: cursor)
    let now = options.clock()
    take(&notices, changes.endsFirstDays ? .initialSync : .serverChange) { memory in
      memory.replica.take(changes, after: cursor, now: now)
    }
  }

  /// - Returns: nil where the history that was taken in is not the back end's any more.
  private func push(_ offered: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome]? {
    guard let near = backEnd as? any NearBackEnd, let cursor = memory.withLock({ $0.replica.cursor }) else {
      return try backEnd.push(offered, to: store)
    }
    return try near.push(offered, to: store, knowing: cursor)
  }

  /// Another account's contents take the place of these, whatever the stamps; what was not saved is saved where it
  /// belongs.
  private func change(to account: String, _ notices: inout [StoreChange]) throws(BackEndError) {
    let (old, unsaved) = memory.withLock { ($0.replica.store, $0.replica.offer()) }
    if !unsaved.isEmpty { _ = try backEnd.push(unsaved, to: old) }
    var replica = Replica(store: StoreID(account: account, application: application))
    let changes = try backEnd.changes(in: replica.store, after: nil)
    _ = replica.take(changes, after: nil, now: options.clock())
    let new = replica
    take(&notices, .accountChange) { memory in
      let before = memory.replica.entries
      memory.replica = new
      return Set(before.byKey.keys).union(new.entries.byKey.keys).filter { before.value($0) != new.entries.value($0) }
    }
  }

  private func take(
    _ notices: inout [StoreChange], _ reason: StoreChange.Reason, _ body: (inout Memory) -> Set<StoreKey>
  ) {
    let (keys, isBeyondNow) = memory.withLock { memory in
      let wasBeyond = memory.replica.isBeyondLimits
      let keys = body(&memory)
      for key in keys { memory.values[key] = nil }
      return (keys, !wasBeyond && memory.replica.isBeyondLimits)
    }
    if !keys.isEmpty || reason == .accountChange { notices.append(StoreChange(reason, keys)) }
    if isBeyondNow { notices.append(StoreChange(.quotaViolation, keys)) }
  }
}
