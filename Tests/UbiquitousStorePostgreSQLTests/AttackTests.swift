import LinuxFiles
import PostgreSQLServer
import Testing
import UbiquitousStore
import UbiquitousStorePostgreSQL

/// What a user tries with raw SQL under her own role against the records of others, and against the order of her own.
@Suite(.enabled(if: TrialServer.isAvailable)) struct AttackTests {
  private static let prepared = Result {
    let server = try TrialServer.shared()
    try server.addUsers(["mallory", "victim"])
    for user in ["victim", "mallory"] {
      let backEnd = try PostgreSQLBackEnd(service: server.service(for: user))
      let stamp = Stamp(time: WallClock.unixMilliseconds() - 60_000, counter: 0, device: .random())
      #expect(
        try backEnd.push(
          [StoreRecord(key: "secret", value: Array(user.utf8), stamp: stamp)],
          to: StoreID(account: user, application: "com.example.Notes")) == [.taken])
    }
    return server
  }

  /// One attempt and the server's words against it.
  struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let sql: String
    let refusal: String
    var testDescription: String { name }
  }

  private static let columns = "(store, key, value, milliseconds, counter, device)"
  private static let device = "'00000000-0000-0000-0000-000000000001'"

  static let refused: [Attack] = [
    Attack(
      name: "write into another's account",
      sql: """
        INSERT INTO ubiquitous_store.records (account, store, key, value, milliseconds, counter, device)
        VALUES ('victim', 'com.example.Notes', 'secret', 'x', 1, 0, \(device))
        """, refusal: "permission denied for table records"),
    Attack(
      name: "name a record's number",
      sql: """
        INSERT INTO ubiquitous_store.records (store, key, value, milliseconds, counter, device, sequence)
        VALUES ('s', 'k', 'x', 1, 0, \(device), 1000)
        """, refusal: "permission denied for table records"),
    Attack(
      name: "fill the disk with a large object", sql: "SELECT lo_from_bytea(0, decode(repeat('61', 1000), 'hex'))",
      refusal: "permission denied for function lo_from_bytea"),
    Attack(
      name: "make a large object", sql: "SELECT lo_creat(-1)", refusal: "permission denied for function lo_creat"),
    Attack(
      name: "change a record's number", sql: "UPDATE ubiquitous_store.records SET sequence = 0",
      refusal: "permission denied for table records"),
    Attack(
      name: "give a record to another", sql: "UPDATE ubiquitous_store.records SET account = 'victim'",
      refusal: "permission denied for table records"),
    Attack(
      name: "say when a tombstone was taken", sql: "UPDATE ubiquitous_store.records SET taken_at = now()",
      refusal: "permission denied for table records"),
    Attack(
      name: "move the counter back", sql: "UPDATE ubiquitous_store.stores SET last_sequence = 0",
      refusal: "permission denied for table stores"),
    Attack(
      name: "make a counter", sql: "INSERT INTO ubiquitous_store.stores (account, store) VALUES ('mallory', 's')",
      refusal: "permission denied for table stores"),
    Attack(
      name: "take another account's channel",
      sql: "UPDATE ubiquitous_store.accounts SET channel_secret = gen_random_uuid()",
      refusal: "permission denied for table accounts"),
    Attack(
      name: "make an account", sql: "INSERT INTO ubiquitous_store.accounts (account) VALUES ('nobody')",
      refusal: "permission denied for table accounts"),
    Attack(
      name: "delete a record", sql: "DELETE FROM ubiquitous_store.records",
      refusal: "permission denied for table records"),
    Attack(
      name: "empty the table", sql: "TRUNCATE ubiquitous_store.records",
      refusal: "permission denied for table records"),
    Attack(
      name: "lock the table against all", sql: "BEGIN; LOCK TABLE ubiquitous_store.records IN ACCESS EXCLUSIVE MODE",
      refusal: "permission denied for table records"),
    Attack(
      name: "lock the table against writers", sql: "BEGIN; LOCK TABLE ubiquitous_store.stores IN SHARE MODE",
      refusal: "permission denied for table stores"),
    Attack(
      name: "switch the trigger off", sql: "ALTER TABLE ubiquitous_store.records DISABLE TRIGGER ALL",
      refusal: "must be owner of table records"),
    Attack(
      name: "switch triggers off by setting", sql: "SET session_replication_role = replica",
      refusal: "permission denied to set parameter \"session_replication_role\""),
    Attack(
      name: "switch row-level security off", sql: "SET row_security = off; SELECT * FROM ubiquitous_store.records",
      refusal: "query would be affected by row-level security policy for table \"records\""),
    Attack(
      name: "drop the policy", sql: "DROP POLICY own_records ON ubiquitous_store.records",
      refusal: "must be owner of relation records"),
    Attack(
      name: "become the owner", sql: "SET ROLE ubiquitous_store_owner",
      refusal: "permission denied to set role \"ubiquitous_store_owner\""),
    Attack(
      name: "become another user", sql: "SET SESSION AUTHORIZATION victim",
      refusal: "permission denied to set session authorization"),
    Attack(
      name: "call the collector", sql: "SELECT ubiquitous_store.collect_tombstones('com.example.Notes')",
      refusal: "permission denied for function collect_tombstones"),
    Attack(
      name: "call the trigger", sql: "SELECT ubiquitous_store.number_change()",
      refusal: "permission denied for function number_change"),
    Attack(
      name: "renew incarnations", sql: "SELECT ubiquitous_store.renew_incarnations()",
      refusal: "permission denied for function renew_incarnations"),
    Attack(
      name: "remove an account", sql: "SELECT ubiquitous_store.remove_account('victim')",
      refusal: "permission denied for function remove_account"),
    Attack(
      name: "put a function in the schema",
      sql: "CREATE FUNCTION ubiquitous_store.channel(uuid) RETURNS text LANGUAGE sql AS 'SELECT null'",
      refusal: "permission denied for schema ubiquitous_store"),
    Attack(
      name: "put a table where others look", sql: "CREATE TABLE public.accounts (x integer)",
      refusal: "permission denied for schema public"),
    Attack(
      name: "make a temporary table", sql: "CREATE TEMPORARY TABLE accounts (x integer)",
      refusal: "permission denied to create temporary tables in database \"store\""),
    Attack(
      name: "win for ever with a clock that is ahead",
      sql: """
        INSERT INTO ubiquitous_store.records \(columns) VALUES ('com.example.Notes', 'ahead', 'x',
          floor(extract(epoch FROM now()) * 1000) + 390000, 0, \(device))
        """, refusal: "the clock is more than five minutes ahead of the server's"),
    Attack(
      name: "bring a record ahead by an update",
      sql: "UPDATE ubiquitous_store.records SET milliseconds = floor(extract(epoch FROM now()) * 1000) + 390000",
      refusal: "the clock is more than five minutes ahead of the server's"),
    Attack(
      name: "a key of 65 bytes",
      sql: """
        INSERT INTO ubiquitous_store.records \(columns)
        VALUES ('com.example.Notes', convert_to(repeat('x', 65), 'UTF8'), 'x', 1, 0, \(device))
        """, refusal: "violates check constraint \"key_length\""),
    Attack(
      name: "a key that is no text",
      sql: """
        INSERT INTO ubiquitous_store.records \(columns) VALUES ('com.example.Notes', '\\xff', 'x', 1, 0, \(device))
        """, refusal: "invalid byte sequence for encoding \"UTF8\": 0xff"),
    Attack(
      name: "a value of 1 MiB and a byte",
      sql: """
        INSERT INTO ubiquitous_store.records \(columns)
        VALUES ('com.example.Notes', 'k', convert_to(repeat('x', 1048577), 'UTF8'), 1, 0, \(device))
        """, refusal: "violates check constraint \"value_length\""),
    Attack(
      name: "more than 16 MiB in a store",
      sql: """
        INSERT INTO ubiquitous_store.records \(columns)
        SELECT 'com.example.Big', convert_to(n::text, 'UTF8'), convert_to(repeat('x', 1048576), 'UTF8'), 1, 0, \(device)
        FROM generate_series(1, 17) AS n
        """, refusal: "the store has 17 records and 17825792 bytes, and at most 8192 and 16777216 are kept"),
    Attack(
      name: "more than 256 stores",
      sql: """
        INSERT INTO ubiquitous_store.records \(columns)
        SELECT convert_to('s' || n, 'UTF8'), 'k', 'x', 1, 0, \(device) FROM generate_series(1, 257) AS n
        """, refusal: "the account mallory has 256 stores, and no more are kept"),
  ]

  @Test(arguments: refused) func isRefused(attack: Attack) throws {
    let server = try Self.prepared.get()
    let (output, errors) = server.attempt(attack.sql + ";", as: "mallory")
    #expect(output == "")
    #expect(errors.contains("ERROR:") && errors.contains(attack.refusal), "\(errors)")
    try expectUntouched(server)
  }

  /// What is no error, and shows or does nothing.
  static let withoutEffect: [Attack] = [
    Attack(
      name: "read everything",
      sql: "SELECT account, encode(value, 'escape') FROM ubiquitous_store.records WHERE store = 'com.example.Notes'",
      refusal: "mallory|mallory\n"),
    Attack(name: "read accounts", sql: "SELECT account FROM ubiquitous_store.accounts", refusal: "mallory\n"),
    Attack(
      name: "read stores", sql: "SELECT DISTINCT account FROM ubiquitous_store.stores", refusal: "mallory\n"),
    Attack(
      name: "read under another role of hers",
      sql: "SET ROLE ubiquitous_store_user; SELECT account FROM ubiquitous_store.accounts", refusal: "mallory\n"),
    Attack(
      name: "a condition that tells what it sees",
      sql: """
        SELECT count(*) FROM ubiquitous_store.records WHERE 1 / (CASE WHEN account = 'victim' THEN 0 ELSE 1 END) = 1
          AND store = 'com.example.Notes'
        """, refusal: "1\n"),
    Attack(
      name: "change all values with an old stamp",
      sql: "UPDATE ubiquitous_store.records SET value = 'x', milliseconds = 1 RETURNING 1", refusal: ""),
    Attack(
      name: "see others' queries",
      sql: "SELECT query FROM pg_stat_activity WHERE usename = 'victim' AND query NOT LIKE '<insuff%'", refusal: ""),
  ]

  @Test(arguments: withoutEffect) func isWithoutEffect(attack: Attack) throws {
    let server = try Self.prepared.get()
    let (output, errors) = server.attempt(attack.sql + ";", as: "mallory")
    #expect(errors == "")
    #expect(output == attack.refusal)
    try expectUntouched(server)
  }

  private func expectUntouched(_ server: TrialServer) throws {
    #expect(
      try server.administer(
        """
        SELECT r.account, r.key = 'secret', encode(r.value, 'escape'), r.sequence, s.last_sequence
        FROM ubiquitous_store.records r JOIN ubiquitous_store.stores s USING (account, store)
        WHERE account IN ('victim', 'mallory') ORDER BY 1
        """) == "mallory|t|mallory|1|1\nvictim|t|victim|1|1\n")
  }

  /// Hints of another account can't be listened to: her channel's name is made of a secret.
  @Test func aChannelIsKnownToItsAccountAlone() throws {
    let server = try Self.prepared.get()
    let name = "SELECT ubiquitous_store.channel(channel_secret, 'com.example.Notes') FROM ubiquitous_store.accounts"
    let mallorys = server.attempt("\(name);", as: "mallory").output
    let victims = server.attempt("\(name);", as: "victim").output
    #expect(mallorys.count == 36 && victims.count == 36)
    #expect(mallorys != victims)
    let guess = server.attempt(
      "SELECT ubiquitous_store.channel(account.channel_secret, 'com.example.Notes') FROM ubiquitous_store.accounts AS account WHERE account = 'victim';",
      as: "mallory")
    #expect(guess.output == "" && guess.errors == "")
  }

  @Test func whoIsNoMemberHasNoAccount() throws {
    let server = try Self.prepared.get()
    try server.administer(
      "CREATE ROLE stranger LOGIN PASSWORD 'secret-stranger'; GRANT CONNECT ON DATABASE store TO stranger")
    let backEnd = try PostgreSQLBackEnd(service: server.service(for: "stranger"))
    do throws(BackEndError) {
      _ = try backEnd.account()
      Issue.record("a stranger has an account")
    } catch {
      guard case .notPermitted(let text) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(text.hasSuffix("refuses: permission denied for schema ubiquitous_store (SQLSTATE 42501)"), "\(text)")
    }
  }
}
