import Glibc
import Synchronization
import UbiquitousStore
import UbiquitousStorePostgreSQL

// Our side of `Scripts/bench store`: what a change costs that is sent to PostgreSQL, and how soon another device is woken.
// Beside Benchmarks/Peers/libpq-changes.c, which sends the same statements.
//
//   measurestore SERVICE

func microseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}

func report(_ name: String, _ values: [Double]) {
  let sorted = values.sorted()
  func text(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
  }
  print("\(name)\t\(text(sorted[sorted.count / 2]))\tus\t\(text(sorted[0]))\t\(text(sorted[sorted.count - 1]))")
}

guard CommandLine.arguments.count == 2 else { fatalError("say the service") }
let service = CommandLine.arguments[1]
let (writing, watching) = (try PostgreSQLBackEnd(service: service), try PostgreSQLBackEnd(service: service))
let store = StoreID(account: try writing.account(), application: "org.benchmark.ours")
let device = DeviceID.random()
let value = [UInt8](repeating: 7, count: 64)
var time = Int64(microseconds() / 1000)

@MainActor func change(_ count: Int) throws {
  time += 1
  let records = (0..<count).map {
    StoreRecord(key: StoreKey("key \($0)"), value: value, stamp: Stamp(time: time, counter: 0, device: device))
  }
  guard try writing.push(records, to: store).allSatisfy({ $0 == .taken }) else { fatalError("not taken") }
}

for (count, repetitions) in [(1, 200), (100, 20)] {
  try change(count)
  var values: [Double] = []
  for _ in 0..<repetitions {
    let start = microseconds()
    try change(count)
    values.append((microseconds() - start) / Double(count))
  }
  report("PostgreSQLBackEnd, a change, \(count) in a push", values)
}

final class Moment: Sendable {
  let hinted = Mutex(0.0)
}
let moment = Moment()
let watch = watching.watch(store) { moment.hinted.withLock { $0 = microseconds() } }
while moment.hinted.withLock({ $0 }) == 0 { usleep(1000) }
var latencies: [Double] = []
for _ in 0..<100 {
  moment.hinted.withLock { $0 = 0 }
  let start = microseconds()
  try change(1)
  var hinted = 0.0
  while hinted == 0 {
    hinted = moment.hinted.withLock { $0 }
    if hinted == 0 { usleep(50) }
  }
  latencies.append(hinted - start)
}
report("PostgreSQLBackEnd, change to notified", latencies)
withExtendedLifetime(watch) {}
