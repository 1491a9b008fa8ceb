import Glibc
internal import LinuxFiles
internal import PreferencesCore
public import PropertyList
import Synchronization

/// A synced key-value store as a process has it: typed property lists under keys, in memory, kept in step with a back end.
///
/// Reads and edits work on the memory alone and never wait for a disk or a network. Edits are saved to the back end within
/// seconds and when the process ends normally; what others changed is taken in when they have. Where the back end can't be
/// reached, the store goes on, keeps what is unsaved, says once why, and tries again.
///
/// Safe from any thread. Observers are called without a lock held, on the thread that took the changes in.
///
/// The child of a fork has neither the store's threads nor, by SQLite's rules, its file. It reads what the memory had; edits are
/// refused, since nobody would save them, and `synchronize` answers false. What is to use the store is started as a program.
public final class SyncedStore: Sendable {
  public struct Options: Sendable {
    /// Seconds from an edit until it is saved.
    public var saveDelay = 1.0
    /// Gives milliseconds since 1970.
    public var clock: @Sendable () -> Int64 = { WallClock.unixMilliseconds() }
    /// Told one line about what goes wrong, and where.
    public var report: @Sendable (String) -> Void = { StandardStreams.writeErrorLine("UbiquitousStore: \($0)") }

    /// What is wrong with the back end as far as it has been said.
    var knownTrouble: String?

    public init() {}
  }

  public let application: String
  let backEnd: any StoreBackEnd
  let options: Options

  struct Memory {
    var replica: Replica
    /// Values that were asked for.
    var values: [StoreKey: PropertyListValue] = [:]
    var observers: [Int: @Sendable (StoreChange) -> Void] = [:]
    var next = 0
    var backOff = BackOff()
    var lastTrouble: String?
    var watch: (any ChangeWatch)?
    var relay: RelayThread?
    var isClosed = false
    /// Whether the process is at its end and has let the back end go.
    var isLetGo = false
    /// Told of edits made through this object.
    var editObservers: [Int: @Sendable () -> Void] = [:]
    /// What observers are told when the store's thread works next.
    var untold: [StoreChange] = []
  }
  let memory: Mutex<Memory>
  /// One exchange with the back end at a time: an answer must not overtake another.
  let exchanging = Mutex(())
  let thread = StoreThread()
  private let process = getpid()
  var isForked: Bool { getpid() != process }

  /// Opens a store and takes in what its back end has. One that can't be reached is said to be so, and tried again.
  public init(application: String, backEnd: any StoreBackEnd, options: Options = Options()) {
    self.application = application
    self.backEnd = backEnd
    self.options = options
    var memory = Memory(replica: Replica(store: StoreID(account: "", application: application)))
    memory.lastTrouble = options.knownTrouble
    let begun = memory
    self.memory = Mutex(begun)
    _ = saveAndTakeIn(isOpening: true)
    thread.start { [weak self] in
      guard let self else { return false }
      _ = saveAndTakeIn(onOwnThread: true)
      return true
    }
    let thread = thread
    let watch = backEnd.watch(StoreID(account: "", application: application)) { thread.tell() }
    self.memory.withLock { $0.watch = watch }
    ExitSaving.add(self)
  }

  deinit { if !isForked { thread.end() } }

  // MARK: Values

  /// The value of a key, as the memory has it.
  public func value(_ key: String) -> PropertyListValue? {
    let key = StoreKey(key)
    let (value, isDamaged) = memory.withLock { memory -> (PropertyListValue?, Bool) in
      if let value = memory.values[key] { return (value, false) }
      guard let bytes = memory.replica.entries.value(key) else { return (nil, false) }
      guard let value = try? PropertyListCoding.decode(bytes, as: .binary) else { return (nil, true) }
      memory.values[key] = value
      return (value, false)
    }
    if isDamaged { options.report("the value of \"\(key)\" is no property list; it counts as absent") }
    return value
  }

  /// All keys that have a value, with it.
  public func dictionary() -> [(key: String, value: PropertyListValue)] {
    let keys = memory.withLock { memory in
      memory.replica.entries.byKey.filter { !$0.value.record.isTombstone }.keys.sorted()
    }
    return keys.compactMap { key in value(key.text).map { (key.text, $0) } }
  }

  /// When observers are told of a value that was refused.
  public enum Telling: Sendable {
    /// On the calling thread, before the call returns.
    case now
    /// On the store's thread: for callers that hold a lock of theirs.
    case later
  }

  /// Everything in memory, for a search list. A value that is no property list counts as absent, as in `value`.
  func roamingContents() -> RoamingContents {
    memory.withLock { memory in
      var contents = RoamingContents()
      for (key, entry) in memory.replica.entries.byKey {
        guard let bytes = entry.record.value else {
          contents.removed.insert(key.text)
          continue
        }
        if memory.values[key] == nil { memory.values[key] = try? PropertyListCoding.decode(bytes, as: .binary) }
        contents.values[key.text] = memory.values[key]
      }
      return contents
    }
  }

  /// Sets a value. Observers are told of a refusal (`quotaViolation`), and the store is as it was.
  public func set(_ key: String, to value: PropertyListValue, telling: Telling = .now) throws(StoreRefusal) {
    let key = StoreKey(key)
    if isForked { throw Self.refusalInFork(of: key) }
    let bytes = try Self.encoded(value, key)
    let now = options.clock()
    do throws(StoreRefusal) {
      let isEdit = try memory.withLock { memory throws(StoreRefusal) in
        let isEdit = try memory.replica.set(key, to: bytes, now: now)
        memory.values[key] = value
        return isEdit
      }
      if isEdit { noteEdit(telling) }
    } catch {
      let refusal = StoreChange(.quotaViolation, [key])
      switch telling {
      case .now: tell([refusal])
      case .later:
        memory.withLock { $0.untold.append(refusal) }
        thread.tell()
      }
      throw error
    }
  }

  /// Removes a value; removing what is not there does nothing.
  public func remove(_ key: String, telling: Telling = .now) {
    let key = StoreKey(key)
    if isForked { return options.report("\(Self.refusalInFork(of: key))") }
    let now = options.clock()
    let isEdit = memory.withLock { memory in
      memory.values[key] = nil
      return memory.replica.remove(key, now: now)
    }
    if isEdit { noteEdit(telling) }
  }

  private static func refusalInFork(of key: StoreKey) -> StoreRefusal {
    StoreRefusal(
      key: key, limit: .forkedProcess,
      text: "is not changed: \(isLeftToTheParent); start a program instead")
  }

  static let isLeftToTheParent = "a forked process leaves the synced store to its parent"

  private static func encoded(_ value: PropertyListValue, _ key: StoreKey) throws(StoreRefusal) -> [UInt8] {
    do { return try PropertyListCoding.encode(value, as: .binary) } catch {
      throw StoreRefusal(key: key, limit: .notStorable, text: "has a value that no file can hold: \(error)")
    }
  }

  /// Takes an edit that was made while this store could not be opened (see `RoamingLayer.offer`), with a stamp of its time. Its
  /// observers are not told.
  func offer(_ value: PropertyListValue?, forKey text: String, _ offered: UnsentEdit) throws(StoreRefusal) {
    let key = StoreKey(text)
    let clock = options.clock()
    let present = self.value(text)
    let isLater = memory.withLock { memory in
      guard let standing = memory.replica.entries[key]?.record.stamp else { return true }
      // Made in knowledge of what stands, it is later whatever the clocks say.
      if let before = offered.before, before.first == present { return true }
      return standing.time <= offered.time
    }
    if !isLater || present == value { return }
    let now = min(offered.time, clock)
    if let value {
      let bytes = try Self.encoded(value, key)
      try memory.withLock { memory throws(StoreRefusal) in
        _ = try memory.replica.set(key, to: bytes, now: now)
        memory.values[key] = value
      }
    } else {
      memory.withLock { memory in
        memory.values[key] = nil
        _ = memory.replica.remove(key, now: now)
      }
    }
    noteEdit(.later)
  }

  /// Has an edit saved; those of a search list as soon as the file that has them too, so that neither is left behind.
  private func noteEdit(_ telling: Telling) {
    switch telling {
    case .later: thread.schedule(in: min(options.saveDelay, Self.roamingDelay))
    case .now:
      thread.schedule(in: options.saveDelay)
      for observer in memory.withLock({ Array($0.editObservers.values) }) { observer() }
    }
  }

  /// Seconds from an edit of a search list until it is saved.
  private static let roamingDelay = 0.05

  // MARK: Observers

  /// Calls `handler` for each change that was not made through this object, and for refused values.
  /// - Returns: what to give to `removeObserver`.
  public func observe(_ handler: @escaping @Sendable (StoreChange) -> Void) -> Int {
    memory.withLock { memory in
      memory.next += 1
      memory.observers[memory.next] = handler
      return memory.next
    }
  }

  /// Calls `handler` after each edit that is made through this object, but for those of search lists, which know; and when
  /// edits could not be saved.
  func observeEdits(_ handler: @escaping @Sendable () -> Void) -> Int {
    memory.withLock { memory in
      memory.next += 1
      memory.editObservers[memory.next] = handler
      return memory.next
    }
  }

  public func removeObserver(_ number: Int) {
    memory.withLock { memory in
      memory.observers[number] = nil
      memory.editObservers[number] = nil
    }
  }

  func tell(_ changes: [StoreChange]) {
    for change in changes {
      let observers = memory.withLock { memory in memory.observers.sorted { $0.key < $1.key }.map(\.value) }
      for observer in observers { observer(change) }
    }
  }

  // MARK: Other machines, and the end

  /// Keeps this store in step with a back end between machines, through the file of this machine. One process of the machine
  /// does it for all.
  /// - Precondition: the store's own back end is a near one.
  public func relay(to far: any StoreBackEnd) {
    guard let near = backEnd as? any NearBackEnd else {
      preconditionFailure("a store whose back end stands between machines already has nothing to relay")
    }
    if isForked { return options.report("nothing is relayed: \(Self.isLeftToTheParent)") }
    let lock = (near as? SQLiteBackEnd).map { $0.path + ".relay" }
    let relay = RelayThread(application: application, near: near, far: far, lockPath: lock, report: options.report)
    memory.withLock { memory in
      memory.relay?.end()
      memory.relay = relay
    }
    relay.start()
  }

  /// Seconds that an end waits at most for another machine to answer.
  static let patience = 2.0

  /// At the end of the process: brings what was saved to other machines, and ends the relay.
  func finishRelay(within seconds: Double = patience) { memory.withLock { $0.relay }?.finish(within: seconds) }

  /// Lets the back end go at the end of the process. The store's thread, which may have been told of something a moment ago, does
  /// not open it again: SQLite would leave its files behind. Edits that are made later all the same are saved.
  func letGo() {
    memory.withLock { $0.isLetGo = true }
    // What the thread is at comes to its end first; between machines that could be long.
    if backEnd is any NearBackEnd { exchanging.withLock { _ in backEnd.close() } } else { backEnd.close() }
  }

  /// Saves, and ends what works in the background. Later edits stay in memory.
  public func close() { close(within: Self.patience) }

  /// - Parameter seconds: how long a relay's exchange with another machine is waited for.
  func close(within seconds: Double) {
    if isForked { return }
    _ = saveAndTakeIn()
    let (relay, watch) = memory.withLock { memory in
      defer { (memory.relay, memory.watch, memory.isClosed) = (nil, nil, true) }
      return (memory.relay, memory.watch)
    }
    relay?.end(waitingUntil: WallClock.monotonicSeconds() + seconds)
    thread.end()
    _ = watch
    // What the thread is at comes to its end first, or it would open the back end again.
    exchanging.withLock { _ in backEnd.close() }
  }
}
