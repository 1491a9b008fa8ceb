import AuditEvents
import BackEndConformance
import ForcedDomain
import Foundation
import LinuxFiles
import PreferencesCore
import PropertyList
import Synchronization
import TestPrograms
import Testing

@testable import UbiquitousStore

/// Keys of search lists that roam, through the real store: SQLite on each machine, and a relay between them.
@Suite struct RoamingStoreTests {
  static let application = "com.example.Editor"

  final class Sink: AuditEventSink {
    private let events = Mutex<[AuditEvent]>([])
    func send(_ event: AuditEvent) { events.withLock { $0.append(event) } }
    var faults: [String] { events.withLock { $0.compactMap { $0.fields["fault"]?.stringValue } } }
  }

  /// A home on a machine of its own.
  final class Machine {
    let home: String
    let sink = Sink()

    init() throws {
      home = NSTemporaryDirectory() + "roaming-\(UUID().uuidString)"
      try Directory.createAll(home + "/.config", mode: 0o700)
    }

    deinit { TestFolders.remove(home) }

    /// - Parameter roams: false opens no store.
    func list(_ containment: Containment? = nil, roams: Bool = true) throws -> SearchList {
      var configuration = SearchList.Configuration(
        domain: RoamingStoreTests.application, homeDirectory: home, configurationDirectory: home + "/.config",
        dataDirectory: home + "/.local/share", containment: containment, hostIdentifier: "0123456789abcdef",
        languages: [], installation: Installation(root: home + "/none"), sink: sink)
      configuration.openRoamingLayer = RoamingStore.open
      let list = try SearchList(configuration: configuration)
      if roams { list.declareRoaming(["Theme", "Zoom"]) }
      return list
    }

    func place(_ list: SearchList) -> RoamingPlace {
      list.configuration.locations.roamingPlace(ofDomain: RoamingStoreTests.application)
    }

    func store(_ list: SearchList) -> SyncedStore { OpenStores.store(at: place(list)) }

    /// What the application's own file holds.
    func file(_ list: SearchList) -> [String: PropertyListValue]? {
      list.synchronize()
      return try? PersistentDomain(RoamingStoreTests.application, in: list.configuration.locations).read()
    }

    func relay(_ list: SearchList, _ far: any StoreBackEnd) throws -> Relay {
      let near = try #require(store(list).backEnd as? any NearBackEnd)
      return Relay(application: RoamingStoreTests.application, near: near, far: far)
    }
  }

  @Test func aSettingFollowsItsUserToAnotherMachine() throws {
    let server = makeServer()
    let (here, there) = (try Machine(), try Machine())
    let (first, second) = (try here.list(), try there.list())
    var (up, down) = (
      try here.relay(first, MemoryBackEnd(server, account: "ada")),
      try there.relay(second, MemoryBackEnd(server, account: "ada"))
    )
    let heard = Mutex<[[String]]>([])
    let subscription = second.onChange { change in heard.withLock { $0.append(change.keys) } }
    first.set(.string("dark"), forKey: "Theme")
    first.set(.integer(3), forKey: "Local")
    #expect(first.synchronize())
    _ = try up.exchange()
    _ = try down.exchange()
    #expect(second.synchronize())
    #expect(second.value("Theme") == .string("dark"))
    #expect(second.resolution(of: "Theme").winner == .roaming)
    #expect(second.value("Local") == nil)
    // The store's own thread may have taken it in, and still be telling of it.
    #expect(eventually { heard.withLock { $0 } == [["Theme"]] })
    #expect(there.file(second) == ["Theme": .string("dark")])

    second.removeValue(forKey: "Theme")
    #expect(second.synchronize())
    _ = try down.exchange()
    _ = try up.exchange()
    #expect(first.synchronize())
    #expect(first.value("Theme") == nil)
    #expect(here.file(first) == ["Local": .integer(3)])
    subscription.cancel()

    // What was carried over is no edit: apart from the echo of what each sent, nothing moves any more.
    for _ in 0..<2 { _ = (try up.exchange(), try down.exchange()) }
    #expect(try up.exchange() == Relay.Exchange())
    #expect(try down.exchange() == Relay.Exchange())
  }

  /// The application's own store and its preferences are one: what one sets, the other reads.
  @Test func theStoreOfTheApplicationIsTheSame() throws {
    let machine = try Machine()
    let list = try machine.list()
    let store = machine.store(list)
    list.set(.integer(2), forKey: "Zoom")
    #expect(store.value("Zoom") == .integer(2))
    #expect(store.value("Local") == nil)
    // And the other way round, at once.
    let heard = Mutex<[[String]]>([])
    let subscription = list.onChange { change in heard.withLock { $0.append(change.keys) } }
    try store.set("Zoom", to: .integer(3))
    #expect(list.value("Zoom") == .integer(3))
    store.remove("Zoom")
    #expect(list.value("Zoom") == nil)
    #expect(heard.withLock { $0 } == [["Zoom"], ["Zoom"]])
    subscription.cancel()
  }

  /// What a process set last is far away when it has ended: the user may be at the next machine already.
  @Test func whatWasSetLastArrivesBeforeTheEnd() throws {
    let server = makeServer()
    let machine = try Machine()
    let list = try machine.list()
    let store = machine.store(list)
    store.relay(to: MemoryBackEnd(server, account: "ada"))
    list.set(.string("dark"), forKey: "Theme")
    #expect(store.synchronize())
    store.finishRelay(within: 120)
    let records = server.records(of: StoreID(account: "ada", application: Self.application))
    #expect(records.map(\.key) == ["Theme"])
    store.close()
  }

  /// Another account's contents take the place of the former's, in the application's own file too.
  @Test func anotherAccountDoesNotReadTheFormersValues() throws {
    let server = makeServer()
    let machine = try Machine()
    let list = try machine.list()
    var relay = try machine.relay(list, MemoryBackEnd(server, account: "ada"))
    list.set(.string("dark"), forKey: "Theme")
    #expect(list.synchronize())
    _ = try relay.exchange()
    relay = try machine.relay(list, MemoryBackEnd(server, account: "bob"))
    _ = try relay.exchange()
    #expect(list.synchronize())
    #expect(list.value("Theme") == nil)
    #expect(machine.file(list) ?? [:] == [:])
  }

  /// Another process of the machine sets a value: it is seen without asking.
  @Test func anotherProcessesValueArrivesByItself() throws {
    let machine = try Machine()
    let list = try machine.list()
    let path = SQLiteBackEnd.path(ofApplication: Self.application, in: machine.place(list).directory)
    let other = SyncedStore(application: Self.application, backEnd: SQLiteBackEnd(path: path))
    try other.set("Theme", to: .string("blue"))
    #expect(other.synchronize())
    #expect(eventually { list.value("Theme") == .string("blue") })
    other.close()
  }

  /// However often it is tried.
  @Test func whatIsWrongWithAStoreIsSaidOnce() throws {
    let machine = try Machine()
    let locations = PreferenceLocations(
      homeDirectory: machine.home, dataDirectory: machine.home + "/data", installation: Installation(root: machine.home)
    )
    let place = locations.roamingPlace(ofDomain: Self.application)
    try AtomicReplacement.write([], to: locations.dataDirectory, mode: 0o600)
    let said = Mutex<[String]>([])
    let attempt: () -> Bool = {
      (try? RoamingStore.open(place) { text in said.withLock { $0.append(text) } }) != nil
    }
    for _ in 0..<3 { #expect(!attempt()) }
    let text = "cannot create directory \(locations.dataDirectory): File exists; move away what has the folder's name"
    #expect(said.withLock { $0 } == [text])
    try Directory.removeFile(locations.dataDirectory)
    // What the thread of a store that is still open says of it is said as well.
    weak var open: SyncedStore?
    do {
      let layer = try RoamingStore.open(place) { text in said.withLock { $0.append(text) } }
      open = OpenStores.store(at: place)
      extendLifetime(layer)
    }
    #expect(eventually { open == nil })
    try untilDone {
      try Directory.removeTree(locations.dataDirectory)
      try AtomicReplacement.write([], to: locations.dataDirectory, mode: 0o600)
    } otherwise: {
      clear(locations.dataDirectory)
      _ = try? Directory.createAll(locations.dataDirectory)
    }
    for _ in 0..<2 { #expect(!attempt()) }
    #expect(said.withLock { $0.count } == 2)
  }

  /// The store's folder can't be used while a value is set; a later program finds the store as it was.
  @Test func whatIsSetWhileTheStoreCannotBeOpenedWins() throws {
    let machine = try Machine()
    var list: SearchList? = try machine.list()
    let folder = machine.place(list!).directory
    list!.set(.string("old"), forKey: "Theme")
    list!.set(.integer(1), forKey: "Zoom")
    #expect(list!.synchronize())
    list = nil
    try Directory.rename(folder, to: folder + ".aside")
    try untilDone {
      try AtomicReplacement.write([], to: folder, mode: 0o600)
    } otherwise: {
      clear(folder)
    }
    list = try machine.list()
    #expect(list!.value("Theme") == .string("old"))
    list!.set(.string("new"), forKey: "Theme")
    list!.removeValue(forKey: "Zoom")
    #expect(!list!.synchronize())
    list = nil
    clear(folder)
    try untilDone {
      try Directory.rename(folder + ".aside", to: folder)
    } otherwise: {
      clear(folder)
    }
    list = try machine.list()
    #expect(list!.value("Theme") == .string("new"))
    #expect(list!.value("Zoom") == nil)
    #expect(list!.synchronize())
    #expect(machine.file(list!) == ["Theme": .string("new")])
    #expect(machine.store(list!).dictionary().map(\.key) == ["Theme"])
  }

  /// Waits for what another thread brings about; false after a minute.
  private func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<12_000 {
      if condition() { return true }
      usleep(5000)
    }
    return false
  }

  private func clear(_ path: String) {
    try? Directory.removeTree(path)
    try? Directory.removeFile(path)
  }

  /// Does something that the thread of a list that was let go may be in the way of: it makes the store's folder again.
  private func untilDone(_ body: () throws -> Void, otherwise: () -> Void) throws {
    for _ in 0..<1000 {
      do { return try body() } catch { otherwise() }
      usleep(5000)
    }
    try body()
  }

  /// An edit that was made without the store competes by the time when it was made, and wins where the store still has what
  /// it was made on, whatever its clock said.
  @Test(
    arguments: [
      (time: 900, before: ["old"], isTaken: true), (time: 900, before: ["other"], isTaken: false),
      (time: 900, before: nil, isTaken: false), (time: 1100, before: nil, isTaken: true),
      (time: 1100, before: ["other"], isTaken: true),
    ] as [(time: Int64, before: [String]?, isTaken: Bool)])
  func anOfferedEditHasTheTimeOfItsMaking(time: Int64, before: [String]?, isTaken: Bool) throws {
    let folder = NSTemporaryDirectory() + "offered-\(UUID().uuidString)"
    defer { try? Directory.removeTree(folder) }
    let clock = Atomic<Int64>(1000)
    var options = SyncedStore.Options()
    options.saveDelay = 3600
    options.clock = { clock.load(ordering: .relaxed) }
    let store = SyncedStore(
      application: Self.application, backEnd: SQLiteBackEnd(path: folder + "/store.sqlite"), options: options)
    try store.set("Theme", to: .string("old"))
    #expect(store.synchronize())
    clock.store(5000, ordering: .relaxed)
    let edit = UnsentEdit(time: time, before: before.map { $0.map { .string($0) } })
    try store.offer(.string("new"), forKey: "Theme", edit)
    #expect(store.value("Theme") == .string(isTaken ? "new" : "old"))
    #expect(store.synchronize())
    let stamp = store.memory.withLock { $0.replica.entries[StoreKey("Theme")]?.record.stamp }
    #expect(stamp?.time == max(1000, isTaken ? time : 0))
    store.close()
  }

  @Test func aFullStoreRefusesAndItsObserversMayAskTheList() throws {
    let machine = try Machine()
    let list = try machine.list()
    let store = machine.store(list)
    for number in 0..<StoreLimits.keyCount { try store.set("k\(number)", to: .integer(1)) }
    let told = Mutex<[String]>([])
    _ = store.observe { [weak list] change in
      // It may come before the value can be read, and must not wait for who sets it.
      _ = list?.integer("Zoom")
      let text = "\(change.reason) \(change.keys)"
      told.withLock { $0.append(text) }
    }
    #expect(list.set(.integer(5), forKey: "Zoom"))
    #expect(list.value("Zoom") == .integer(5), "it stays on this machine")
    #expect(eventually { told.withLock { $0 } == ["quotaViolation [\"Zoom\"]"] })
    #expect(
      machine.sink.faults == [
        "the value of Zoom can't roam: the key \"Zoom\" would be one more than the 1024 keys that a store holds; remove some first"
      ])
  }

  /// A contained application can write in its container: a link that it plants there leads nobody to another file.
  @Test func aLinkInTheFilesPlaceLeadsNowhere() throws {
    let machine = try Machine()
    let containment = Containment(identifier: Self.application)
    let place = try machine.place(machine.list(containment, roams: false))
    let path = SQLiteBackEnd.path(ofApplication: Self.application, in: place.directory)
    try Directory.createAll(FilePath.parent(of: path), mode: 0o700)
    let elsewhere = machine.home + "/elsewhere"
    try AtomicReplacement.write([], to: elsewhere, mode: 0o600)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere)
    let list = try machine.list(containment)
    list.set(.string("dark"), forKey: "Theme")
    #expect(try FileMetadata.of(elsewhere).size == 0)
    #expect(
      list.faults.map(\.message) == ["nothing roams: cannot open \(path): Too many levels of symbolic links"])
  }

  @Test func aLinkInAContainerLeadsNowhere() throws {
    let machine = try Machine()
    let containment = Containment(identifier: Self.application)
    let place = try machine.place(machine.list(containment, roams: false))
    let anchor = try #require(place.anchor)
    #expect(place.directory == anchor + "/.local/share/managed-preferences/ubiquity")
    try Directory.createAll(FilePath.parent(of: place.directory), mode: 0o700)
    let elsewhere = machine.home + "/elsewhere"
    try Directory.createAll(elsewhere, mode: 0o700)
    try FileManager.default.createSymbolicLink(atPath: place.directory, withDestinationPath: elsewhere)
    let list = try machine.list(containment)
    list.set(.string("dark"), forKey: "Theme")
    #expect(list.value("Theme") == .string("dark"), "its own file answers")
    #expect(try Directory.names(in: elsewhere) == [])
    #expect(
      list.faults.map(\.message) == [
        "nothing roams: cannot open \(place.directory): Not a directory"
      ])
  }
}
