@testable import UbiquitousStore

/// A near back end that does what another does, but for what its type says itself.
protocol ForwardingNear: NearBackEnd {
  var near: any NearBackEnd { get }
}

extension ForwardingNear {
  func account() throws(BackEndError) -> String { try near.account() }
  func changes(in store: StoreID, after cursor: StoreCursor?) throws(BackEndError) -> StoreChanges {
    try near.changes(in: store, after: cursor)
  }
  func push(_ records: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome] {
    try near.push(records, to: store)
  }
  func push(
    _ records: [StoreRecord], to store: StoreID, knowing cursor: StoreCursor
  ) throws(BackEndError) -> [PushOutcome]? { try near.push(records, to: store, knowing: cursor) }
  func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch {
    near.watch(store, hint: hint)
  }
  func farCursor(of store: StoreID) throws(BackEndError) -> StoreCursor? { try near.farCursor(of: store) }
  func take(_ changes: StoreChanges, after asked: StoreCursor?, into store: StoreID) throws(BackEndError) {
    try near.take(changes, after: asked, into: store)
  }
  func offer(of store: StoreID) throws(BackEndError) -> [StoreRecord] { try near.offer(of: store) }
  func acknowledge(
    _ pushed: [StoreRecord], _ outcomes: [PushOutcome], in store: StoreID, clock: inout HybridLogicalClock
  ) throws(BackEndError) { try near.acknowledge(pushed, outcomes, in: store, clock: &clock) }
  func setAccount(_ account: String) throws(BackEndError) { try near.setAccount(account) }
  func close() { near.close() }
}
