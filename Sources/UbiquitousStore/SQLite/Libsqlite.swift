internal import CSQLite

/// The functions of SQLite, loaded when the first file is opened; nil where the library is not there, with the reason.
enum Libsqlite {
  static let loaded: (functions: libsqlite_functions?, reason: String) = {
    let table = UnsafeMutablePointer<libsqlite_functions>.allocate(capacity: 1)
    defer { table.deallocate() }
    if let reason = libsqlite_load(table) {
      return (
        nil,
        "SQLite 3 can't be loaded: \(String(cString: reason)); install it (on Debian: apt-get install libsqlite3-0)"
      )
    }
    return (table.move(), "")
  }()
}

/// SQLite's result codes, of those that we tell apart; the lowest byte of an extended code.
enum SQLiteCode {
  static let ok: Int32 = 0
  /// Of a statement that can't be carried out: a table is missing, say.
  static let error: Int32 = 1
  static let permission: Int32 = 3
  static let busy: Int32 = 5
  static let locked: Int32 = 6
  static let noMemory: Int32 = 7
  static let readOnly: Int32 = 8
  static let interrupted: Int32 = 9
  static let inputOutput: Int32 = 10
  static let corrupt: Int32 = 11
  static let full: Int32 = 13
  static let cantOpen: Int32 = 14
  static let protocolFailed: Int32 = 15
  static let notAuthorised: Int32 = 23
  static let notADatabase: Int32 = 26
  static let row: Int32 = 100
  static let done: Int32 = 101
}

/// What SQLite said.
struct SQLiteError: Error {
  /// Extended.
  let code: Int32
  let message: String

  var primaryCode: Int32 { code & 0xFF }
  var meansDamage: Bool { primaryCode == SQLiteCode.corrupt || primaryCode == SQLiteCode.notADatabase }
  /// Worth a complete read: a table may be missing.
  var mayMeanDamage: Bool { meansDamage || primaryCode == SQLiteCode.error }

  /// What SQLite's own words leave open.
  private var nextStep: String? {
    // Where the library is missing, the message says what to do.
    if Libsqlite.loaded.functions == nil { return nil }
    return switch primaryCode {
    case SQLiteCode.permission, SQLiteCode.readOnly, SQLiteCode.cantOpen:
      "see who may read and write it and its folder, and what else has its name"
    case SQLiteCode.inputOutput: "see whether its disk is full or fails, and whether the files beside it are its own"
    case SQLiteCode.full: "make room on its disk"
    default: nil
    }
  }

  func backEndError(_ path: String) -> BackEndError {
    let text = "\(path): \(message)" + (nextStep.map { "; \($0)" } ?? "")
    switch primaryCode {
    case SQLiteCode.busy, SQLiteCode.locked, SQLiteCode.noMemory, SQLiteCode.interrupted, SQLiteCode.inputOutput,
      SQLiteCode.protocolFailed:
      return .unreachable(text)
    case SQLiteCode.full: return .noRoom(text)
    case SQLiteCode.permission, SQLiteCode.readOnly, SQLiteCode.cantOpen, SQLiteCode.notAuthorised:
      return .notPermitted(text)
    default: return .unusable(text)
    }
  }
}
