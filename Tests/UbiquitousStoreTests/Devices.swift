import BackEndConformance
import PropertyList
import Synchronization
import UbiquitousStore

/// A device in one process: a near back end, a store over it that saves only when it is told to, and a relay.
final class Device: @unchecked Sendable {
  static let application = "com.example.App"
  static let id = StoreID(account: "ada", application: application)

  let near: any NearBackEnd
  let far: CountingBackEnd
  var relay: Relay
  private(set) var store: SyncedStore!
  /// Milliseconds that its clock is ahead.
  let ahead = Mutex<Int64>(0)
  let changes = Mutex<[StoreChange]>([])
  let reports = Mutex<[String]>([])

  init(_ far: any StoreBackEnd, near: (any NearBackEnd)? = nil) {
    self.near =
      near ?? MemoryBackEnd(MemoryServer(clock: { realTime.now() }, refusesClocks: false), account: nil)
    self.far = CountingBackEnd(far)
    relay = Relay(application: Self.application, near: self.near, far: self.far)
    open()
  }

  /// Ends the process and begins another.
  func restart() {
    store.close()
    relay = Relay(application: Self.application, near: near, far: far)
    open()
  }

  private func open() {
    var options = SyncedStore.Options()
    options.saveDelay = 3600
    options.clock = { [weak self] in realTime.now() + (self?.ahead.withLock { $0 } ?? 0) }
    options.report = { [weak self] text in self?.reports.withLock { $0.append(text) } }
    store = SyncedStore(application: Self.application, backEnd: UnwatchedNear(near), options: options)
    _ = store.observe { [weak self] change in self?.changes.withLock { $0.append(change) } }
  }

  /// Saves, exchanges with the server, takes in.
  @discardableResult
  func sync() throws -> Relay.Exchange {
    guard store.synchronize() else { throw BackEndError.unusable("not saved") }
    let exchange = try relay.exchange()
    guard store.synchronize() else { throw BackEndError.unusable("not taken in") }
    return exchange
  }

  func takeChanges() -> [StoreChange] {
    changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
  }

  subscript(key: String) -> PropertyListValue? {
    get { store.value(key) }
    set {
      if let newValue { try? store.set(key, to: newValue) } else { store.remove(key) }
    }
  }

  var contents: [String: PropertyListValue] {
    Dictionary(uniqueKeysWithValues: store.dictionary().map { ($0.key, $0.value) })
  }
}

/// A near back end that hints at nothing, so that a store's own thread takes nothing in beside the test.
private final class UnwatchedNear: ForwardingNear {
  let near: any NearBackEnd
  init(_ near: any NearBackEnd) { self.near = near }

  private final class NoWatch: ChangeWatch {}

  func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch { NoWatch() }
}

/// The true time, which tests move on.
let realTime = BackEndConformanceTests.TestClock()

/// A server between machines.
func makeServer() -> MemoryServer { MemoryServer(clock: { realTime.now() }, refusesClocks: true) }

/// Counts what goes over a connection, and can be cut.
final class CountingBackEnd: StoreBackEnd {
  private let backEnd: any StoreBackEnd
  struct Counts: Equatable {
    var calls = 0
    var pulled = 0
    var pushed = 0
  }
  let counts = Mutex(Counts())
  let isCut = Mutex(false)

  init(_ backEnd: any StoreBackEnd) { self.backEnd = backEnd }

  private func count(_ body: (inout Counts) -> Void) throws(BackEndError) {
    counts.withLock {
      $0.calls += 1
      body(&$0)
    }
    if isCut.withLock({ $0 }) { throw .unreachable("the server is away") }
  }

  func account() throws(BackEndError) -> String {
    try count { _ in }
    return try backEnd.account()
  }

  func changes(in store: StoreID, after cursor: StoreCursor?) throws(BackEndError) -> StoreChanges {
    try count { _ in }
    let changes = try backEnd.changes(in: store, after: cursor)
    counts.withLock { $0.pulled += changes.records.count }
    return changes
  }

  func push(_ records: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome] {
    try count { $0.pushed += records.count }
    return try backEnd.push(records, to: store)
  }

  func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch {
    backEnd.watch(store, hint: hint)
  }
}
