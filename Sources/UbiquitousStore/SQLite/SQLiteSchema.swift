/// The tables of a store's file, by version. A file of an older version is brought up step by step, in one transaction.
enum SQLiteSchema {
  /// `PRAGMA application_id`: "MPUS".
  static let applicationID: Int64 = 0x4D50_5553

  /// Step N leads from version N to N + 1. Steps that were released are never changed.
  static let steps = [
    """
    CREATE TABLE accounts (present TEXT NOT NULL, first TEXT NOT NULL);
    INSERT INTO accounts VALUES ('', '');
    CREATE TABLE stores (
      id INTEGER PRIMARY KEY,
      account TEXT NOT NULL,
      application TEXT NOT NULL,
      incarnation BLOB NOT NULL,
      former_incarnation BLOB,
      sequence INTEGER NOT NULL DEFAULT 0,
      floor_sequence INTEGER NOT NULL DEFAULT 0,
      floor_time INTEGER, floor_counter INTEGER, floor_device BLOB,
      far_incarnation BLOB, far_sequence INTEGER,
      UNIQUE (account, application)
    );
    CREATE TABLE records (
      store INTEGER NOT NULL REFERENCES stores (id),
      key TEXT NOT NULL,
      value BLOB,
      time INTEGER NOT NULL, counter INTEGER NOT NULL, device BLOB NOT NULL,
      sequence INTEGER NOT NULL,
      taken INTEGER NOT NULL,
      unsent INTEGER NOT NULL,
      known INTEGER NOT NULL,
      UNIQUE (store, key)
    );
    CREATE INDEX changes ON records (store, sequence);
    CREATE INDEX tombstones ON records (store, taken) WHERE value IS NULL;
    CREATE INDEX edits ON records (store, key) WHERE unsent = 1;
    """
  ]

  static var version: Int64 { Int64(steps.count) }

  /// Whether a file of this version has all of its tables and indexes as they were made; it may have others beside them.
  static func isWhole(in connection: SQLiteConnection) throws(SQLiteError) -> Bool {
    try made.get().isSubset(of: objects(in: connection))
  }

  /// What the steps make: SQLite keeps the text that made a table, or changed it, so it can be compared.
  private static let made = Result { () throws(SQLiteError) in
    let connection = try SQLiteConnection(":memory:", busySeconds: 0)
    for step in steps { try connection.execute(step) }
    return try objects(in: connection)
  }

  private static func objects(in connection: SQLiteConnection) throws(SQLiteError) -> Set<String> {
    Set(
      try connection.rows("SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_master") {
        row throws(SQLiteError) in row.text(0) ?? ""
      })
  }
}
