/// The rows of one store in its file, within a transaction.
///
/// The law: a file is not believed. Whatever is read is held against what this program writes, numbers before anything is
/// counted on from them; what it would not have written is damage (`SQLITE_CORRUPT`).
struct SQLiteRecords {
  let connection: SQLiteConnection
  let row: Int64
  private(set) var incarnation: DeviceID
  private(set) var formerIncarnation: DeviceID?
  private(set) var sequence: Int64
  private(set) var floorSequence: Int64
  private(set) var floor: Stamp?
  private(set) var farCursor: StoreCursor?

  /// Above what transactions can have counted, and far enough from the end of the numbers to be counted on from.
  static let greatestSequence: Int64 = 1 << 62

  // MARK: The store's row

  /// - Returns: nil where nobody wrote the store yet.
  init?(_ store: StoreID, in connection: SQLiteConnection) throws(SQLiteError) {
    let found = try connection.rows(
      """
      SELECT id, incarnation, former_incarnation, sequence, floor_sequence, floor_time, floor_counter, floor_device,
        far_incarnation, far_sequence FROM stores WHERE account = ? AND application = ?
      """, [.text(store.account), .text(store.application)]
    ) { row throws(SQLiteError) -> Self in
      guard let id = row.integer(0), let incarnation = row.device(1), let sequence = row.integer(3),
        let floorSequence = row.integer(4), (0..<Self.greatestSequence).contains(sequence),
        (0...sequence).contains(floorSequence), row.isNull(2) || row.device(2) != nil,
        (5...7).allSatisfy(row.isNull) || row.stamp(from: 5) != nil,
        row.isNull(8) && row.isNull(9) || row.device(8) != nil && row.integer(9) ?? -1 >= 0
      else { throw Self.nonsense("stores") }
      var records = Self(connection: connection, row: id, incarnation: incarnation, sequence: sequence)
      records.formerIncarnation = row.device(2)
      records.floorSequence = floorSequence
      records.floor = row.stamp(from: 5)
      if let incarnation = row.device(8), let sequence = row.integer(9) {
        records.farCursor = StoreCursor(incarnation: incarnation, sequence: sequence)
      }
      return records
    }
    guard let records = found.first else { return nil }
    self = records
  }

  private init(connection: SQLiteConnection, row: Int64, incarnation: DeviceID, sequence: Int64) {
    self.connection = connection
    self.row = row
    self.incarnation = incarnation
    self.sequence = sequence
    floorSequence = 0
  }

  /// The store's row, made where it is not there.
  static func make(_ store: StoreID, in connection: SQLiteConnection) throws(SQLiteError) -> SQLiteRecords {
    if let records = try SQLiteRecords(store, in: connection) { return records }
    try connection.run(
      "INSERT INTO stores (account, application, incarnation) VALUES (?, ?, ?)",
      [.text(store.account), .text(store.application), .blob(DeviceID.random().bytes)])
    guard let records = try SQLiteRecords(store, in: connection) else { throw nonsense("stores") }
    return records
  }

  static func nonsense(_ table: String) -> SQLiteError {
    SQLiteError(code: SQLiteCode.corrupt, message: "a row of \(table) holds what no version of this program wrote")
  }

  var cursor: StoreCursor { StoreCursor(incarnation: incarnation, sequence: sequence) }

  mutating func setFarCursor(_ cursor: StoreCursor) throws(SQLiteError) {
    if farCursor == cursor { return }
    farCursor = cursor
    try connection.run(
      "UPDATE stores SET far_incarnation = ?, far_sequence = ? WHERE id = ?",
      [.blob(cursor.incarnation.bytes), .integer(cursor.sequence), .integer(row)])
  }

  /// Readers are told with whole contents that the store's first days have ended.
  mutating func beginIncarnation() throws(SQLiteError) {
    formerIncarnation = incarnation
    incarnation = .random()
    try connection.run(
      "UPDATE stores SET incarnation = ?, former_incarnation = ? WHERE id = ?",
      [.blob(incarnation.bytes), .blob(formerIncarnation!.bytes), .integer(row)])
  }

  /// Says of all stores in the file that it may have lost what it knew, so that whoever has more in memory offers it again.
  static func renewIncarnations(in connection: SQLiteConnection) throws(SQLiteError) {
    let stores = try connection.rows("SELECT id FROM stores") { row throws(SQLiteError) in row.integer(0) }
    for case let store? in stores {
      try connection.run(
        "UPDATE stores SET incarnation = ? WHERE id = ?", [.blob(DeviceID.random().bytes), .integer(store)])
    }
  }

  // MARK: Records

  private static let columns = "key, value, time, counter, device, unsent, known, sequence, taken"

  private func entry(_ row: SQLiteRow) throws(SQLiteError) -> ReplicaEntry {
    guard let key = row.text(0), let stamp = row.stamp(from: 2), let unsent = row.integer(5),
      let known = row.integer(6), (0...1).contains(unsent), (0...1).contains(known), let number = row.integer(7),
      number >= 1, number <= sequence, row.integer(8) != nil
    else { throw Self.nonsense("records") }
    return ReplicaEntry(
      record: StoreRecord(key: StoreKey(key), value: row.blob(1), stamp: stamp), isUnsent: unsent != 0,
      isKnown: known != 0)
  }

  func entry(_ key: StoreKey) throws(SQLiteError) -> ReplicaEntry? {
    try connection.rows(
      "SELECT \(Self.columns) FROM records WHERE store = ? AND key = ?", [.integer(row), .text(key.text)], entry
    ).first
  }

  func allEntries() throws(SQLiteError) -> ReplicaEntries {
    ReplicaEntries(
      try connection.rows("SELECT \(Self.columns) FROM records WHERE store = ?", [.integer(row)], entry))
  }

  func unsentEntries() throws(SQLiteError) -> ReplicaEntries {
    ReplicaEntries(
      try connection.rows(
        "SELECT \(Self.columns) FROM records WHERE store = ? AND unsent = 1", [.integer(row)], entry))
  }

  func entries(_ keys: some Sequence<StoreKey>) throws(SQLiteError) -> ReplicaEntries {
    var entries = ReplicaEntries()
    for key in keys { entries[key] = try entry(key) }
    return entries
  }

  func records(after sequence: Int64) throws(SQLiteError) -> [StoreRecord] {
    try connection.rows(
      "SELECT \(Self.columns) FROM records WHERE store = ? AND sequence > ? ORDER BY sequence",
      [.integer(row), .integer(sequence)]
    ) { row throws(SQLiteError) in try entry(row).record }
  }

  /// Writes an entry; its record gets the next number.
  mutating func write(_ entry: ReplicaEntry, now: Int64) throws(SQLiteError) {
    sequence += 1
    let stamp = entry.record.stamp
    try connection.run(
      """
      INSERT INTO records (store, key, value, time, counter, device, sequence, taken, unsent, known)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (store, key) DO UPDATE SET value = excluded.value, time = excluded.time,
          counter = excluded.counter, device = excluded.device, sequence = excluded.sequence, taken = excluded.taken,
          unsent = excluded.unsent, known = excluded.known
      """,
      [
        .integer(row), .text(entry.record.key.text), entry.record.value.map { .blob($0) } ?? .null,
        .integer(stamp.time), .integer(Int64(stamp.counter)), .blob(stamp.device.bytes), .integer(sequence),
        .integer(now), .integer(entry.isUnsent ? 1 : 0), .integer(entry.isKnown ? 1 : 0),
      ])
    try connection.run("UPDATE stores SET sequence = ? WHERE id = ?", [.integer(sequence), .integer(row)])
  }

  /// Writes what differs between two states of some entries. An entry that is gone leaves a tombstone that nobody else
  /// need hear of, so that readers are told.
  /// - Returns: whether a record changed.
  mutating func write(
    _ after: ReplicaEntries, instead before: ReplicaEntries, now: Int64
  ) throws(SQLiteError) -> Bool {
    let sequenceBefore = sequence
    for key in Set(before.byKey.keys).union(after.byKey.keys).sorted() {
      let (old, new) = (before[key], after[key])
      if old == new { continue }
      if let new, new.record == old?.record {
        try connection.run(
          "UPDATE records SET unsent = ?, known = ? WHERE store = ? AND key = ?",
          [.integer(new.isUnsent ? 1 : 0), .integer(new.isKnown ? 1 : 0), .integer(row), .text(key.text)])
      } else if let new {
        try write(new, now: now)
      } else if let old {
        let gone = StoreRecord(key: key, value: nil, stamp: old.record.stamp)
        let tombstone = ReplicaEntry(record: gone, isUnsent: false, isKnown: false)
        if tombstone != old { try write(tombstone, now: now) }
      }
    }
    return sequence != sequenceBefore
  }

  // MARK: Room and age

  /// Rows, and bytes of values.
  func size() throws(SQLiteError) -> (rows: Int64, bytes: Int64) {
    try connection.rows(
      "SELECT count(*), coalesce(sum(length(value)), 0) FROM records WHERE store = ?", [.integer(row)]
    ) { row throws(SQLiteError) in (row.integer(0) ?? 0, row.integer(1) ?? 0) }.first ?? (0, 0)
  }

  /// Collects tombstones that were taken before a time, and the oldest where there are more than `most`. One that a far
  /// back end knows the key of and has not acknowledged stays.
  mutating func collectTombstones(takenBefore time: Int64, most: Int64) throws(SQLiteError) {
    let condition = "store = ? AND value IS NULL AND NOT (unsent = 1 AND known = 1)"
    var time = time
    let count =
      try connection.integer("SELECT count(*) FROM records WHERE store = ? AND value IS NULL", [.integer(row)]) ?? 0
    if count > most {
      let oldest = try connection.integer(
        "SELECT taken FROM records WHERE \(condition) ORDER BY taken LIMIT 1 OFFSET ?",
        [.integer(row), .integer(count - most / 2)])
      time = max(time, oldest ?? time)
    }
    let collected = try connection.rows(
      "SELECT time, counter, device, sequence FROM records WHERE \(condition) AND taken < ?",
      [.integer(row), .integer(time)]
    ) { row throws(SQLiteError) -> (Stamp, Int64) in
      guard let stamp = row.stamp(from: 0), let sequence = row.integer(3), sequence >= 1, sequence <= self.sequence
      else { throw Self.nonsense("records") }
      return (stamp, sequence)
    }
    guard let greatest = collected.map(\.0).max(), let last = collected.map(\.1).max() else { return }
    try connection.run("DELETE FROM records WHERE \(condition) AND taken < ?", [.integer(row), .integer(time)])
    floorSequence = max(floorSequence, last)
    floor = max(floor ?? greatest, greatest)
    try connection.run(
      "UPDATE stores SET floor_sequence = ?, floor_time = ?, floor_counter = ?, floor_device = ? WHERE id = ?",
      [
        .integer(floorSequence), .integer(floor!.time), .integer(Int64(floor!.counter)), .blob(floor!.device.bytes),
        .integer(row),
      ])
  }
}
