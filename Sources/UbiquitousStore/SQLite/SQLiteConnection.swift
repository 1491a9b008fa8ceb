internal import CSQLite

/// A value of SQLite's, without reals, which we do not store.
enum SQLiteValue {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])
}

/// An open database file, closed when its owner goes. For one thread at a time.
final class SQLiteConnection {
  private let sqlite: libsqlite_functions
  private let connection: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]

  /// Opens a file that is there.
  /// - Parameter busySeconds: how long to wait for other processes' transactions.
  init(_ path: String, busySeconds: Double) throws(SQLiteError) {
    guard let sqlite = Libsqlite.loaded.functions else {
      throw SQLiteError(code: SQLiteCode.cantOpen, message: Libsqlite.loaded.reason)
    }
    self.sqlite = sqlite
    let readWrite: Int32 = 0x2
    // One thread at a time: the caller's lock is enough.
    let noMutex: Int32 = 0x8000
    var opened: OpaquePointer?
    let code = sqlite.sqlite3_open_v2(path, &opened, readWrite | noMutex, nil)
    guard code == SQLiteCode.ok, let opened else {
      let text = String(cString: sqlite.sqlite3_errstr(code))
      _ = sqlite.sqlite3_close_v2(opened)
      throw SQLiteError(code: code, message: "can't be opened: \(text)")
    }
    connection = opened
    _ = sqlite.sqlite3_busy_timeout(opened, Int32(busySeconds * 1000))
  }

  deinit {
    for statement in statements.values { _ = sqlite.sqlite3_finalize(statement) }
    _ = sqlite.sqlite3_close_v2(connection)
  }

  /// Statements without values or answers, several at once.
  func execute(_ sql: String) throws(SQLiteError) {
    if sqlite.sqlite3_exec(connection, sql, nil, nil, nil) != SQLiteCode.ok { throw failure() }
  }

  /// One statement, which is kept prepared.
  func run(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
    _ = try rows(sql, values) { _ in }
  }

  /// What a statement answers. `row` is called for each row.
  func rows<R>(
    _ sql: String, _ values: [SQLiteValue] = [], _ row: (SQLiteRow) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> [R] {
    let statement = try prepared(sql)
    defer { _ = sqlite.sqlite3_reset(statement) }
    for (index, value) in values.enumerated() { try bind(value, Int32(index + 1), statement) }
    var rows: [R] = []
    while true {
      switch sqlite.sqlite3_step(statement) {
      case SQLiteCode.row: rows.append(try row(SQLiteRow(sqlite: sqlite, statement: statement)))
      case SQLiteCode.done: return rows
      default: throw failure()
      }
    }
  }

  /// The first column of the first row as an integer.
  func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> Int64? {
    try rows(sql, values) { row throws(SQLiteError) in row.integer(0) }.first ?? nil
  }

  /// All of it or none, and what is read in it belongs together.
  /// - Parameter writes: takes the writers' lock from the start.
  func transaction<R>(writes: Bool = true, _ body: () throws -> R) throws -> R {
    try execute(writes ? "BEGIN IMMEDIATE" : "BEGIN")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // Some errors have rolled it back already.
      if sqlite.sqlite3_get_autocommit(connection) == 0 { try? execute("ROLLBACK") }
      throw error
    }
  }

  private func prepared(_ sql: String) throws(SQLiteError) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    guard sqlite.sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLiteCode.ok, let statement else {
      throw failure()
    }
    statements[sql] = statement
    return statement
  }

  private func bind(_ value: SQLiteValue, _ index: Int32, _ statement: OpaquePointer) throws(SQLiteError) {
    let copied = -1
    let code =
      switch value {
      case .null: sqlite.sqlite3_bind_null(statement, index)
      case .integer(let number): sqlite.sqlite3_bind_int64(statement, index, number)
      case .text(let text): sqlite.sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copied)
      case .blob(let bytes):
        // An empty array may have no address, and a null pointer would be NULL.
        (bytes.isEmpty ? [0] : bytes).withUnsafeBytes {
          sqlite.sqlite3_bind_blob(statement, index, $0.baseAddress!, Int32(bytes.count), copied)
        }
      }
    if code != SQLiteCode.ok { throw failure() }
  }

  private func failure() -> SQLiteError {
    SQLiteError(
      code: sqlite.sqlite3_extended_errcode(connection), message: String(cString: sqlite.sqlite3_errmsg(connection)))
  }
}

/// One row of an answer, valid within the call that gets it.
struct SQLiteRow {
  fileprivate let sqlite: libsqlite_functions
  fileprivate let statement: OpaquePointer

  func isNull(_ column: Int32) -> Bool { sqlite.sqlite3_column_type(statement, column) == 5 }

  /// nil also for what is no integer: SQLite keeps what it is given, whatever a column is declared to be.
  func integer(_ column: Int32) -> Int64? {
    sqlite.sqlite3_column_type(statement, column) == 1 ? sqlite.sqlite3_column_int64(statement, column) : nil
  }

  func blob(_ column: Int32) -> [UInt8]? {
    if isNull(column) { return nil }
    guard let bytes = sqlite.sqlite3_column_blob(statement, column) else { return [] }
    let count = Int(sqlite.sqlite3_column_bytes(statement, column))
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// nil also for what is not UTF-8.
  func text(_ column: Int32) -> String? { blob(column).flatMap { String(validating: $0, as: UTF8.self) } }

  func device(_ column: Int32) -> DeviceID? { blob(column).flatMap { DeviceID(bytes: $0) } }

  /// A stamp in three columns.
  func stamp(from column: Int32) -> Stamp? {
    guard let time = integer(column), let counter = integer(column + 1).flatMap({ Int32(exactly: $0) }),
      let device = device(column + 2), (0...Stamp.greatestTime).contains(time), counter >= 0
    else { return nil }
    return Stamp(time: time, counter: counter, device: device)
  }
}
