import Foundation
import LinuxFiles
import PostgreSQLServer
import Synchronization
import Testing
import UbiquitousStore
import UbiquitousStorePostgreSQL

/// A lab of 50 users with four devices each, all at work at once, while connections are cut and the server crashes.
@Suite(.enabled(if: TrialServer.isAvailable)) struct LabTests {
  static let isFull = ProcessInfo.processInfo.environment["MANAGED_PREFERENCES_FULL_TESTS"] == "1"

  /// One device: it edits, sends until it is answered, and follows what the others do.
  final class Device: @unchecked Sendable {
    let backEnd: PostgreSQLBackEnd
    let store: StoreID
    /// What the server acknowledged.
    var acknowledged: [StoreRecord] = []
    var cursor: StoreCursor?
    var contents: [StoreKey: StoreRecord] = [:]
    var clock = HybridLogicalClock(device: .random())
    var failure: String?

    init(service: String, user: String) throws {
      backEnd = try PostgreSQLBackEnd(service: service)
      store = StoreID(account: user, application: "com.example.Lab")
    }

    /// Does something until the server is there for it; what does not pass by itself is a failure.
    func persistently<R>(_ body: () throws(BackEndError) -> R) -> R? {
      let deadline = Date(timeIntervalSinceNow: 600)
      while failure == nil {
        do throws(BackEndError) { return try body() } catch {
          if !error.isTransient || Date() > deadline { failure = "\(error)" }
          Thread.sleep(forTimeInterval: .random(in: 0.02...0.1))
        }
      }
      return nil
    }

    func follow() {
      guard let changes = persistently({ () throws(BackEndError) in try backEnd.changes(in: store, after: cursor) })
      else { return }
      if changes.isWhole { contents = [:] }
      for record in changes.records { contents[record.key] = record }
      cursor = changes.cursor
    }

    func edit() {
      let keys = Set((0..<Int.random(in: 1...3)).map { _ in StoreKey("key \(Int.random(in: 0..<12))") })
      let records = keys.map { key in
        StoreRecord(
          key: key, value: Bool.random() ? nil : [UInt8.random(in: 0...255)],
          stamp: clock.stamp(now: WallClock.unixMilliseconds(), replacing: contents[key]?.stamp))
      }
      guard let outcomes = persistently({ () throws(BackEndError) in try backEnd.push(records, to: store) }) else {
        return
      }
      for (record, outcome) in zip(records, outcomes) {
        switch outcome {
        case .taken: acknowledged.append(record)
        case .superseded(let other): if other.stamp <= record.stamp { failure = "superseded by what is not newer" }
        case .clockAhead: failure = "the clock of this very machine is said to be ahead"
        }
      }
    }
  }

  @Test func nothingAcknowledgedIsLostAndAllDevicesConverge() throws {
    let (userCount, devicesEach, rounds) = (50, 4, Self.isFull ? 200 : 12)
    let server = try TrialServer()
    let users = (1...userCount).map { "student\($0)" }
    try server.addUsers(users)
    let devices = try users.flatMap { user in
      let service = try server.service(for: user)
      return try (0..<devicesEach).map { _ in try Device(service: service, user: user) }
    }
    let done = Mutex(0)
    let left = Mutex(devices.count)
    for device in devices {
      let thread = Thread {
        for _ in 0..<rounds {
          device.follow()
          device.edit()
          done.withLock { $0 += 1 }
          Thread.sleep(forTimeInterval: .random(in: 0...0.05))
        }
        left.withLock { $0 -= 1 }
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
    let whole = devices.count * rounds
    func waitFor(_ share: Double) {
      let deadline = Date(timeIntervalSinceNow: Self.isFull ? 3000 : 600)
      while Double(done.withLock { $0 }) < Double(whole) * share, Date() < deadline {
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename LIKE 'student%'"
    waitFor(0.2)
    try server.administer(cut)
    waitFor(0.4)
    try server.restart()
    waitFor(0.7)
    try server.administer(cut)
    waitFor(1)
    let deadline = Date(timeIntervalSinceNow: 600)
    while left.withLock({ $0 }) > 0, Date() < deadline { Thread.sleep(forTimeInterval: 0.01) }
    #expect(left.withLock { $0 } == 0, "devices that are not done")
    if left.withLock({ $0 }) > 0 { return }

    for device in devices { device.follow() }
    #expect(devices.compactMap(\.failure) == [])
    for (index, user) in users.enumerated() {
      let own = devices[(index * devicesEach)..<((index + 1) * devicesEach)]
      let whole = try own.first!.backEnd.changes(in: own.first!.store, after: nil)
      let standing = Dictionary(uniqueKeysWithValues: whole.records.map { ($0.key, $0) })
      for device in own {
        #expect(device.contents == standing, "a device of \(user) has other contents than the server")
        for record in device.acknowledged {
          guard let found = standing[record.key], found.stamp >= record.stamp,
            found.stamp > record.stamp || found == record
          else {
            Issue.record("\(record.key) of \(user) was acknowledged and is lost")
            continue
          }
        }
      }
      #expect(own.contains { !$0.acknowledged.isEmpty })
    }
  }

  @Test func aWatchOutlivesACrashOfTheServer() throws {
    let server = try TrialServer()
    try server.addUsers(["watcher"])
    let service = try server.service(for: "watcher")
    let store = StoreID(account: "watcher", application: "com.example.Watched")
    let (watching, writing) = (try PostgreSQLBackEnd(service: service), try PostgreSQLBackEnd(service: service))
    let hints = Mutex(0)
    func wait(for count: Int) -> Bool {
      let deadline = Date(timeIntervalSinceNow: 60)
      while hints.withLock({ $0 }) < count, Date() < deadline { Thread.sleep(forTimeInterval: 0.005) }
      return hints.withLock { $0 } >= count
    }
    let watch = watching.watch(store) { hints.withLock { $0 += 1 } }
    #expect(wait(for: 1), "no hint at the beginning")
    try server.restart()
    #expect(wait(for: 2), "no hint after the interruption")
    let before = hints.withLock { $0 }
    let record = StoreRecord(key: "k", value: [1], stamp: Stamp(time: 1, counter: 0, device: .random()))
    #expect(try writing.push([record], to: store) == [.taken])
    #expect(wait(for: before + 1), "no hint of a change after the interruption")
    // A hint is no more than a hint: what it was about is there for who asks without one.
    #expect(try watching.changes(in: store, after: nil).records == [record])
    _ = consume watch
  }
}
