import BackEndConformance
import Foundation
import PropertyList
import Synchronization
import Testing

@testable import UbiquitousStore

@Suite struct SyncedStoreTests {
  private func change(_ reason: StoreChange.Reason, _ keys: [String]) -> StoreChange {
    StoreChange(reason, keys.map { StoreKey($0) })
  }

  @Test func anAccountChangeReplacesTheContents() throws {
    let server = makeServer()
    let near = MemoryBackEnd(MemoryServer(clock: { realTime.now() }, refusesClocks: false), account: nil)
    let device = Device(MemoryBackEnd(server, account: "ada"), near: near)
    let other = Device(MemoryBackEnd(server, account: "bob"))
    other["common"] = .string("bob's")
    try other.sync()
    device["common"] = .string("ada's, and newer")
    device["own"] = .string("ada's")
    try device.sync()
    #expect(device.takeChanges() == [], "nothing that this process did not set")

    device["unsaved"] = .string("ada's too")
    var relay = Relay(application: Device.application, near: near, far: MemoryBackEnd(server, account: "bob"))
    _ = try relay.exchange()
    #expect(device.store.synchronize())
    #expect(device.contents == ["common": .string("bob's")])
    #expect(device.takeChanges() == [change(.accountChange, ["common", "own", "unsaved"])])
    #expect(server.records(of: StoreID(account: "bob", application: Device.application)).count == 1)

    // What was not saved waited with ada's contents.
    _ = try device.relay.exchange()
    #expect(device.store.synchronize())
    #expect(
      device.contents == [
        "common": .string("ada's, and newer"), "own": .string("ada's"), "unsaved": .string("ada's too"),
      ])
    #expect(server.records(of: Device.id).count == 3)
  }

  @Test func editsThatComeTogetherBeyondTheLimitsAreKept() throws {
    let server = makeServer()
    let (a, b) = (Device(MemoryBackEnd(server, account: "ada")), Device(MemoryBackEnd(server, account: "ada")))
    try a.sync()
    try b.sync()
    for number in 0..<700 {
      a["a\(number)"] = .integer(1)
      b["b\(number)"] = .integer(1)
    }
    try a.sync()
    try b.sync()
    try a.sync()
    for device in [a, b] {
      #expect(device.contents.count == 1400)
      #expect(device.takeChanges().map(\.reason) == [.serverChange, .quotaViolation])
      #expect(throws: StoreRefusal.self) { try device.store.set("c", to: .integer(1)) }
      #expect(throws: Never.self) { try device.store.set("a1", to: .integer(2)) }
      _ = device.takeChanges()
    }
    for number in 0..<377 { a["a\(number)"] = nil }
    #expect(throws: Never.self) { try a.store.set("c", to: .integer(1)) }
    try a.sync()
    try b.sync()
    #expect(b.contents == a.contents)
    #expect(b.contents.count == 1024)
  }

  @Test func aDeviceThatWasAwayForLongBringsNothingBack() throws {
    // Later than the devices' clocks, which other tests move on.
    let passed = Mutex<Int64>(0)
    let server = MemoryServer(clock: { realTime.now() + passed.withLock { $0 } }, refusesClocks: true)
    let (a, b) = (Device(MemoryBackEnd(server, account: "ada")), Device(MemoryBackEnd(server, account: "ada")))
    a["kept"] = .integer(1)
    a["removed"] = .integer(1)
    try a.sync()
    try b.sync()
    b["set offline"] = .integer(1)
    b["never offered"] = .integer(1)
    b.store.synchronize()
    a["removed"] = nil
    try a.sync()
    passed.withLock { $0 = TombstoneRetention.milliseconds + 60_000 }
    a["later"] = .integer(1)
    try a.sync()
    try b.sync()
    try a.sync()
    for device in [a, b] {
      #expect(Set(device.contents.keys) == ["kept", "later", "set offline", "never offered"])
    }
    #expect(b.takeChanges().last?.keys.contains("removed") == true)
  }

  @Test func aServerThatLostItsMemoryGetsItBack() throws {
    let server = makeServer()
    let (a, b) = (Device(MemoryBackEnd(server, account: "ada")), Device(MemoryBackEnd(server, account: "ada")))
    a["old"] = .integer(1)
    try a.sync()
    let copy = server.copy(of: Device.id)
    a["new"] = .integer(1)
    a["old"] = .integer(2)
    try a.sync()
    try b.sync()
    server.restore(copy, to: Device.id)
    try b.sync()
    try a.sync()
    for device in [a, b] { #expect(device.contents == ["old": .integer(2), "new": .integer(1)]) }
    #expect(server.records(of: Device.id).count == 2)
  }

  @Test func theSameValueAndAMissingKeyAreNoEdits() throws {
    let device = Device(MemoryBackEnd(makeServer(), account: "ada"))
    device["k"] = .string("v")
    try device.sync()
    let before = device.far.counts.withLock { $0.pushed }
    device["k"] = .string("v")
    device["missing"] = nil
    #expect(!device.store.hasUnsavedEdits)
    try device.sync()
    #expect(device.far.counts.withLock { $0.pushed } == before)
  }

  @Test func aStoreThatCanNotBeReachedGoesOnInMemory() throws {
    let near = Near()
    near.isCut.withLock { $0 = true }
    let device = Device(MemoryBackEnd(makeServer(), account: "ada"), near: near)
    device["k"] = .string("v")
    #expect(!device.store.synchronize())
    #expect(!device.store.synchronize())
    #expect(device["k"] == .string("v"))
    #expect(device.reports.withLock { $0 } == ["the file is away"], "said once")
    near.isCut.withLock { $0 = false }
    #expect(device.store.synchronize())
    #expect(!device.store.hasUnsavedEdits)
  }

  /// The far contents are met right between what a process takes in and what it pushes.
  @Test("S01: edits made before the first meeting give way, whenever they are saved", arguments: [false, true])
  func editsBeforeTheFirstMeetingGiveWay(inAFile: Bool) throws {
    let server = makeServer()
    let first = Device(MemoryBackEnd(server, account: "ada"))
    first["k"] = .string("first")
    try first.sync()
    let folder = try TemporaryFolder()
    let near = inAFile ? Near(SQLiteBackEnd(path: folder.path + "/near/store.sqlite")) : Near()
    let second = Device(MemoryBackEnd(server, account: "ada"), near: near)
    realTime.advance(1000)
    second["k"] = .string("start-up")
    second["own"] = .string("start-up")
    near.beforePush.withLock { $0 = { _ = try? second.relay.exchange() } }
    #expect(second.store.synchronize())
    try second.sync()
    try first.sync()
    for device in [first, second] {
      #expect(device.contents == ["k": .string("first"), "own": .string("start-up")])
    }
  }

  /// A near back end that can be cut, and lets something come between.
  private final class Near: ForwardingNear {
    let isCut = Mutex(false)
    /// Done once, before the next push.
    let beforePush = Mutex<(@Sendable () -> Void)?>(nil)
    let near: any NearBackEnd

    init(
      _ near: any NearBackEnd = MemoryBackEnd(
        MemoryServer(clock: { realTime.now() }, refusesClocks: false), account: nil)
    ) {
      self.near = near
    }

    private func check() throws(BackEndError) {
      if isCut.withLock({ $0 }) { throw .unreachable("the file is away") }
    }
    func account() throws(BackEndError) -> String {
      try check()
      return try near.account()
    }
    private func comeBetween() {
      let before = beforePush.withLock { before in
        defer { before = nil }
        return before
      }
      before?()
    }
    func push(_ records: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome] {
      comeBetween()
      return try near.push(records, to: store)
    }
    func push(
      _ records: [StoreRecord], to store: StoreID, knowing cursor: StoreCursor
    ) throws(BackEndError) -> [PushOutcome]? {
      comeBetween()
      return try near.push(records, to: store, knowing: cursor)
    }
  }

  /// Threads, files and hints as an application has them.
  @Test func machinesFollowEachOtherThroughTheirRelays() async throws {
    let folder = try TemporaryFolder()
    let server = makeServer()
    let links = (0..<2).map { _ in CountingBackEnd(MemoryBackEnd(server, account: "ada")) }
    var options = SyncedStore.Options()
    options.saveDelay = 0.05
    options.report = { _ in }
    let stores = (0..<2).map { index in
      SyncedStore(
        application: Device.application, backEnd: SQLiteBackEnd(path: "\(folder.path)/\(index)/store.sqlite"),
        options: options)
    }
    // A second process of the first machine, which never comes to relay.
    let second = SyncedStore(
      application: Device.application, backEnd: SQLiteBackEnd(path: "\(folder.path)/0/store.sqlite"), options: options)
    let idle = CountingBackEnd(MemoryBackEnd(server, account: "ada"))
    for (store, link) in zip(stores, links) { store.relay(to: link) }
    try stores[0].set("a", to: .string("from 0"))
    try await until { stores[1].value("a") == .string("from 0") && second.value("a") == .string("from 0") }
    second.relay(to: idle)
    try second.set("b", to: .string("from the second"))
    try await until { stores[1].value("b") == .string("from the second") }
    #expect(idle.counts.withLock { $0.calls } == 0, "one process of a machine relays")

    for link in links { link.isCut.withLock { $0 = true } }
    try stores[0].set("c", to: .string("offline"))
    try stores[1].set("d", to: .string("offline"))
    for link in links { link.isCut.withLock { $0 = false } }
    try await until { stores[1].value("c") != nil && stores[0].value("d") != nil && second.value("d") != nil }

    // Idle: no call at all.
    try await until { stores.allSatisfy { !$0.hasUnsavedEdits } }
    var isIdle = false
    for _ in 0..<60 where !isIdle {
      let before = links.map { $0.counts.withLock { $0 } }
      try await Task.sleep(for: .seconds(2))
      isIdle = links.map { $0.counts.withLock { $0 } } == before
    }
    #expect(isIdle)

    // Another process takes over when the one that relays ends.
    stores[0].close()
    try stores[1].set("e", to: .string("from 1"))
    try await until { second.value("e") == .string("from 1") }
    for store in stores + [second] { store.close() }
  }
}

/// Waits for what other threads and processes do.
func until(
  sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) async throws {
  for _ in 0..<6000 {
    if try condition() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  Issue.record("waited a minute in vain", sourceLocation: sourceLocation)
}
