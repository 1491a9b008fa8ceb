internal import LinuxFiles
import Synchronization

/// The back end on one machine: a file of SQLite's, for the processes of one user. Near for a back end between machines, or
/// alone.
///
/// The file is made with mode 0600 in a folder of 0700. A process that is killed leaves nothing to repair. A file that is
/// damaged is moved aside, after a complete read has shown that it is, and a new one begun: processes that still have
/// its contents in memory bring them back, and a far back end does; so they do where somebody removed one of the files that
/// SQLite has beside it. A file that can't be read stays where it is.
public final class SQLiteBackEnd: NearBackEnd {
  public struct Options: Sendable {
    /// How long a call waits for other processes' transactions.
    public var busySeconds = 5.0
    /// Whether what was taken is on the disk (`fsync`), and not only safe from the ends of processes.
    public var isDurable = true
    /// Gives milliseconds since 1970, by which tombstones age.
    public var clock: @Sendable () -> Int64 = { WallClock.unixMilliseconds() }
    /// How long tombstones are kept, in milliseconds.
    public var tombstoneLifetime = TombstoneRetention.milliseconds
    /// Tombstones of one store, above which the oldest half goes whatever its age.
    public var mostTombstones: Int64 = 4096
    /// Rows and bytes that a store has at most.
    public var mostRows: Int64 = 8192
    public var mostBytes: Int64 = 16 << 20
    /// The part of the path below which a link leads nowhere, since somebody else may have put it there: a container's home.
    /// nil where the whole path is the user's own.
    public var anchor: String?
    /// Told one line about what went wrong and was put right: a damaged file.
    public var report: @Sendable (String) -> Void = { StandardStreams.writeErrorLine("UbiquitousStore: \($0)") }

    public init() {}
  }

  let file: SQLiteFile
  let watchers: SQLiteWatchers

  private struct State {
    var connection: SQLiteConnection?
    var identity: SQLiteFile.Identity?
    /// What the connection last said of others' transactions.
    var dataVersion: Int64?
    /// The files that the connection has beside the file; nil before they are known.
    var companions: [String: SQLiteFile.Identity]?
    /// Whether what was committed may be gone from the file.
    var hasLost = false
    /// Whether the process is done with the file.
    var isClosed = false
  }
  private let lock = Mutex(())
  /// Guarded by the lock.
  nonisolated(unsafe) private var state = State()

  /// - Parameter path: of the file; made when it is first needed.
  public init(path: String, options: Options = Options()) {
    file = SQLiteFile(path: path, options: options)
    watchers = SQLiteWatchers(file)
  }

  public var path: String { file.path }

  /// The file of one application of a user.
  /// - Parameters:
  ///   - application: a name of one path component.
  ///   - dataDirectory: `$XDG_DATA_HOME`, as a rule.
  public static func path(ofApplication application: String, dataDirectory: String) -> String {
    path(ofApplication: application, in: FilePath.join(dataDirectory, "managed-preferences/ubiquity"))
  }

  /// The same below the directory of a user's, a container's or a group's stores.
  public static func path(ofApplication application: String, in directory: String) -> String {
    FilePath.join(directory, "\(application)/store.sqlite")
  }

  // MARK: A back end for the processes of this machine

  public func account() throws(BackEndError) -> String {
    try perform(writes: false) { connection in try self.account(in: connection) }
  }

  public func changes(in store: StoreID, after cursor: StoreCursor?) throws(BackEndError) -> StoreChanges {
    let found = try perform(writes: false) { connection in
      try SQLiteRecords(self.resolved(store, in: connection), in: connection).map { try Self.changes($0, cursor) }
    }
    if let found { return found }
    // Nobody has written the store: its history begins.
    return try perform(writes: true) { connection in
      try Self.changes(SQLiteRecords.make(self.resolved(store, in: connection), in: connection), cursor)
    }
  }

  private static func changes(_ records: SQLiteRecords, _ cursor: StoreCursor?) throws -> StoreChanges {
    if let cursor, cursor.incarnation == records.incarnation, cursor.sequence <= records.sequence,
      cursor.sequence >= records.floorSequence
    {
      return StoreChanges(
        records: try records.records(after: cursor.sequence), cursor: records.cursor, isWhole: false)
    }
    return StoreChanges(
      records: try records.records(after: 0), cursor: records.cursor, isWhole: true, floor: records.floor,
      endsFirstDays: cursor != nil && cursor?.incarnation == records.formerIncarnation)
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
    let (outcomes, tookAny) = try perform(writes: true) { connection -> ([PushOutcome]?, Bool) in
      var records = try SQLiteRecords.make(self.resolved(store, in: connection), in: connection)
      if let incarnation, records.incarnation != incarnation { return (nil, false) }
      var outcomes: [PushOutcome] = []
      let before = records.sequence
      var grows = false
      let now = self.file.options.clock()
      for record in pushed {
        let standing = try records.entry(record.key)
        let outcome = PushOutcome.of(record, standing: standing?.record, now: nil)
        if outcome == .taken && standing?.record.stamp != record.stamp {
          grows = grows || standing == nil || (record.value?.count ?? 0) > (standing?.record.value?.count ?? 0)
          try records.write(
            ReplicaEntry(record: record, isUnsent: true, isKnown: standing?.isKnown ?? false), now: now)
        }
        outcomes.append(outcome)
      }
      let tookAny = records.sequence != before
      if tookAny {
        let options = self.file.options
        try records.collectTombstones(takenBefore: now - options.tombstoneLifetime, most: options.mostTombstones)
      }
      if grows { try self.checkRoom(records, store) }
      return (outcomes, tookAny)
    }
    if tookAny { hint() }
    return outcomes
  }

  public func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch {
    watchers.add(hint, isShared: (try? FileSystemType.of(file.directory))?.isShared ?? false) { [weak self] in
      self?.hasNews() ?? false
    }
  }

  private func checkRoom(_ records: SQLiteRecords, _ store: StoreID) throws {
    let size = try records.size()
    let options = file.options
    if size.rows <= options.mostRows && size.bytes <= options.mostBytes { return }
    throw BackEndError.noRoom(
      "\(path): the store \(store) would have \(size.rows) rows and \(size.bytes) bytes, and at most "
        + "\(options.mostRows) and \(options.mostBytes) are kept; remove keys")
  }

  /// Whether another connection changed the file since the last call, or another file has its name.
  private func hasNews() -> Bool {
    lock.withLock { _ in
      if state.isClosed { return false }
      guard let connection = state.connection, state.identity == file.identity(), lostCompanion() == nil else {
        return true
      }
      let version = try? connection.integer("PRAGMA data_version")
      defer { state.dataVersion = version ?? nil }
      return version == nil || state.dataVersion != version
    }
  }

  // MARK: Near for a far back end

  public func farCursor(of store: StoreID) throws(BackEndError) -> StoreCursor? {
    try perform(writes: false) { connection in try SQLiteRecords(store, in: connection)?.farCursor }
  }

  public func take(
    _ changes: StoreChanges, after asked: StoreCursor?, into store: StoreID
  ) throws(BackEndError) {
    let changed = try perform(writes: true) { connection in
      var records = try SQLiteRecords.make(store, in: connection)
      guard records.farCursor == asked else { return false }
      let before = changes.isWhole ? try records.allEntries() : try records.entries(changes.records.map(\.key))
      var after = before
      _ = after.take(changes, history: .of(asked, changes))
      var changed = try records.write(after, instead: before, now: self.file.options.clock())
      try records.setFarCursor(changes.cursor)
      if asked == nil {
        try records.beginIncarnation()
        changed = true
      }
      return changed
    }
    if changed { hint() }
  }

  public func offer(of store: StoreID) throws(BackEndError) -> [StoreRecord] {
    try perform(writes: true) { connection in
      guard var records = try SQLiteRecords(store, in: connection) else { return [] }
      let before = try records.unsentEntries()
      var after = before
      let offered = after.offer()
      _ = try records.write(after, instead: before, now: self.file.options.clock())
      return offered
    }
  }

  public func acknowledge(
    _ pushed: [StoreRecord], _ outcomes: [PushOutcome], in store: StoreID, clock: inout HybridLogicalClock
  ) throws(BackEndError) {
    var advanced = clock
    let changed = try perform(writes: true) { connection in
      var records = try SQLiteRecords.make(store, in: connection)
      let before = try records.entries(pushed.map(\.key))
      var after = before
      _ = after.acknowledge(pushed, outcomes, clock: &advanced)
      return try records.write(after, instead: before, now: self.file.options.clock())
    }
    clock = advanced
    if changed { hint() }
  }

  public func setAccount(_ account: String) throws(BackEndError) {
    try perform(writes: true) { connection in
      let present = try self.account(in: connection)
      if present == account { return }
      try connection.run("UPDATE accounts SET present = ?", [.text(account)])
      guard present.isEmpty else { return }
      try connection.run("UPDATE accounts SET first = ?", [.text(account)])
      try connection.run("UPDATE stores SET account = ? WHERE account = ''", [.text(account)])
    }
    hint()
  }

  private func hint() {
    watchers.tellOthers()
    watchers.hint()
  }

  private func account(in connection: SQLiteConnection) throws -> String {
    try connection.rows("SELECT present FROM accounts") { row throws(SQLiteError) in row.text(0) ?? "" }.first ?? ""
  }

  /// A store of no account is the first account's once there is one: a process that has not heard of it yet goes on with
  /// the same contents.
  private func resolved(_ store: StoreID, in connection: SQLiteConnection) throws -> StoreID {
    guard store.account.isEmpty else { return store }
    let first = try connection.rows("SELECT first FROM accounts") { row throws(SQLiteError) in row.text(0) ?? "" }
    return StoreID(account: first.first ?? "", application: store.application)
  }

  // MARK: Transactions

  /// Runs one transaction on the file that has the name now, opened where that is not done yet.
  private func perform<R: Sendable>(
    writes: Bool, _ body: (SQLiteConnection) throws -> R
  ) throws(BackEndError) -> R {
    try lock.withLock { _ throws(BackEndError) in
      try file.translating {
        do { return try attempt(writes: writes, body) } catch let error as SQLiteError where error.mayMeanDamage {
          try putRight(error)
          return try attempt(writes: writes, body)
        }
      }
    }
  }

  private func attempt<R>(writes: Bool, _ body: (SQLiteConnection) throws -> R) throws -> R {
    state.isClosed = false
    if state.connection != nil && state.identity != file.identity() { state.connection = nil }
    if state.connection != nil, let lost = lostCompanion() {
      // If no other process has the file open, closing it saves what the lost one held.
      state.connection = nil
      state.hasLost = true
      file.options.report(
        "\(lost) was removed while it was in use; what the processes that are running hold is written to \(path) again")
    }
    if state.connection == nil {
      let opened = try file.open()
      (state.connection, state.identity, state.dataVersion) = (opened.connection, opened.identity, nil)
      state.companions = nil
    }
    let connection = state.connection!
    if state.hasLost {
      try connection.transaction { try SQLiteRecords.renewIncarnations(in: connection) }
      state.hasLost = false
    }
    let result = try connection.transaction(writes: writes) { try body(connection) }
    if state.companions == nil { state.companions = file.companions() }
    return result
  }

  /// The path of a file beside the open one that is gone, or is another one now.
  private func lostCompanion() -> String? {
    guard let known = state.companions else { return nil }
    let present = file.companions()
    return known.filter { present[$0.key] != $0.value }.keys.max().map { path + $0 }
  }

  /// Lets the file go; the next call opens it again. The last process of the machine that does so has everything brought
  /// into the file itself: at most some megabytes, as SQLite does by itself meanwhile.
  public func close() {
    lock.withLock { _ in
      state.connection = nil
      state.isClosed = true
    }
  }

  private func putRight(_ error: SQLiteError) throws(BackEndError) {
    let damaged = state.connection == nil ? file.identity() : state.identity
    state.connection = nil
    if let aside = try file.moveAsideIfDamaged() {
      file.options.report(
        "\(path) is damaged (\(error.message)); it was moved to \(aside), and a new file was begun with what processes "
          + "and the server have")
    } else if damaged == file.identity() {
      throw error.backEndError(path)
    }
  }
}

extension ReplicaHistory {
  /// Of a device that asked a back end between machines.
  static func of(_ asked: StoreCursor?, _ changes: StoreChanges) -> ReplicaHistory {
    guard let asked else { return .none }
    return asked.incarnation == changes.cursor.incarnation ? .known : .otherIncarnation
  }
}
