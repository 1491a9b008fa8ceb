import BackEndConformance
import Foundation
import LinuxFiles
import Synchronization
import TestPrograms
import Testing
import UbiquitousStore

/// Every back end of this package, held to what the protocol promises.
@Suite struct BackEndConformanceTests {
  /// A clock that tests move.
  final class TestClock: Sendable {
    private let offset = Mutex<Int64>(0)
    func now() -> Int64 { WallClock.unixMilliseconds() + offset.withLock { $0 } }
    func advance(_ milliseconds: Int64) { offset.withLock { $0 += milliseconds } }
  }

  @Test(arguments: BackEndCheck.all, [false, true])
  func memory(check: BackEndCheck, refusesClocks: Bool) throws {
    let clock = TestClock()
    let server = MemoryServer(clock: { clock.now() }, refusesClocks: refusesClocks)
    let place = BackEndPlace(
      accounts: ("ada", "bob"), refusesClocks: refusesClocks, connect: { MemoryBackEnd(server, account: $0) },
      now: { clock.now() }, advance: { clock.advance($0) })
    let findings = try check.run(place)
    #expect(findings.isEmpty, "\(findings)")
  }

  @Test(arguments: BackEndCheck.all) func sqlite(check: BackEndCheck) throws {
    let folder = try TemporaryFolder()
    let clock = TestClock()
    let place = BackEndPlace(
      accounts: ("ada", "bob"), refusesClocks: false,
      connect: { account in
        var options = SQLiteBackEnd.Options()
        options.clock = { clock.now() }
        options.busySeconds = 60
        options.isDurable = false
        let backEnd = SQLiteBackEnd(path: "\(folder.path)/\(account)/store.sqlite", options: options)
        try backEnd.setAccount(account)
        return backEnd
      },
      now: { clock.now() }, advance: { clock.advance($0) })
    let findings = try check.run(place)
    #expect(findings.isEmpty, "\(findings)")
  }
}

/// A folder that goes when its owner goes.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "ubiquity-\(UUID().uuidString)"
    try Directory.createAll(path, mode: 0o755)
  }

  deinit { TestFolders.remove(path) }
}
