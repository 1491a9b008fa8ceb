import LinuxFiles
public import UbiquitousStore

/// The back end between machines: a database of PostgreSQL's that all machines of a lab reach, and in which each user has a role.
///
/// The account is the role that logs in. Where the server is, as whom to log in and with what comes from libpq's own files: a section
/// of `~/.pg_service.conf` or the system's, `~/.pgpass`, certificates in `~/.postgresql`; on one machine also by peer. It never comes
/// from a policy, which everybody may read. `Documentation/ubiquitous-store-postgresql.md` sets a server up.
///
/// One connection is opened at the first call and kept. Calls take turns on it; one takes at most half a minute, connecting included
/// 40 seconds for each address of the server. An idle watch sends nothing but the kernel's keep-alives.
public final class PostgreSQLBackEnd: StoreBackEnd {
  private let link: Link
  private let hints: HintThread
  /// The name of the service.
  public var service: String { link.service }

  /// Nothing is connected yet.
  ///
  /// - Parameter service: the name of a section of libpq's service files.
  /// - Throws: `unreachable` where the process has no descriptor left.
  public init(service: String) throws(BackEndError) {
    let wakeup: Wakeup
    do { wakeup = try Wakeup() } catch {
      throw .unreachable("the PostgreSQL service \(service) can't be watched: \(error)")
    }
    link = Link(service: service, wakeup: wakeup)
    hints = HintThread(link: link)
  }

  public func account() throws(BackEndError) -> String {
    try perform { _, account throws(ServerFault) in account }
  }

  public func changes(in store: StoreID, after cursor: StoreCursor?) throws(BackEndError) -> StoreChanges {
    try perform(store) { connection throws(ServerFault) in
      let rows = try connection.carryOut([
        .prepared(
          .changes, .bytes(Array(store.application.utf8)), cursor.map { .bytes($0.incarnation.bytes) } ?? .null,
          cursor.map { .integer($0.sequence) } ?? .null)
      ])[0]
      guard rows.count > 0, let incarnation = DeviceID(bytes: rows.bytes(0, 0)) else {
        throw .unusable("the account is gone")
      }
      var records: [StoreRecord] = []
      records.reserveCapacity(rows.count)
      for row in 0..<rows.count where !rows.isNull(row, 6) {
        guard let key = String(validating: rows.bytes(row, 6), as: UTF8.self), let stamp = rows.stamp(row, 8) else {
          throw .unusable("a record is there that no library writes")
        }
        let value = rows.isNull(row, 7) ? nil : rows.bytes(row, 7)
        records.append(StoreRecord(key: StoreKey(key), value: value, stamp: stamp))
      }
      return StoreChanges(
        records: records, cursor: StoreCursor(incarnation: incarnation, sequence: rows.integer(0, 1)),
        isWhole: rows.integer(0, 2) == 0, floor: rows.integer(0, 2) == 0 ? rows.stamp(0, 3) : nil)
    }
  }

  public func push(_ records: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome] {
    if let wrong = RecordCheck.objection(records) { throw .refused(wrong) }
    return try perform(store) { connection throws(ServerFault) in
      if records.isEmpty { return [] }
      let name = Parameter.bytes(Array(store.application.utf8))
      let keys = Parameter.array(.bytes, records.map { .bytes(Array($0.key.text.utf8)) })
      let values = Parameter.array(.bytes, records.map { $0.value.map { .bytes($0) } ?? .null })
      let times = Parameter.array(.bigint, records.map { .integer($0.stamp.time) })
      let counters = Parameter.array(.integer, records.map { .smallInteger($0.stamp.counter) })
      let devices = Parameter.array(.uuid, records.map { .bytes($0.stamp.device.bytes) })
      let rows = try connection.carryOut([
        .prepared(.put, name, keys, values, times, counters, devices),
        .prepared(.outcomes, name, keys, times, counters, devices),
      ])[1]
      // What is not in the answer stands as it was offered.
      var outcomes = [PushOutcome](repeating: .taken, count: records.count)
      for row in 0..<rows.count {
        let offered = Int(rows.integer(row, 0)) - 1
        guard outcomes.indices.contains(offered) else { throw .unusable("an outcome of what was not offered") }
        let standing = rows.stamp(row, 2)
        if let standing, rows.integer(row, 5) != 0 {
          let value = rows.isNull(row, 6) ? nil : rows.bytes(row, 6)
          outcomes[offered] = .superseded(
            by: StoreRecord(key: records[offered].key, value: value, stamp: standing))
        } else {
          outcomes[offered] = .clockAhead(backEndTime: rows.integer(row, 1), standing: standing)
        }
      }
      return outcomes
    }
  }

  public func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch {
    hints.add(store.application, hint)
  }

  private func perform<R: Sendable>(
    _ store: StoreID, _ work: (borrowing Connection) throws(ServerFault) -> R
  ) throws(BackEndError) -> R {
    try perform { connection, account throws(ServerFault) in
      guard store.account == account else { throw .refused("\(store) is not \(account)'s") }
      return try work(connection)
    }
  }

  private func perform<R: Sendable>(
    _ work: (borrowing Connection, String) throws(ServerFault) -> R
  ) throws(BackEndError) -> R {
    do {
      let (result, hinted) = try link.perform(work)
      hints.hint(hinted)
      return result
    } catch {
      throw BackEndError(error, service: link.service)
    }
  }
}

extension Rows {
  /// The stamp in three columns; nil where there is none.
  fileprivate func stamp(_ row: Int, _ column: Int) -> Stamp? {
    guard !isNull(row, column), let device = DeviceID(bytes: bytes(row, column + 2)) else { return nil }
    return Stamp(
      time: integer(row, column), counter: Int32(truncatingIfNeeded: integer(row, column + 1)), device: device)
  }
}
