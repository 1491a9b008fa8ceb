import BackEndConformance
import UbiquitousStore

/// Numbers that a seed fixes (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func device() -> DeviceID { DeviceID(high: next(), low: next()) }
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// Time and who knew what: what no device could know.
///
/// One thread uses it; the protocol wants `Sendable`.
final class SimulatedWorld: @unchecked Sendable {
  static let application = "com.example.Simulated"
  static let store = StoreID(account: "ada", application: application)
  static let minute: Int64 = 60_000
  static let day: Int64 = 86_400_000
  /// Short, so that runs see tombstones collected.
  static let tombstoneLifetime: Int64 = 3 * day

  var now: Int64 = 1_800_000_000_000
  var numbers: SeededNumbers
  /// What went against the promises.
  var violations: [String] = []
  /// Messages with records in them, to or from the server.
  var traffic = 0
  /// False once the server got an older copy back: then it does not know what it knew.
  var isCausal = true
  lazy var server = MemoryServer(
    clock: { [unowned self] in now }, refusesClocks: true, tombstoneLifetime: Self.tombstoneLifetime)

  /// Each edit by its stamp, and the edits that its maker had seen.
  private var edits: [Stamp: Int] = [:]
  private var ancestors: [Set<Int>] = []
  /// What the server took last for a key, be it collected since.
  private var lastTaken: [StoreKey: Int] = [:]

  init(seed: UInt64) { numbers = SeededNumbers(state: seed) }

  func edited(_ record: StoreRecord, knowing known: Int?) {
    edits[record.stamp] = ancestors.count
    ancestors.append(known.map { ancestors[$0].union([$0]) } ?? [])
  }

  func edit(of record: StoreRecord) -> Int? { edits[record.stamp] }

  /// An edit that a relay gave another stamp.
  func restamped(_ record: StoreRecord, from old: Stamp) { edits[record.stamp] = edits[old] }

  func took(_ record: StoreRecord) {
    guard let edit = edits[record.stamp] else { return violations.append("the server took an edit that nobody made") }
    if isCausal, let last = lastTaken[record.key], ancestors[last].contains(edit) {
      violations.append("\(record.key): an edit took the place of one that was made in knowledge of it")
    }
    lastTaken[record.key] = edit
  }

  func superseded(_ record: StoreRecord, by standing: StoreRecord) {
    guard isCausal, let edit = edits[record.stamp], let other = edits[standing.stamp] else { return }
    if ancestors[edit].contains(other) {
      violations.append("\(record.key): a later edit lost to one that its maker had seen")
    }
  }
}

/// The way from one device to the server: cut, lossy, and repeating itself.
final class FaultyLink: StoreBackEnd, @unchecked Sendable {
  let world: SimulatedWorld
  let far: MemoryBackEnd
  var isCut = false
  /// Percent of calls of which the question or the answer is lost, or that arrive twice.
  var faults: Int
  private var refused: [StoreKey: Stamp] = [:]
  /// Pushes whose answer was lost, and that arrive once more.
  private var underWay: [(at: Int64, records: [StoreRecord])] = []

  init(_ world: SimulatedWorld, faults: Int) {
    self.world = world
    self.faults = faults
    far = MemoryBackEnd(world.server, account: SimulatedWorld.store.account)
  }

  func account() throws(BackEndError) -> String {
    if isCut { throw .unreachable("cut") }
    return try far.account()
  }

  func changes(in store: StoreID, after cursor: StoreCursor?) throws(BackEndError) -> StoreChanges {
    if isCut || world.numbers.chance(faults) { throw .unreachable("cut") }
    let changes = try far.changes(in: store, after: cursor)
    if !changes.records.isEmpty { world.traffic += 1 }
    return changes
  }

  func push(_ records: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome] {
    if isCut || world.numbers.chance(faults) { throw .unreachable("cut") }
    for record in records where world.edit(of: record) == nil {
      if let old = refused[record.key] { world.restamped(record, from: old) }
    }
    let outcomes = try deliver(records)
    if world.numbers.chance(faults) { _ = try deliver(records) }
    let isRefused = outcomes.contains { if case .clockAhead = $0 { true } else { false } }
    if world.numbers.chance(faults) {
      // A push that was answered does not come again; one whose connection broke may be carried out late.
      if !isRefused { underWay.append((world.now + Int64.random(in: 0..<60, using: &world.numbers) * 60_000, records)) }
      throw .unreachable("the answer was lost")
    }
    for (record, outcome) in zip(records, outcomes) {
      if case .clockAhead = outcome { refused[record.key] = record.stamp }
    }
    return outcomes
  }

  func deliverLate(all: Bool = false) throws {
    let due = underWay.filter { all || $0.at <= world.now }.shuffled(using: &world.numbers)
    underWay.removeAll { all || $0.at <= world.now }
    for push in due { _ = try deliver(push.records) }
  }

  private func deliver(_ records: [StoreRecord]) throws(BackEndError) -> [PushOutcome] {
    world.traffic += 1
    let before = world.server.records(of: SimulatedWorld.store)
    let outcomes = try far.push(records, to: SimulatedWorld.store)
    for (record, outcome) in zip(records, outcomes) {
      switch outcome {
      case .taken: if before[record.key]?.stamp != record.stamp { world.took(record) }
      case .superseded(let standing): world.superseded(record, by: standing)
      case .clockAhead: break
      }
    }
    return outcomes
  }

  func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch {
    far.watch(store, hint: hint)
  }
}

/// A process: the replica in its memory, and what its user has seen.
struct SimulatedProcess {
  var replica: Replica
  var seen: [StoreKey: Int] = [:]

  mutating func look(_ world: SimulatedWorld) {
    for (key, entry) in replica.entries.byKey { seen[key] = world.edit(of: entry.record) ?? seen[key] }
  }
}

/// A machine: a clock that is wrong, a file, its processes and its relay.
///
/// One thread uses it.
final class SimulatedDevice: @unchecked Sendable {
  let world: SimulatedWorld
  let makeNear: (SimulatedDevice) -> any NearBackEnd
  var clockError: Int64
  var near: (any NearBackEnd)!
  var processes: [SimulatedProcess] = []
  var relay: Relay!
  let link: FaultyLink
  /// An answer of the server that comes once more, late.
  private var earlier: (asked: StoreCursor?, changes: StoreChanges)?

  init(_ world: SimulatedWorld, faults: Int, makeNear: @escaping (SimulatedDevice) -> any NearBackEnd) {
    self.world = world
    self.makeNear = makeNear
    link = FaultyLink(world, faults: faults)
    clockError = Int64.random(in: -SimulatedWorld.day...SimulatedWorld.day, using: &world.numbers)
    reset()
  }

  var now: Int64 { world.now + clockError }

  /// A new disk.
  func reset() {
    near = makeNear(self)
    relay = Relay(
      application: SimulatedWorld.application, near: near, far: link, device: world.numbers.device())
    processes = [newProcess(), newProcess()]
    earlier = nil
  }

  private func newProcess() -> SimulatedProcess {
    SimulatedProcess(replica: Replica(store: SimulatedWorld.store, device: world.numbers.device()))
  }

  /// What was not saved is lost.
  func crash(_ index: Int) { processes[index] = newProcess() }

  func edit(_ index: Int, _ key: StoreKey, _ value: [UInt8]?) throws {
    processes[index].look(world)
    let isEdit =
      if let value {
        try processes[index].replica.set(key, to: value, now: now)
      } else {
        processes[index].replica.remove(key, now: now)
      }
    guard isEdit, let record = processes[index].replica.entries[key]?.record else { return }
    world.edited(record, knowing: processes[index].seen[key])
    processes[index].look(world)
  }

  /// What `SyncedStore` does: takes in what has arrived, then saves.
  func save(_ index: Int) throws {
    let store = processes[index].replica.store
    let cursor = processes[index].replica.cursor
    let changes = try near.changes(in: store, after: cursor)
    _ = processes[index].replica.take(changes, after: cursor, now: now)
    let offered = processes[index].replica.offer()
    if !offered.isEmpty {
      let outcomes = try near.push(offered, to: store)
      _ = processes[index].replica.acknowledge(offered, outcomes)
    }
    processes[index].look(world)
  }

  func exchange() throws {
    let asked = try near.farCursor(of: SimulatedWorld.store)
    if world.numbers.chance(link.faults), let changes = try? link.changes(in: SimulatedWorld.store, after: asked) {
      earlier = (asked, changes)
    }
    do throws(BackEndError) { _ = try relay.exchange() } catch { guard error.isTransient else { throw error } }
    if world.numbers.chance(link.faults), let earlier {
      try near.take(earlier.changes, after: earlier.asked, into: SimulatedWorld.store)
    }
  }
}
