import CommandSandbox
import Foundation
import PostgreSQLServer
import Testing
import UbiquitousStore
import UbiquitousStorePostgreSQL

/// Runs what Documentation/ubiquitous-store-postgresql.md tells an administrator to run.
@Suite(.enabled(if: TrialServer.isAvailable)) struct GuideTests {
  /// The lines of the blocks of one language below a heading.
  private static func lines(of language: String, below heading: String) throws -> [String] {
    let page = try String(
      contentsOfFile: TrialServer.packageRoot + "/Documentation/ubiquitous-store-postgresql.md", encoding: .utf8)
    var (section, block) = ("", "")
    var found: [String] = []
    for line in page.components(separatedBy: "\n") {
      if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
      if line.hasPrefix("```") {
        block = String(line.dropFirst(3))
      } else if section == heading && block == language {
        found.append(line)
      }
    }
    return found
  }

  /// Runs a section's commands of the account `postgres` as the administrator of a trial's server.
  private func run(_ heading: String, on server: TrialServer, backups: String, from first: Int = 0, count: Int = 99)
    throws
  {
    let commands = try Self.lines(of: "sh", below: heading).filter { $0.hasPrefix("sudo -u postgres ") }
    #expect(!commands.isEmpty)
    for command in commands.dropFirst(first).prefix(count) {
      let own = command.replacingOccurrences(of: "sudo -u postgres ", with: "")
        .replacingOccurrences(of: "/usr/local/share/ubiquitous-store", with: TrialServer.migrations)
        .replacingOccurrences(of: "/var/backups", with: backups)
      let result = server.run(
        ["sh", "-c", own],
        environment: ["PGHOST": server.folder + "/socket", "PGPORT": "\(server.port)", "PGUSER": "postgres"])
      #expect(result.exitCode == 0, "\(command): \(result.errors)")
    }
  }

  @Test func fromAnEmptyServerToARestoredOne() throws {
    let server = try TrialServer(settings: ["fsync=off"], migrated: false)
    try run("The server", on: server, backups: server.folder)
    let sql = try Self.lines(of: "sql", below: "Users")
    #expect(sql.count == 3)
    try server.administer(sql[0])
    func connect(_ server: TrialServer) throws -> PostgreSQLBackEnd {
      try PostgreSQLBackEnd(service: server.service("host=127.0.0.1\nuser=ada\npassword=chosen at random\n"))
    }
    let store = StoreID(account: "ada", application: "com.example.Notes")
    let record = StoreRecord(key: "colour", value: [1, 2], stamp: Stamp(time: 1, counter: 0, device: .random()))
    let ada = try connect(server)
    #expect(try ada.push([record], to: store) == [.taken])
    let cursor = try ada.changes(in: store, after: nil).cursor

    try run("Back-up", on: server, backups: server.folder, count: 2)
    let restored = try TrialServer(settings: ["fsync=off"], migrated: false)
    try run("Back-up", on: restored, backups: server.folder, from: 2)
    let changes = try connect(restored).changes(in: store, after: cursor)
    #expect(changes.records == [record])
    #expect(changes.isWhole)
    #expect(changes.cursor.incarnation != cursor.incarnation)
    #expect(try restored.migrate() == "ubiquitous_store: schema version 1\n")
    // The rights on the database itself came back too.
    let acl = "SELECT datacl FROM pg_database WHERE datname = 'store'"
    #expect(try restored.administer(acl) == server.administer(acl))

    try server.administer(sql[1] + "\n" + sql[2])
    #expect(
      try server.administer(
        "SELECT count(*) FROM ubiquitous_store.records; SELECT count(*) FROM ubiquitous_store.stores")
        == "0\n0\n")
    #expect(throws: BackEndError.self) { try ada.changes(in: store, after: nil) }
  }
}
