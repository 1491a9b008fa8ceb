import CommandSandbox
import PostgreSQLServer
import Testing

/// `Scripts/postgresql`, with which people try the examples.
@Suite(.enabled(if: TrialServer.isAvailable)) struct ServerScriptTests {
  @Test func aStoppedServerStartsAgainAtItsPort() throws {
    let server = try TrialServer(migrated: false)
    func answer() -> String { server.run(server.psql + ["-U", "postgres", "-Atc", "SELECT 7", "postgres"]).output }
    #expect(answer() == "7\n")
    server.stop()
    #expect(answer() == "")
    try server.restart()
    #expect(answer() == "7\n")
    try server.restart()
    #expect(answer() == "7\n", "one that runs as well")
  }
}
