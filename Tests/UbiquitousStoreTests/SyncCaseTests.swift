import BackEndConformance
import Foundation
import PropertyList
import Synchronization
import Testing

@testable import UbiquitousStore

/// What went wrong in other synced stores, each with a small input.
@Suite struct SyncCaseTests {
  private let server = makeServer()

  private func device() -> Device { Device(MemoryBackEnd(server, account: "ada")) }

  private func text(_ text: String) -> PropertyListValue { .string(text) }

  @Test("S01: a new device pulls before it pushes", arguments: [true, false])
  func newDevice(savesFirst: Bool) throws {
    let first = device()
    for number in 0..<20 { first["k\(number)"] = text("first") }
    try first.sync()

    let second = device()
    second["k0"] = text("start-up")
    second["k1"] = text("start-up")
    second["own"] = text("start-up")
    if savesFirst { second.store.synchronize() }
    _ = try second.relay.exchange()
    second.store.synchronize()
    #expect(
      second.takeChanges() == [
        StoreChange(reason: .initialSync, keys: (0..<20).map { "k\($0)" }.sorted())
      ])
    try second.sync()
    try first.sync()
    for device in [first, second] {
      #expect(device.contents.count == 21)
      #expect((0..<20).allSatisfy { device["k\($0)"] == text("first") })
      #expect(device["own"] == text("start-up"))
    }
    #expect(first.takeChanges() == [StoreChange(reason: .serverChange, keys: ["own"])])
  }

  @Test("S03: no edit, no traffic; versions are per key", arguments: [true, false])
  func perKey(firstGoesFirst: Bool) throws {
    let (a, b) = (device(), device())
    a["k1"] = text("1")
    a["k2"] = text("2")
    try a.sync()
    try b.sync()
    try a.sync()
    _ = (a.takeChanges(), b.takeChanges())
    let before = [a, b].map { $0.far.counts.withLock { ($0.pulled, $0.pushed) } }
    for _ in 0..<5 {
      for device in [a, b] {
        device.restart()
        try device.sync()
      }
    }
    for (device, counts) in zip([a, b], before) {
      #expect(device.far.counts.withLock { ($0.pulled, $0.pushed) } == counts)
      #expect(device.takeChanges() == [])
    }

    a["k1"] = text("of a")
    b["k2"] = text("of b")
    for device in firstGoesFirst ? [a, b, a] : [b, a, b] { try device.sync() }
    for device in [a, b] { #expect(device.contents == ["k1": text("of a"), "k2": text("of b")]) }
    #expect(a.takeChanges() == [StoreChange(reason: .serverChange, keys: ["k2"])])
    #expect(b.takeChanges() == [StoreChange(reason: .serverChange, keys: ["k1"])])
    #expect(
      [a, b].map { $0.far.counts.withLock { $0.pushed } } == before.map { $0.1 + 1 }, "each pushes its own edit")
  }

  @Test("S04: limits are checked when a value is set") func limits() throws {
    let store = device()
    func refusal(_ key: String, _ value: PropertyListValue) -> String? {
      do throws(StoreRefusal) {
        try store.store.set(key, to: value)
        return nil
      } catch {
        return "\(error)"
      }
    }
    let violation = { (key: String) in [StoreChange(reason: .quotaViolation, keys: [key])] }
    // A binary property list of n bytes of data is n + 46 bytes long, for these n.
    func data(_ count: Int) -> PropertyListValue { .data([UInt8](repeating: 1, count: count)) }
    func size(_ value: PropertyListValue) throws -> Int { try PropertyListCoding.encode(value, as: .binary).count }
    let overhead = try size(data(500_000)) - 500_000
    let largest = data(StoreLimits.valueBytes - overhead)
    #expect(try size(largest) == StoreLimits.valueBytes)

    // One value.
    let tooLarge = data(StoreLimits.valueBytes - overhead + 1)
    #expect(
      refusal("v", tooLarge)
        == "the key \"v\" would have a value of 1048577 bytes, and at most 1048576 are stored")
    #expect(store.takeChanges() == violation("v"))
    #expect(store.contents.isEmpty)
    #expect(refusal("v", largest) == nil)
    #expect(
      refusal("w", .boolean(true))
        == "the key \"w\" would bring all values to \(1_048_576 + 42) bytes, and a store holds 1048576; remove some first"
    )
    #expect(store.takeChanges() == violation("w"))
    #expect(store["w"] == nil)
    store["v"] = nil
    #expect(refusal("w", .boolean(true)) == nil)
    store["w"] = nil

    // Keys, in bytes.
    let sixtyFour = String(repeating: "ä", count: 32)
    #expect(refusal(sixtyFour, .boolean(true)) == nil)
    #expect(
      refusal(sixtyFour + "x", .boolean(true))
        == "the key \"\(sixtyFour)x\" has 65 bytes of UTF-8, and at most 64 are stored")
    #expect(store.takeChanges() == violation(sixtyFour + "x"))
    #expect(refusal("", .boolean(true)) == "the key \"\" is empty")
    _ = store.takeChanges()
    store[sixtyFour] = nil

    // Their number.
    for number in 0..<1024 { store["k\(number)"] = .integer(0) }
    #expect(store.contents.count == 1024)
    #expect(
      refusal("more", .boolean(true))
        == "the key \"more\" would be one more than the 1024 keys that a store holds; remove some first")
    #expect(store.takeChanges() == violation("more"))
    #expect(refusal("k5", .integer(1)) == nil, "another value for a key that is there")
    store["k7"] = nil
    #expect(refusal("more", .boolean(true)) == nil)
    #expect(store.store.synchronize())
    let accepted = store.contents
    store.restart()
    #expect(store.contents == accepted)
  }

  @Test("S06: a wrong clock does not win for ever") func wrongClock() throws {
    let (a, b) = (device(), device())
    b["m"] = text("there")
    try b.sync()
    a.ahead.withLock { $0 = 3 * 86_400_000 }
    a["k"] = text("1")
    try a.sync()
    realTime.advance(3_600_000)
    try b.sync()
    #expect(b["k"] == text("1"))
    b["k"] = text("2")
    b["m"] = nil
    try b.sync()
    a.ahead.withLock { $0 = 0 }
    try a.sync()
    #expect(a["k"] == text("2"))
    #expect(a["m"] == nil)
    a["k"] = text("3")
    try a.sync()
    try b.sync()
    for device in [a, b] { #expect(device.contents == ["k": text("3")]) }
    let stamps = server.records(of: Device.id).values.map(\.stamp.time)
    #expect(stamps.allSatisfy { $0 <= realTime.now() + HybridLogicalClock.tolerance }, "capped at the server's time")
  }

  @Test("S06: stamps that tie are broken by the device, everywhere alike") func ties() {
    let time: Int64 = 1_000
    var clocks = (0..<2).map { HybridLogicalClock(device: DeviceID(high: UInt64($0), low: 0)) }
    let records = (0..<2).map { index in
      StoreRecord(key: "k", value: [UInt8(index)], stamp: clocks[index].stamp(now: time, replacing: nil))
    }
    #expect(records[0].stamp < records[1].stamp)
    #expect(PushOutcome.of(records[0], standing: records[1], now: nil) == .superseded(by: records[1]))
    #expect(PushOutcome.of(records[1], standing: records[0], now: nil) == .taken)
  }

  @Test("S07: an edit that is made while changes are taken in is not lost") func editsMeanwhile() throws {
    let near = MemoryBackEnd(MemoryServer(clock: { realTime.now() }, refusesClocks: false), account: nil)
    let device = Device(MemoryBackEnd(server, account: "ada"), near: near)
    let remote = Device(MemoryBackEnd(server, account: "ada"), near: near)
    let isDone = Atomic(false)
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      switch thread {
      case 0:
        for number in 1...1000 {
          remote["k"] = .integer(PropertyListInteger(number))
          remote.store.synchronize()
        }
        isDone.store(true, ordering: .relaxed)
      case 1: while !isDone.load(ordering: .relaxed) { device.store.synchronize() }
      default:
        for number in 0..<200 {
          device["k"] = text("local-\(number)")
          usleep(200)
        }
      }
    }
    for _ in 0..<2 {
      #expect(device.store.synchronize())
      #expect(remote.store.synchronize())
    }
    #expect(device["k"] == remote["k"])
    #expect(!device.store.hasUnsavedEdits && !remote.store.hasUnsavedEdits)
    let standing = try near.changes(in: StoreID(account: "", application: Device.application), after: nil).records
    #expect(standing.map(\.value) == [try PropertyListCoding.encode(#require(device["k"]), as: .binary)])
  }
}

extension StoreChange {
  fileprivate init(reason: Reason, keys: [String]) {
    self.init(reason, keys.map { StoreKey($0) })
  }
}
