/// Brings one store near and far together: pulls, then pushes.
///
/// Synchronous and without a thread of its own; `RelayThread` says when. Only one relay of a machine may be at work for a
/// store at a time, though two would only do the same work twice.
public struct Relay: Sendable {
  public let near: any NearBackEnd
  public let far: any StoreBackEnd
  public let application: String
  private var clock: HybridLogicalClock

  public init(application: String, near: any NearBackEnd, far: any StoreBackEnd, device: DeviceID = .random()) {
    self.near = near
    self.far = far
    self.application = application
    clock = HybridLogicalClock(device: device)
  }

  /// What an exchange moved.
  public struct Exchange: Hashable, Sendable {
    public var pulled = 0
    public var pushed = 0
    /// Edits whose clock was too far ahead, and that have the back end's time now.
    public var restamped = 0
  }

  /// Records in one push, so that a cut connection does not cost all.
  static let batch = 256

  /// Pulls what changed far away, then pushes what was edited here, until nothing is unsent.
  /// - Parameter pulling: false where there is no reason to think that something changed far away: then, with nothing to
  ///   push either, the far back end is not called at all.
  /// - Throws: what failed. Everything before it is done and acknowledged; the next call goes on from there.
  public mutating func exchange(pulling: Bool = true) throws(BackEndError) -> Exchange {
    var done = Exchange()
    let present = try near.account()
    if !pulling {
      let store = StoreID(account: present, application: application)
      if try near.farCursor(of: store) != nil, try near.offer(of: store).isEmpty { return done }
    }
    let account = try far.account()
    if present.isEmpty { try near.setAccount(account) }
    let store = StoreID(account: account, application: application)
    try pull(store, &done)
    // Only now, so that who is told of the other account finds its contents.
    if present != account && !present.isEmpty { try near.setAccount(account) }
    // An edit that was given another stamp is offered once more.
    for _ in 0..<3 {
      let offered = try near.offer(of: store)
      if offered.isEmpty { break }
      // Removals first, since they are taken where there is no room for values.
      try push(offered.filter(\.isTombstone), to: store, &done)
      try push(offered.filter { !$0.isTombstone }, to: store, &done)
    }
    return done
  }

  private mutating func push(_ records: [StoreRecord], to store: StoreID, _ done: inout Exchange) throws(BackEndError) {
    var rest = records[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(Self.batch))
      rest = rest.dropFirst(Self.batch)
      let outcomes = try far.push(part, to: store)
      try near.acknowledge(part, outcomes, in: store, clock: &clock)
      done.pushed += part.count
      for case .clockAhead in outcomes { done.restamped += 1 }
    }
  }

  private func pull(_ store: StoreID, _ done: inout Exchange) throws(BackEndError) {
    let cursor = try near.farCursor(of: store)
    let changes = try far.changes(in: store, after: cursor)
    if changes.cursor == cursor && !changes.isWhole { return }
    try near.take(changes, after: cursor, into: store)
    done.pulled += changes.records.count
  }
}
