import BackEndConformance
import Foundation
import Synchronization
import Testing
import UbiquitousStore

/// Five devices with wrong clocks, partitions, crashes, lost and repeated messages, new disks and collected tombstones: all
/// end with the same, a later edit that was made in knowledge of an earlier one is never undone by it, and who is idle is silent.
@Suite struct SimulationTests {
  static let isFull = ProcessInfo.processInfo.environment["MANAGED_PREFERENCES_FULL_TESTS"] == "1"

  private func run(_ count: Int, _ make: @escaping @Sendable (UInt64) -> SimulatedRun) -> [String] {
    let failures = Mutex<[String]>([])
    let totals = Mutex((edits: 0, collected: 0))
    DispatchQueue.concurrentPerform(iterations: count) { index in
      let seed = UInt64(index + 1)
      do {
        let result = try make(seed)()
        totals.withLock {
          $0.edits += result.edits
          $0.collected += result.collected ? 1 : 0
        }
        if let first = result.violations.first { failures.withLock { $0.append("seed \(seed): \(first)") } }
      } catch {
        failures.withLock { $0.append("seed \(seed): \(error)") }
      }
    }
    let (edits, collected) = totals.withLock { $0 }
    print("simulation: \(count) runs, \(edits) edits, tombstones collected in \(collected) runs")
    return failures.withLock { $0.sorted() }
  }

  @Test func devicesConvergeInMemory() {
    let failures = run(Self.isFull ? 10_000 : 500) { SimulatedRun(seed: $0) }
    #expect(failures.prefix(5) == [], "\(failures.count) runs failed")
  }

  @Test func devicesConvergeOverFiles() throws {
    let folder = try TemporaryFolder()
    let next = Atomic(0)
    let failures = run(Self.isFull ? 200 : 20) { seed in
      var run = SimulatedRun(seed: seed)
      run.makeNear = { device in
        var options = SQLiteBackEnd.Options()
        options.isDurable = false
        options.tombstoneLifetime = SimulatedWorld.tombstoneLifetime
        options.clock = { [unowned device] in device.now }
        let number = next.add(1, ordering: .relaxed).newValue
        return SQLiteBackEnd(path: "\(folder.path)/\(number)/store.sqlite", options: options)
      }
      return run
    }
    #expect(failures.prefix(5) == [], "\(failures.count) runs failed")
  }
}
