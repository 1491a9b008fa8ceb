internal import LinuxFiles

/// A store's file on the disk: making it, opening it, telling whether it is still the one under its name, and moving a
/// damaged one aside.
struct SQLiteFile {
  let path: String
  let options: SQLiteBackEnd.Options

  var directory: String { FilePath.parent(of: path) }

  /// What tells two files under one name apart.
  struct Identity: Equatable {
    let device: UInt64
    let inode: UInt64
  }

  /// nil where there is none.
  func identity() -> Identity? { identity(of: path) }

  private func identity(of path: String) -> Identity? {
    guard let metadata = try? FileMetadata.of(path) else { return nil }
    return Identity(device: metadata.device, inode: metadata.inode)
  }

  /// The files that SQLite has beside this one as long as it is open, by their ends: the log of what was committed last, and its
  /// index. Without the log, what it holds is nowhere but in the processes that have it open.
  func companions() -> [String: Identity] {
    var found: [String: Identity] = [:]
    for suffix in ["-wal", "-shm"] { found[suffix] = identity(of: path + suffix) }
    return found
  }

  // MARK: Opening

  /// Opens the file, after making what is missing, and brings its tables to this program's version.
  /// - Throws: `SQLiteError` as well as `BackEndError`, so that damage can be put right.
  func open() throws -> (connection: SQLiteConnection, identity: Identity) {
    do throws(FileError) {
      try makeDirectory()
      try refusePipes()
      try makeEmpty()
    } catch {
      throw Self.backEndError(error)
    }
    guard let identity = identity() else {
      if (try? FileMetadata.of(path, followingLinks: false))?.isSymbolicLink == true {
        throw BackEndError.notPermitted(
          "\(path): it is a link to a file that is not there; remove the link, or put back what it leads to")
      }
      throw BackEndError.unreachable("\(path): somebody removed it while it was opened; it is tried again")
    }
    let connection = try SQLiteConnection(path, busySeconds: options.busySeconds)
    try prepare(connection)
    return (connection, identity)
  }

  /// Makes the folder. Below the anchor nothing may be a link, the files included: each could lead to anybody's file.
  func makeDirectory() throws(FileError) {
    try ForeignDirectory.refuse(directory)
    guard let anchor = options.anchor else {
      try Directory.createAll(directory, mode: 0o700)
      return
    }
    let folder = try OpenDirectory(directory, below: anchor, creating: 0o700)
    for suffix in Self.suffixes {
      let name = FilePath.name(of: path) + suffix
      guard let found = try? folder.metadata(of: name), found.isSymbolicLink else { continue }
      throw FileError("open", path: path + suffix, errno: .tooManySymbolicLinks)
    }
  }

  /// Of the file itself, and of those that SQLite has beside it.
  private static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// Who opens a pipe waits for another; SQLite opens the files beside its own.
  private func refusePipes() throws(FileError) {
    for suffix in Self.suffixes where (try? FileMetadata.of(path + suffix))?.isPipe == true {
      throw FileError("open the pipe", path: path + suffix, errno: .notPermitted)
    }
  }

  /// An empty file with the rights that SQLite gives to the files beside it. One that is there is not opened: closing it
  /// would drop the locks that SQLite has on it in this process.
  private func makeEmpty() throws(FileError) {
    if (try? FileMetadata.of(path)) != nil { return }
    do throws(FileError) {
      _ = try FileDescriptor.open(path, [.writeOnly, .create, .exclusive], mode: 0o600)
    } catch {
      if error.errno != .fileExists { throw error }
    }
  }

  private func prepare(_ connection: SQLiteConnection) throws {
    let isShared = (try? FileSystemType.of(path))?.isShared ?? false
    // A power cut costs nothing that was acknowledged; tests may do without.
    try connection.execute("PRAGMA synchronous = \(options.isDurable ? "FULL" : "OFF"); PRAGMA trusted_schema = OFF")
    // Nothing is changed, the way of journalling included, in a file that is not known to be ours.
    if try connection.transaction(writes: false, { try isReady(connection) }) { return }
    // Readers and a writer side by side need memory that they share, which a network's file systems do not have.
    if !isShared {
      do throws(SQLiteError) { try connection.run("PRAGMA journal_mode = WAL") } catch {
        // Another process is making the same tables; the next one to open the file may do it.
        if error.primaryCode != SQLiteCode.busy { throw error }
      }
    }
    try connection.transaction {
      if try isReady(connection) { return }
      let version = try connection.integer("PRAGMA user_version") ?? 0
      for step in SQLiteSchema.steps[Int(version)...] { try connection.execute(step) }
      try connection.execute(
        "PRAGMA application_id = \(SQLiteSchema.applicationID); PRAGMA user_version = \(SQLiteSchema.version)")
    }
  }

  /// Whether the tables are there, in this program's version; else they are to be made or brought up: there is nothing in
  /// the file at all, or what an older version made.
  private func isReady(_ connection: SQLiteConnection) throws -> Bool {
    let version = try connection.integer("PRAGMA user_version") ?? 0
    guard try isOurs(connection) else {
      let isEmpty = try version == 0 && connection.integer("SELECT count(*) FROM sqlite_master") == 0
      if isEmpty, try connection.integer("PRAGMA application_id") == 0 { return false }
      throw BackEndError.unusable("\(path): it is a database of another program; move it away")
    }
    if version > SQLiteSchema.version {
      throw BackEndError.unusable(
        "\(path): it is of version \(version), and this program knows versions up to \(SQLiteSchema.version); "
          + "use a newer program")
    }
    if try isUnwritten(version, connection) {
      throw SQLiteError(code: SQLiteCode.corrupt, message: "its tables are not those that this program makes")
    }
    return version == SQLiteSchema.version
  }

  /// Whether a file of ours is one that no version of this program makes: its name and its tables are written in one.
  private func isUnwritten(_ version: Int64, _ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
    if version < 1 { return true }
    if version != SQLiteSchema.version { return false }
    return try !SQLiteSchema.isWhole(in: connection)
  }

  private func isOurs(_ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
    let id = try connection.integer("PRAGMA application_id") ?? 0
    return id == SQLiteSchema.applicationID
  }

  // MARK: Damage

  /// Moves the file aside if it is damaged: a complete read says so, and no error of the disk came between.
  ///
  /// Call it with no connection of this process open on the file.
  /// - Returns: where the damaged file is now; nil where it is sound, or another process was faster.
  func moveAsideIfDamaged() throws(BackEndError) -> String? {
    do throws(FileError) {
      let lock = try FileLock.exclusive(path + ".repair", timeout: options.busySeconds)
      guard identity() != nil, try isDamaged() else { return nil }
      let aside = "\(path).damaged-\(WallClock.unixMilliseconds())"
      // The journal first: what SQLite would find beside a new file of this name is not that file's.
      for end in Self.suffixes.dropFirst() where (try? FileMetadata.of(path + end)) != nil {
        try Directory.rename(path + end, to: aside + end)
      }
      try Directory.rename(path, to: aside)
      _ = consume lock
      return aside
    } catch {
      throw Self.backEndError(error)
    }
  }

  /// - Throws: nothing where the question can't be answered: then the file counts as sound.
  private func isDamaged() throws(FileError) -> Bool {
    do throws(SQLiteError) {
      let connection = try SQLiteConnection(path, busySeconds: options.busySeconds)
      let answers = try connection.rows("PRAGMA integrity_check(1)") { row throws(SQLiteError) in row.text(0) }
      if answers != ["ok"] { return true }
      // Sound for SQLite, and yet not what we wrote.
      guard try isOurs(connection) else { return false }
      let version = try connection.integer("PRAGMA user_version") ?? 0
      if try isUnwritten(version, connection) { return true }
      if version == SQLiteSchema.version {
        let stores = try connection.rows("SELECT account, application FROM stores") { row throws(SQLiteError) in
          guard let account = row.text(0), let application = row.text(1) else { throw SQLiteRecords.nonsense("stores") }
          return StoreID(account: account, application: application)
        }
        for store in stores { _ = try SQLiteRecords(store, in: connection)?.allEntries() }
      }
      return false
    } catch {
      return error.meansDamage
    }
  }

  // MARK: Errors

  static func backEndError(_ error: FileError) -> BackEndError {
    switch error.errno {
    case .permissionDenied, .notPermitted, .readOnlyFileSystem, .notDirectory, .tooManySymbolicLinks:
      .notPermitted("\(error)")
    case .fileExists: .notPermitted("\(error); move away what has the folder's name")
    case .noSpace, .quotaExceeded: .noRoom("\(error)")
    default: .unreachable("\(error)")
    }
  }

  func translating<R>(_ body: () throws -> R) throws(BackEndError) -> R {
    do { return try body() } catch let error as BackEndError { throw error } catch let error as SQLiteError {
      throw error.backEndError(path)
    } catch {
      throw .unusable("\(path): \(error)")
    }
  }
}
