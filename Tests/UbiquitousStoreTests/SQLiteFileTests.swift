import Foundation
import LinuxFiles
import PropertyList
import Synchronization
import TestPrograms
import Testing

@testable import UbiquitousStore

@Suite struct SQLiteFileTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/ubiquity/store.sqlite" }
  private let reports = Reports()
  private let store = StoreID(account: "", application: "com.example.Peer")

  final class Reports: Sendable {
    let texts = Mutex<[String]>([])
  }

  init() throws { folder = try TemporaryFolder() }

  private func backEnd(busySeconds: Double = 5) -> SQLiteBackEnd {
    var options = SQLiteBackEnd.Options()
    options.busySeconds = busySeconds
    options.report = { [reports] text in reports.texts.withLock { $0.append(text) } }
    return SQLiteBackEnd(path: path, options: options)
  }

  private func record(_ key: StoreKey, _ byte: UInt8, time: Int64 = 1) -> StoreRecord {
    StoreRecord(key: key, value: [byte], stamp: Stamp(time: time, counter: 0, device: DeviceID(high: 0, low: 0)))
  }

  private func failure(_ body: () throws(BackEndError) -> Void) -> BackEndError? {
    do throws(BackEndError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test func onlyItsUserCanReadTheFile() throws {
    let backEnd = self.backEnd()
    _ = try backEnd.push([record("k", 1)], to: store)
    #expect(try FileMetadata.of(folder.path + "/ubiquity").mode & 0o777 == 0o700)
    for end in ["", "-wal", "-shm"] { #expect(try FileMetadata.of(path + end).mode & 0o777 == 0o600) }
  }

  @Test func whatWasTakenIsThereForTheNext() throws {
    _ = try backEnd().push([record("k", 1)], to: store)
    #expect(try backEnd().changes(in: store, after: nil).records == [record("k", 1)])
  }

  @Test(arguments: [
    "no database at all", "zeros in the middle", "UPDATE records SET device = 'x' WHERE key = 'key 7'",
    "UPDATE stores SET sequence = 9223372036854775807", "UPDATE stores SET sequence = -1",
    "UPDATE stores SET sequence = 'x'", "UPDATE stores SET sequence = 1e300", "UPDATE stores SET sequence = 7",
    "UPDATE stores SET floor_sequence = 9223372036854775807", "UPDATE stores SET floor_time = -1",
    "UPDATE stores SET far_sequence = 9223372036854775807", "UPDATE stores SET former_incarnation = 'x'",
    "UPDATE records SET sequence = 9223372036854775807 WHERE key = 'key 7'",
    "UPDATE records SET time = 9223372036854775807 WHERE key = 'key 7'",
    "UPDATE records SET counter = 2147483648 WHERE key = 'key 7'", "UPDATE records SET counter = -1",
    "UPDATE records SET taken = 'x' WHERE key = 'key 7'", "UPDATE records SET unsent = 2 WHERE key = 'key 7'",
    "DROP TABLE records", "DROP TABLE accounts", "DROP INDEX changes", "ALTER TABLE stores RENAME TO shops",
    "ALTER TABLE records RENAME COLUMN taken TO given", "PRAGMA user_version = 0", "PRAGMA user_version = -1",
  ])
  func aDamagedFileIsMovedAside(how: String) throws {
    do {
      let backEnd = self.backEnd()
      for number in 0..<200 {
        _ = try backEnd.push([record(StoreKey("key \(number)"), 1, time: Int64(number))], to: store)
      }
    }
    switch how {
    case "no database at all":
      for end in ["-wal", "-shm"] { try? Directory.removeFile(path + end) }
      try AtomicReplacement.write(Array("garbage, and more of it".utf8), to: path, mode: 0o600)
    case "zeros in the middle":
      let connection = try SQLiteConnection(path, busySeconds: 1)
      try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
      let file = try FileDescriptor.open(path, [.readWrite])
      for page in 2..<8 { try file.write([UInt8](repeating: 0, count: 4096), at: page * 4096) }
    default:
      let connection = try SQLiteConnection(path, busySeconds: 1)
      try connection.execute(how)
    }
    let backEnd = self.backEnd()
    #expect(try backEnd.changes(in: store, after: nil).records == [])
    #expect(try backEnd.push([record("k", 1)], to: store) == [.taken])
    let aside = try Directory.names(in: folder.path + "/ubiquity").filter { name in
      name.hasPrefix("store.sqlite.damaged-") && !name.hasSuffix("-wal") && !name.hasSuffix("-shm")
    }
    #expect(aside.count == 1)
    let texts = reports.texts.withLock { $0 }
    #expect(texts.count == 1)
    #expect(texts.first?.hasPrefix("\(path) is damaged (") == true)
    let end =
      "it was moved to \(folder.path)/ubiquity/\(aside.first ?? ""), and a new file was begun with what processes and the server have"
    #expect(texts.first?.hasSuffix(end) == true, "\(texts)")
  }

  @Test func processesBringTheContentsOfADamagedFileBack() throws {
    let store = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    try store.set("k", to: .string("v"))
    #expect(store.synchronize())
    try undisturbed(store) {
      for end in ["-wal", "-shm"] { try? Directory.removeFile(path + end) }
      try AtomicReplacement.write(Array("garbage, and more of it".utf8), to: path, mode: 0o600)
    }
    #expect(store.synchronize())
    #expect(store.value("k") == .string("v"))
    let other = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    #expect(other.value("k") == .string("v"))
  }

  /// What SQLite has beside the file holds what was saved last: without it, the processes that run bring that back.
  @Test(arguments: [["-wal"], ["-shm"], ["-wal", "-shm"]]) func aLostLogIsNoticedAndSaid(ends: [String]) throws {
    let store = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    try store.set("k", to: .string("v"))
    #expect(store.synchronize())
    try undisturbed(store) { for end in ends { try Directory.removeFile(path + end) } }
    try store.set("l", to: .string("w"))
    #expect(store.synchronize())
    let end = " was removed while it was in use; what the processes that are running hold is written to \(path) again"
    #expect(reports.texts.withLock { $0 } == [path + (ends.first ?? "") + end])
    #expect(store.dictionary().map(\.key) == ["k", "l"])
    let other = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    #expect(other.dictionary().map(\.key) == ["k", "l"])
    #expect(store.synchronize())
    #expect(reports.texts.withLock { $0.count } == 1)
  }

  /// The file itself had an older state, which must not take from processes what came after.
  @Test func anOlderFileTakesNothingBack() throws {
    let store = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    try store.set("k", to: .string("v"))
    #expect(store.synchronize())
    let older = try undisturbed(store) {
      try SQLiteConnection(path, busySeconds: 1).run("PRAGMA wal_checkpoint(TRUNCATE)")
      return try WholeFile.read(path).bytes
    }
    try store.set("l", to: .string("w"))
    #expect(store.synchronize())
    try undisturbed(store) {
      for end in ["-wal", "-shm"] { try Directory.removeFile(path + end) }
      // As if other processes had kept this one from saving the log when it closed the file.
      try FileDescriptor.open(path, [.readWrite]).write(older, at: 0)
    }
    #expect(store.synchronize())
    #expect(store.dictionary().map(\.key) == ["k", "l"])
    let other = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    #expect(other.dictionary().map(\.key) == ["k", "l"])
  }

  /// A watch begins on a thread of its own. Whoever looked at the file before, and is told of nothing, would never see what another
  /// process did meanwhile.
  @Test func aWatchHintsOnceWhenItHasBegun() async throws {
    let hints = Mutex(0)
    let backEnd = backEnd()
    _ = try backEnd.account()
    let watch = backEnd.watch(store) { hints.withLock { $0 += 1 } }
    try await until { hints.withLock { $0 } > 0 }
    _ = watch
  }

  /// Another process has the log open too.
  @Test(arguments: [["-wal"], ["-wal", "-shm"]]) func aLogThatSeveralProcessesLoseIsWrittenAgain(
    ends: [String]
  ) async throws {
    let follower = try peer(["follow", path, "k"])
    #expect(follower.line() == "ready")
    let store = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    try store.set("k", to: .string("v"))
    #expect(store.synchronize())
    #expect(follower.line() == "v")
    for end in ends { try Directory.removeFile(path + end) }
    try await until { store.synchronize() }
    try store.set("k", to: .string("w"))
    try await until { store.synchronize() }
    #expect(follower.line() == "w")
    follower.endInput()
    #expect(follower.wait() == 0)
    try await until { store.synchronize() }
    let other = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    #expect(other.value("k") == .string("w"))
  }

  /// A copy of the file that is made while no program runs is whole.
  @Test func aNormalEndLeavesOneFile() throws {
    #expect(try peer(["set", path, "k", "v"]).wait() == 0)
    #expect(throws: FileError.self) { try FileMetadata.of(path + "-wal") }
    let store = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    #expect(store.value("k") == .string("v"))
    try store.set("k", to: .string("w"))
    store.close()
    #expect(throws: FileError.self) { try FileMetadata.of(path + "-wal") }
    let copy = folder.path + "/copy.sqlite"
    try AtomicReplacement.write(try WholeFile.read(path).bytes, to: copy, mode: 0o600)
    let copied = SyncedStore(
      application: "com.example.Peer", backEnd: SQLiteBackEnd(path: copy), options: quiet)
    #expect(copied.value("k") == .string("w"))
  }

  /// The store's thread may have been told of something just before the process ended.
  @Test func whatIsLetGoAtTheEndIsNotOpenedAgain() throws {
    let store = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    try store.set("k", to: .string("v"))
    #expect(store.synchronize())
    store.letGo()
    #expect(store.saveAndTakeIn(onOwnThread: true))
    #expect(throws: FileError.self) { try FileMetadata.of(path + "-wal") }
    // For the sake of an edit it is.
    try store.set("k", to: .string("w"))
    #expect(store.saveAndTakeIn(onOwnThread: true))
    let other = SyncedStore(application: "com.example.Peer", backEnd: backEnd(), options: quiet)
    #expect(other.value("k") == .string("w"))
  }

  @Test func whatIsInTheWayIsSaidWithWhatToDo() throws {
    let ubiquity = folder.path + "/ubiquity"
    try AtomicReplacement.write([], to: ubiquity, mode: 0o600)
    #expect(
      failure { () throws(BackEndError) in _ = try backEnd().account() }
        == .notPermitted("cannot create directory \(ubiquity): File exists; move away what has the folder's name"))
    try Directory.removeFile(ubiquity)
    try Directory.createAll(ubiquity)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: ubiquity + "/nothing")
    #expect(
      failure { () throws(BackEndError) in _ = try backEnd().account() }
        == .notPermitted(
          "\(path): it is a link to a file that is not there; remove the link, or put back what it leads to"))
    try Directory.removeFile(path)
    try Directory.createAll(path)
    #expect(
      failure { () throws(BackEndError) in _ = try backEnd().account() }
        == .notPermitted(
          "\(path): can't be opened: unable to open database file; see who may read and write it and its folder, and "
            + "what else has its name"))
  }

  /// Does something to the file in one step, as a store's thread sees it, which hears of each change there and looks.
  private func undisturbed<R: Sendable>(_ store: SyncedStore, _ body: () throws -> sending R) throws -> R {
    try store.exchanging.withLock { _ in try body() }
  }

  private var quiet: SyncedStore.Options {
    var options = SyncedStore.Options()
    options.saveDelay = 3600
    options.report = { _ in }
    return options
  }

  @Test func anotherFileUnderTheNameIsOpened() throws {
    let backEnd = self.backEnd()
    _ = try backEnd.push([record("k", 1)], to: store)
    for end in ["", "-wal", "-shm"] { try? Directory.removeFile(path + end) }
    #expect(try backEnd.changes(in: store, after: nil).records == [])
  }

  @Test func aNewerFileIsRefused() throws {
    _ = try backEnd().push([record("k", 1)], to: store)
    try SQLiteConnection(path, busySeconds: 1).execute("PRAGMA user_version = 99")
    let error = failure { () throws(BackEndError) in _ = try backEnd().changes(in: store, after: nil) }
    #expect(
      error
        == .unusable("\(path): it is of version 99, and this program knows versions up to 1; use a newer program"))
    #expect(try SQLiteConnection(path, busySeconds: 1).integer("SELECT count(*) FROM records") == 1)
  }

  @Test func anotherProgramsDatabaseIsRefused() throws {
    try Directory.createAll(folder.path + "/ubiquity")
    _ = try FileDescriptor.open(path, [.create, .writeOnly])
    try SQLiteConnection(path, busySeconds: 1).execute("CREATE TABLE theirs (x); PRAGMA user_version = 1")
    let error = failure { () throws(BackEndError) in _ = try backEnd().changes(in: store, after: nil) }
    #expect(error == .unusable("\(path): it is a database of another program; move it away"))
  }

  /// A program may set neither of the numbers that tell whose a database is.
  @Test(arguments: ["", "PRAGMA application_id = 7", "PRAGMA user_version = -1"])
  func aDatabaseWithTablesOfItsOwnIsNotAdopted(mark: String) throws {
    try Directory.createAll(folder.path + "/ubiquity")
    _ = try FileDescriptor.open(path, [.create, .writeOnly])
    try SQLiteConnection(path, busySeconds: 1).execute("CREATE TABLE theirs (x); \(mark)")
    let before = try WholeFile.read(path).bytes
    let error = failure { () throws(BackEndError) in _ = try backEnd().push([record("k", 1)], to: store) }
    #expect(error == .unusable("\(path): it is a database of another program; move it away"))
    #expect(try WholeFile.read(path).bytes == before)
    #expect(try Directory.names(in: folder.path + "/ubiquity") == ["store.sqlite"])
  }

  @Test func aTableThatIsDroppedWhileTheFileIsOpenIsDamage() throws {
    let backEnd = self.backEnd()
    _ = try backEnd.push([record("k", 1)], to: store)
    try SQLiteConnection(path, busySeconds: 1).execute("DROP TABLE records")
    #expect(try backEnd.push([record("k", 2)], to: store) == [.taken])
    #expect(reports.texts.withLock { $0.count } == 1)
  }

  /// Nobody waits for who might open the other end.
  @Test func pipesUnderOurNamesHoldNothingUp() throws {
    _ = try backEnd().push([record("k", 1)], to: store)
    try? Directory.removeFile(path + ".hint")
    #expect(mkfifo(path + ".hint", 0o600) == 0)
    #expect(try backEnd().push([record("k", 1, time: 2)], to: store) == [.taken])
    for end in ["-wal", "-shm"] { try? Directory.removeFile(path + end) }
    #expect(mkfifo(path + "-journal", 0o600) == 0)
    let error = failure { () throws(BackEndError) in _ = try backEnd().changes(in: store, after: nil) }
    #expect(error == .notPermitted("cannot open the pipe \(path)-journal: Operation not permitted"))
  }

  @Test func aFileThatWasBegunIsFinished() throws {
    try Directory.createAll(folder.path + "/ubiquity")
    _ = try FileDescriptor.open(path, [.create, .writeOnly])
    #expect(try backEnd().push([record("k", 1)], to: store) == [.taken])
  }

  @Test func whoWaitsTooLongIsTold() throws {
    _ = try backEnd().push([record("k", 1)], to: store)
    let other = try SQLiteConnection(path, busySeconds: 1)
    try other.execute("BEGIN IMMEDIATE")
    let error = failure { () throws(BackEndError) in
      _ = try backEnd(busySeconds: 0.05).push([record("k", 2, time: 2)], to: store)
    }
    #expect(error == .unreachable("\(path): database is locked"))
    #expect(try backEnd().changes(in: store, after: nil).records == [record("k", 1)], "readers do not wait")
    try other.execute("ROLLBACK")
  }

  @Test func tooMuchForAStoreIsRefusedUntilSomethingGoes() throws {
    var options = SQLiteBackEnd.Options()
    options.mostRows = 3
    let backEnd = SQLiteBackEnd(path: path, options: options)
    _ = try backEnd.push([record("a", 1), record("b", 1), record("c", 1)], to: store)
    #expect(
      failure { () throws(BackEndError) in _ = try backEnd.push([record("d", 1)], to: store) }
        == .noRoom(
          "\(path): the store com.example.Peer would have 4 rows and 4 bytes, and at most 3 and 16777216 are kept; remove keys"
        ))
    #expect(try backEnd.changes(in: store, after: nil).records.count == 3)
    #expect(try backEnd.push([record("a", 2, time: 2)], to: store) == [.taken])
  }

  @Test func manyTombstonesGoBeforeTheirTime() throws {
    var options = SQLiteBackEnd.Options()
    options.mostTombstones = 10
    options.clock = { [reports] in
      Int64(
        reports.texts.withLock {
          $0.append("")
          return $0.count
        })
    }
    let backEnd = SQLiteBackEnd(path: path, options: options)
    let start = try backEnd.changes(in: store, after: nil).cursor
    for number in 0..<30 {
      let stamp = Stamp(time: Int64(number), counter: 0, device: DeviceID(high: 0, low: 0))
      _ = try backEnd.push([StoreRecord(key: StoreKey("k\(number)"), value: nil, stamp: stamp)], to: store)
    }
    let changes = try backEnd.changes(in: store, after: start)
    #expect(changes.isWhole)
    #expect(changes.records.count <= 10 && changes.records.count >= 5)
    #expect(changes.floor != nil)
  }

  /// Of several processes at once, some killed: what was acknowledged is there.
  @Test func processesThatAreKilledLoseNothingThatWasAcknowledged() async throws {
    let processes = try (0..<6).map { number in try peer(["push", path, "writer \(number)", "400"]) }
    try await until { processes.allSatisfy { $0.lines.count > 20 } }
    for process in processes[..<3] { process.signal(SIGKILL) }
    let printed = processes.map { $0.all().split(separator: "\n") }
    for process in processes { process.wait() }
    let records = try backEnd().changes(in: store, after: nil).records
    for number in 0..<6 {
      let last = try #require(printed[number].last.flatMap { Int($0) })
      if number >= 3 { #expect(last == 399) }
      let value = try #require(records.first { $0.key.text == "writer \(number)" }?.value)
      guard case .string(let text) = try PropertyListCoding.decode(value, as: .binary) else {
        Issue.record("no text")
        continue
      }
      // It may have been killed between the commit and the line.
      #expect(["writer \(number) \(last)", "writer \(number) \(last + 1)"].contains(text))
    }
    #expect(records.contains { $0.key == "common" })
    #expect(try SQLiteConnection(path, busySeconds: 5).rows("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
  }

  @Test func aProcessSavesWhenItEndsAndOthersFollow() async throws {
    let follower = try peer(["follow", path, "k"])
    #expect(follower.line() == "ready")
    #expect(try peer(["set", path, "k", "from another process"]).wait() == 0)
    #expect(follower.line() == "from another process")
    follower.endInput()
    #expect(follower.wait() == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "SKIPPED: only root can be another user")) func otherUsersAreKeptOut() throws {
    _ = try backEnd().push([record("k", 1)], to: store)
    chmod(folder.path, 0o755)
    let process = try peer(["read", path, "k"], user: "65534")
    #expect(process.all() == "cannot open \(path): Permission denied\n")
    process.wait()
  }

  // MARK: Peers

  private func peer(_ arguments: [String], user: String? = nil) throws -> StartedProgram {
    let program = FilePath.join(FilePath.parent(of: ProcessIdentity.executablePath() ?? ""), "StorePeer")
    let before = user.map { ["setpriv", "--reuid", $0, "--regid", $0, "--clear-groups", "--"] } ?? []
    return try StartedProgram(before + [program] + arguments, input: .typed, output: .read)
  }
}
