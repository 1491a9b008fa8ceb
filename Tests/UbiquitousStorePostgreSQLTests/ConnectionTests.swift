import Foundation
import LinuxFiles
import PostgreSQLServer
import Testing
import UbiquitousStore

@testable import UbiquitousStorePostgreSQL

/// How a device gets to its server, and what it says where it does not.
@Suite(.enabled(if: TrialServer.isAvailable)) struct ConnectionTests {
  private let server: TrialServer

  init() throws { server = try TrialServer.shared() }

  private func user(_ name: String = #function) throws -> String {
    let user = "c_" + name.prefix { $0 != "(" }.lowercased()
    try server.addUsers([user])
    return user
  }

  /// The fault with which a service can't be opened.
  private func fault(_ service: String) -> ServerFault? {
    do throws(ServerFault) {
      _ = try Connection.open(service: service)
      return nil
    } catch {
      return error
    }
  }

  @Test func aServiceThatNoFileHas() throws {
    _ = try server.service(for: "nobody")
    let backEnd = try PostgreSQLBackEnd(service: "nowhere")
    #expect(
      throws: BackEndError.notPermitted(
        "the synced store's server (PostgreSQL service nowhere) refuses: definition of service \"nowhere\" not found")
    ) { try backEnd.account() }
  }

  @Test func aWrongPassword() throws {
    let user = try user()
    let backEnd = try PostgreSQLBackEnd(
      service: server.service("host=127.0.0.1\nuser=\(user)\npassword=wrong\nsslmode=disable\n"))
    #expect(
      throws: BackEndError.unreachable(
        "the synced store's server (PostgreSQL service \(backEnd.service)) can't be reached: connection to server at "
          + "\"127.0.0.1\", port \(server.port) failed: FATAL:  password authentication failed for user \"\(user)\"")
    ) { try backEnd.account() }
  }

  @Test func aPasswordFromThePasswordFile() throws {
    let user = try user()
    let file = server.folder + "/passwords-\(user)"
    try AtomicReplacement.write(
      Array("127.0.0.1:\(server.port):store:\(user):secret-\(user)\n".utf8), to: file, mode: 0o600)
    let backEnd = try PostgreSQLBackEnd(service: server.service("host=127.0.0.1\nuser=\(user)\npassfile=\(file)\n"))
    #expect(try backEnd.account() == user)
  }

  @Test func byPeerWithoutAPassword() throws {
    let me = try #require(try UserDatabase.user(id: ProcessIdentity.effectiveUserID)).name
    try server.addUsers([me])
    let backEnd = try PostgreSQLBackEnd(service: server.service("host=\(server.folder)/socket\n"))
    #expect(try backEnd.account() == me)
    let other = try PostgreSQLBackEnd(service: server.service("host=\(server.folder)/socket\nuser=ubiquitous_other\n"))
    #expect(
      throws: BackEndError.unreachable(
        "the synced store's server (PostgreSQL service \(other.service)) can't be reached: connection to server on socket "
          + "\"\(server.folder)/socket/.s.PGSQL.\(server.port)\" failed: FATAL:  Peer authentication failed for user "
          + "\"ubiquitous_other\"")
    ) { try other.account() }
  }

  @Test func anotherMachineMustProveItsName() throws {
    let user = try user()
    let login = "hostaddr=127.0.0.1\nuser=\(user)\npassword=secret-\(user)\n"
    let authority = "sslrootcert=\(server.folder)/authority.pem\n"
    // Nothing said: it must prove its name, and without an authority it can't.
    let unproved = fault(try server.service("host=store.example\nsslrootcert=/nonexistent\n" + login))
    guard case .unreachable(let text) = unproved else {
      Issue.record("\(String(describing: unproved))")
      return
    }
    #expect(text.contains("root certificate file \"/nonexistent\""), "\(text)")
    #expect(
      try Connection.open(service: server.service("host=store.example\n" + authority + login)).connection.isEncrypted)
    let wrongName = fault(try server.service("host=other.example\n" + authority + login))
    guard case .unreachable(let text) = wrongName else {
      Issue.record("\(String(describing: wrongName))")
      return
    }
    #expect(text.contains("does not match host name \"other.example\""), "\(text)")
    // What somebody wrote down is kept.
    #expect(
      try !Connection.open(service: server.service("host=store.example\nsslmode=disable\n" + login)).connection
        .isEncrypted)
  }

  @Test(arguments: [
    (["host": "/run/postgresql"], false), (["host": "localhost"], false), (["host": "127.0.0.1"], false),
    (["host": "::1"], false), ([:], false), (["host": "", "hostaddr": "127.0.0.1"], false),
    (["host": "store.lab"], true), (["host": "store.lab", "hostaddr": "127.0.0.1"], true),
    (["hostaddr": "192.0.2.1"], true), (["host": "localhost,store.lab"], true), (["host": "localhost.lab"], true),
    (["host": "127.evil.example"], true), (["host": "127.0.0.1.lab"], true), (["host": "127.1.2.3"], false),
    (["host": "localhost", "hostaddr": "192.0.2.1"], true),
  ])
  func whichServersAreOtherMachines(settings: [String: String], isElsewhere: Bool) {
    #expect(Connection.isElsewhere(settings) == isElsewhere)
  }

  @Test func whatIsAcknowledgedIsOnTheDiskWhateverTheRoleSays() throws {
    let user = try user()
    try server.administer(
      "ALTER ROLE \(user) SET synchronous_commit = off; ALTER ROLE \(user) SET search_path = public")
    let session = try Connection.open(service: server.service(for: user))
    let rows = try session.connection.carryOut([
      .once("SELECT current_setting('synchronous_commit'), current_setting('search_path')")
    ])
    #expect(rows[0].text(0, 0) == "on")
    #expect(rows[0].text(0, 1) == "pg_catalog")
  }

  @Test func aSchemaThatIsNotThere() throws {
    let user = try user()
    try server.administer("CREATE DATABASE bare", in: "postgres")
    let backEnd = try PostgreSQLBackEnd(
      service: server.service("host=127.0.0.1\nuser=\(user)\npassword=secret-\(user)\n", database: "bare"))
    #expect(
      throws: BackEndError.unusable(
        "the synced store's server (PostgreSQL service \(backEnd.service)): the database has no schema of the store, or another "
          + "than this library's: relation \"ubiquitous_store.schema_version\" does not exist (SQLSTATE 42P01)")
    ) { try backEnd.account() }
  }

  @Test(arguments: [
    ("version = 0", "the database has version 0 of the store's schema, and this library needs 1; run migrate.sql"),
    (
      "version = 3, oldest_client = 2",
      "the database has version 3 of the store's schema, which only newer libraries can use; update this machine"
    ),
    ("version = 3", nil),
  ])
  func aSchemaOfAnotherVersion(change: String, refusal: String?) throws {
    let name = "version_\(change.utf8.reduce(0) { ($0 * 31 + Int($1)) % 1_000_003 })"
    try server.addUsers([name])
    try server.administer("CREATE DATABASE \(name) ENCODING 'UTF8' TEMPLATE template0", in: "postgres")
    try server.migrate(name)
    try server.administer("UPDATE ubiquitous_store.schema_version SET \(change)", in: name)
    let found = fault(
      try server.service("host=127.0.0.1\nuser=\(name)\npassword=secret-\(name)\n", database: name))
    #expect(found == refusal.map { .unusable($0) })
  }

  @Test func aConnectionThatEndedMeanwhileIsMadeAnew() throws {
    let user = try user()
    let backEnd = try PostgreSQLBackEnd(service: server.service(for: user))
    #expect(try backEnd.account() == user)
    try server.administer(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(user)';
      DO $$ BEGIN
        WHILE EXISTS (SELECT FROM pg_stat_activity WHERE usename = '\(user)') LOOP
          PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
        END LOOP;
      END $$;
      """)
    #expect(try backEnd.account() == user)
  }

  /// An account or a role that was removed and made anew: the session of the old one is of no use.
  @Test(arguments: ["account", "role"]) func whatWasMadeAnewIsFoundByTheSameBackEnd(what: String) throws {
    let user = try user("madeAnew\(what)")
    let backEnd = try PostgreSQLBackEnd(service: server.service(for: user))
    let store = StoreID(account: user, application: "org.example.Anew")
    func record(_ value: [UInt8], _ time: Int64) -> StoreRecord {
      StoreRecord(key: "k", value: value, stamp: Stamp(time: time, counter: 0, device: .random()))
    }
    let now = WallClock.unixMilliseconds()
    #expect(try backEnd.push([record([1], now)], to: store) == [.taken])
    try server.administer("SELECT ubiquitous_store.remove_account('\(user)')")
    if what == "role" {
      try server.administer("DROP ROLE \(user)")
      // Nobody is there now, and that is said; what holds the connection does not end with it.
      guard
        case .unreachable? = #expect(
          throws: BackEndError.self, performing: { try backEnd.push([record([2], now + 1)], to: store) })
      else {
        Issue.record("another fault")
        return
      }
      try server.addUsers([user])
    }
    #expect(try backEnd.push([record([3], now + 2)], to: store) == [.taken])
    let changes = try backEnd.changes(in: store, after: nil)
    #expect(changes.records.map(\.value) == [[3]])
  }

  @Test func hintsOfOnesOwnAreNoNews() throws {
    let user = try user()
    let link = Link(service: try server.service(for: user), wakeup: try Wakeup())
    #expect(try link.listen(to: ["com.example.A"]).hinted == ["com.example.A"])
    #expect(try link.listen(to: ["com.example.A", "com.example.B"]).hinted == ["com.example.B"])
    func put(_ application: String) -> Call {
      .once(
        """
        INSERT INTO ubiquitous_store.records (store, key, value, milliseconds, counter, device)
        VALUES (convert_to('\(application)', 'UTF8'), convert_to(gen_random_uuid()::text, 'UTF8'), '', 1, 0, gen_random_uuid())
        """)
    }
    let (_, own) = try link.perform { connection, _ throws(ServerFault) in
      _ = try connection.carryOut([put("com.example.A")])
    }
    #expect(own.isEmpty)
    let other = try Connection.open(service: server.service(for: user))
    _ = try other.connection.carryOut([put("com.example.B"), put("com.example.C")])
    var hinted: Set<String> = []
    let deadline = Date(timeIntervalSinceNow: 60)
    while hinted.isEmpty, Date() < deadline {
      hinted = try link.perform { connection, _ throws(ServerFault) in _ = try connection.carryOut([]) }.hinted
    }
    #expect(hinted == ["com.example.B"])
  }

  @Test func aFullStoreTakesWhatShortensIt() throws {
    let user = try user()
    let backEnd = try PostgreSQLBackEnd(service: server.service(for: user))
    let store = StoreID(account: user, application: "com.example.Full")
    func record(_ key: Int, _ value: [UInt8]?, _ time: Int64) -> StoreRecord {
      StoreRecord(key: StoreKey("\(key)"), value: value, stamp: Stamp(time: time, counter: 0, device: .random()))
    }
    let mebibyte = [UInt8](repeating: 1, count: 1 << 20)
    #expect(try backEnd.push((0..<16).map { record($0, mebibyte, 1) }, to: store).allSatisfy { $0 == .taken })
    #expect(
      throws: BackEndError.noRoom(
        "the synced store's server (PostgreSQL service \(backEnd.service)) keeps no more: the store has 17 records and 16777217 "
          + "bytes, and at most 8192 and 16777216 are kept (SQLSTATE US002)")
    ) { try backEnd.push([record(16, [1], 1)], to: store) }
    #expect(try backEnd.push([record(3, nil, 2)], to: store) == [.taken])
    #expect(try backEnd.push([record(16, [1], 1)], to: store) == [.taken])
  }

  @Test func anotherAccountsStoreIsNotAskedFor() throws {
    let user = try user()
    let backEnd = try PostgreSQLBackEnd(service: server.service(for: user))
    let store = StoreID(account: "somebody", application: "com.example.Notes")
    let refusal = BackEndError.notPermitted(
      "the synced store's server (PostgreSQL service \(backEnd.service)) refuses: com.example.Notes of somebody is not \(user)'s"
    )
    #expect(throws: refusal) { try backEnd.changes(in: store, after: nil) }
    #expect(throws: refusal) { try backEnd.push([], to: store) }
  }

  @Test func theServersToleranceIsThatOfClocks() throws {
    // Asked between two looks at the clock, which may be any time apart.
    let lines = try server.administer(
      """
      SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
      SELECT ubiquitous_store.latest_milliseconds();
      SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
      """)
    let times = lines.split(separator: "\n").compactMap { Int64($0) }
    try #require(times.count == 3)
    #expect((times[0]...times[2]).contains(times[1] - HybridLogicalClock.tolerance), "\(times)")
  }

  @Test(arguments: [
    ("08006", ServerFault.unreachable("m (SQLSTATE 08006)")), ("57P01", .unreachable("m (SQLSTATE 57P01)")),
    ("40P01", .interrupted("m (SQLSTATE 40P01)")), ("53100", .interrupted("m (SQLSTATE 53100)")),
    ("25006", .interrupted("m (SQLSTATE 25006)")), ("23514", .invalid("m (SQLSTATE 23514)")),
    ("42501", .refused("m (SQLSTATE 42501)")), ("XX000", .refused("m (SQLSTATE XX000)")),
    ("US001", .clockTooFarAhead("m (SQLSTATE US001)")), ("US002", .noRoom("m (SQLSTATE US002)")),
  ])
  func faultsByTheirCode(code: String, fault: ServerFault) {
    #expect(ServerFault(code: code, message: "m") == fault)
  }
}
