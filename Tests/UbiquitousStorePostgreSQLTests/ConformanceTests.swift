import BackEndConformance
import LinuxFiles
import PostgreSQLServer
import Testing
import UbiquitousStore
import UbiquitousStorePostgreSQL

/// The promises of every back end, kept over a real server.
@Suite(.enabled(if: TrialServer.isAvailable)) struct ConformanceTests {
  private static let place = Result {
    let server = try TrialServer.shared()
    try server.addUsers(["conformance1", "conformance2"])
    return BackEndPlace(
      accounts: ("conformance1", "conformance2"), refusesClocks: true,
      connect: { try PostgreSQLBackEnd(service: server.service(for: $0)) },
      now: { WallClock.unixMilliseconds() },
      // To let time pass, tombstones age: the server has no clock of its own to be moved. Those of the one check that asks for
      // it: whoever writes to another store at the same time would be caught in a deadlock.
      advance: { milliseconds in
        try server.administer(
          """
          SET session_replication_role = replica;
          UPDATE ubiquitous_store.records SET taken_at = taken_at - interval '\(milliseconds) milliseconds'
            WHERE store = 'com.example.tombstonesAreCollected';
          UPDATE ubiquitous_store.stores SET collected_at = collected_at - interval '2 hours'
            WHERE store = 'com.example.tombstonesAreCollected';
          """)
      })
  }

  @Test(arguments: BackEndCheck.all) func postgreSQL(check: BackEndCheck) throws {
    let findings = try check.run(Self.place.get())
    #expect(findings == [])
  }
}
