import CommandSandbox
import PostgreSQLServer
import Testing

/// Migrations, as an administrator runs them.
@Suite(.enabled(if: TrialServer.isAvailable)) struct MigrationTests {
  private func database(_ name: String, encoding: String = "UTF8") throws -> TrialServer {
    let server = try TrialServer.shared()
    try server.administer(
      "CREATE DATABASE \(name) ENCODING '\(encoding)' TEMPLATE template0 LOCALE 'C'", in: "postgres")
    return server
  }

  @Test func aSecondRunChangesNothing() throws {
    let server = try database("twice")
    #expect(try server.migrate("twice") == "ubiquitous_store: schema version 1\n")
    let shape =
      "SELECT oid, relname, relacl FROM pg_class WHERE relnamespace = 'ubiquitous_store'::regnamespace ORDER BY oid"
    let before = try server.administer(shape, in: "twice")
    #expect(!before.isEmpty)
    #expect(try server.migrate("twice") == "ubiquitous_store: schema version 1\n")
    #expect(try server.administer(shape, in: "twice") == before)
  }

  @Test func aNewerSchemaIsLeftAlone() throws {
    let server = try database("newer")
    try server.migrate("newer")
    try server.administer("UPDATE ubiquitous_store.schema_version SET version = 2", in: "newer")
    let result = server.run(
      server.psql + ["-U", "postgres", "-d", "newer", "-f", TrialServer.migrations + "/migrate.sql"])
    #expect(result.exitCode == 3)
    #expect(result.errors.contains("ERROR:  this schema is newer than these migrations\n"))
    #expect(result.errors.contains("HINT:  Run migrate.sql of the newest version that any machine of yours has.\n"))
    #expect(try server.administer("SELECT version FROM ubiquitous_store.schema_version", in: "newer") == "2\n")
  }

  @Test func aDatabaseThatCanNotHoldAllTextIsRefused() throws {
    let server = try database("latin", encoding: "LATIN1")
    let result = server.run(
      server.psql + ["-U", "postgres", "-d", "latin", "-f", TrialServer.migrations + "/migrate.sql"])
    #expect(result.exitCode == 3)
    #expect(result.errors.contains("ERROR:  the database has the encoding LATIN1, and the store needs UTF8\n"))
    #expect(
      try server.administer("SELECT count(*) FROM pg_namespace WHERE nspname = 'ubiquitous_store'", in: "latin")
        == "0\n")
  }

  @Test func twoAtOnceWaitForEachOther() throws {
    let server = try database("together")
    let migrate =
      server.psql.map { "'\($0)'" }.joined(separator: " ")
      + " -U postgres -d together -f '\(TrialServer.migrations)/migrate.sql'"
    let result = server.run(["sh", "-c", "\(migrate) & first=$!; \(migrate); second=$?; wait $first && exit $second"])
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output == "ubiquitous_store: schema version 1\nubiquitous_store: schema version 1\n")
  }
}
