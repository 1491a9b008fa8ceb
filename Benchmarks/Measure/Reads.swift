import Foundation
import ManagedPreferences
import PreferencesCore

/// Reads and forced queries of `count` forced keys, through the search list, `ManagedDefaults` and, as the peer,
/// `Foundation.UserDefaults` over the same values in its own file.
///
/// Expects `MANAGED_PREFERENCES_ROOT` to name an installation of the profiles that `Benchmarks/generate` writes.
func measureReads(count: Int) {
  ManagedDefaults.applicationIdentifier = Keys.domain
  let managed = ManagedDefaults.standard
  let list = try! SearchList(configuration: .init(domain: Keys.domain, observes: true))
  let booleans = KeySet(Keys.shuffled(count, kind: 0).map { Keys.key($0) })
  let integers = KeySet(Keys.shuffled(count, kind: 1).map { Keys.key($0) })
  let strings = KeySet(Keys.shuffled(count, kind: 2).map { Keys.key($0) })
  let all = KeySet(Keys.shuffled(count, kind: nil).map { Keys.key($0) })
  let misses = KeySet(Keys.shuffled(count, kind: nil).map { Keys.key($0, "Nix") })
  precondition(list.isForced(all.first) && managed.objectIsForced(forKey: all.first), "the policy is not installed")
  precondition(!list.isForced(misses.first) && list.string(strings.first) != nil)

  var workloads: [(name: String, work: Timing.Workload)] = []
  func enter(_ name: String, _ work: @escaping Timing.Workload) { workloads.append(("\(name), \(count) keys,", work)) }
  enter("loop alone") {
    all.cycle($0, $1) { ignore($0) }
  }
  enter("SearchList isForced hit") {
    all.cycle($0, $1) { list.isForced($0) ? 1 : 0 }
  }
  enter("SearchList isForced miss") {
    misses.cycle($0, $1) { list.isForced($0) ? 1 : 0 }
  }
  enter("SearchList bool") {
    booleans.cycle($0, $1) { list.bool($0) ? 1 : 0 }
  }
  enter("SearchList integer") {
    integers.cycle($0, $1) { UInt64(truncatingIfNeeded: list.integer($0)) }
  }
  enter("SearchList string") {
    strings.cycle($0, $1) { UInt64(list.string($0)!.utf8.count) }
  }

  nonisolated(unsafe) let defaults = managed
  enter("ManagedDefaults objectIsForced hit") {
    all.cycle($0, $1) { defaults.objectIsForced(forKey: $0) ? 1 : 0 }
  }
  enter("ManagedDefaults objectIsForced miss") {
    misses.cycle($0, $1) { defaults.objectIsForced(forKey: $0) ? 1 : 0 }
  }
  enter("ManagedDefaults bool") {
    booleans.cycle($0, $1) { defaults.bool(forKey: $0) ? 1 : 0 }
  }
  enter("ManagedDefaults integer") {
    integers.cycle($0, $1) { UInt64(truncatingIfNeeded: defaults.integer(forKey: $0)) }
  }
  enter("ManagedDefaults string") {
    strings.cycle($0, $1) { UInt64(defaults.string(forKey: $0)!.utf8.count) }
  }

  nonisolated(unsafe) let peer = UserDefaults(suiteName: "org.benchmark.peer\(count)")!
  // Written by the first round, read from its file by the others: 10,000 times `set` takes it seconds.
  if peer.object(forKey: Keys.key(count - 1)) == nil {
    for index in 0..<count {
      switch index % 3 {
      case 0: peer.set((index / 3) & 1 == 1, forKey: Keys.key(index))
      case 1: peer.set(index, forKey: Keys.key(index))
      default: peer.set("https://proxy.example.com/value/\(index)", forKey: Keys.key(index))
      }
    }
    _ = peer.synchronize()
  }
  enter("UserDefaults bool") {
    booleans.cycle($0, $1) { peer.bool(forKey: $0) ? 1 : 0 }
  }
  enter("UserDefaults integer") {
    integers.cycle($0, $1) { UInt64(truncatingIfNeeded: peer.integer(forKey: $0)) }
  }
  enter("UserDefaults string") {
    strings.cycle($0, $1) { UInt64(peer.string(forKey: $0)!.utf8.count) }
  }
  Timing.measure(workloads)
}

/// `set` on the calling thread, in a domain that has `count` keys.
func measureWrites(count: Int) {
  ManagedDefaults.applicationIdentifier = "org.benchmark.writes"
  nonisolated(unsafe) let defaults = ManagedDefaults.standard
  for index in 0..<count { defaults.set(index, forKey: Keys.key(index)) }
  defaults.synchronize()
  let order = Keys.shuffled(count, kind: nil).map { Keys.key($0) }
  var values: [Double] = []
  for round in 0..<4000 {
    let key = order[round % order.count]
    let start = Timing.nanoseconds()
    defaults.set(round, forKey: key)
    values.append((Timing.nanoseconds() - start) / 1000)
  }
  Timing.report("ManagedDefaults set, \(count) keys", values, "µs")
  defaults.synchronize()
}
