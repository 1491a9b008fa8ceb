import AuditEvents
import ForcedDomain
import LinuxFiles
import PropertyList
import Synchronization
import Testing

@testable import PreferencesCore

/// What was set under a key that roams and its store has not got: rule 6 of `RoamingSource`.
@Suite struct UnsentEditTests {
  /// What is set here while a key does not roam is later than what the store has from before, and earlier than what another
  /// machine set since.
  @Test(arguments: [false, true]) func whatIsSetBetweenTwoPoliciesThatLetAKeyRoamIsOffered(restarts: Bool) {
    let fixture = Fixture()
    let store = MemoryStore()
    let roaming = [Fixture.domain: ["Theme", "Zoom"]]
    fixture.install([], roaming: roaming)
    var list = fixture.list(observes: true, roaming: store.opener)
    list.set("one", forKey: "Theme")
    store.deliver(1, forKey: "Zoom")
    #expect(list.synchronize())
    fixture.install([], generation: 2)
    #expect(list.synchronize())
    if restarts { list = fixture.list(observes: true, roaming: store.opener) }
    list.set("two", forKey: "Theme")
    list.set(2, forKey: "Zoom")
    list.set(3, forKey: "Never")
    #expect(list.synchronize(), "nothing roams")
    #expect(store.offers.isEmpty)
    if restarts { list = fixture.list(observes: true, roaming: store.opener) }
    fixture.install([], roaming: [Fixture.domain: ["Theme", "Zoom", "Never"]], generation: 3)
    #expect(list.synchronize())
    #expect(list.value("Theme") == "two")
    #expect(store.offers.mapValues(\.before) == ["Theme": ["one"], "Zoom": [1]])
    #expect(store.contents.values == ["Theme": "two", "Zoom": 2])
    #expect(list.synchronize())
    #expect(fixture.stored() == ["Theme": "two", "Zoom": 2, "Never": 3])
    #expect(PersistentDomain.unsent(in: fixture) == [])
  }

  /// It is offered when the policy lets the key roam again, and nobody reads the store's older value until then.
  @Test(arguments: [false, true]) func theStoresOlderValueIsNeverReadInBetween(isWritten: Bool) {
    let fixture = Fixture()
    let store = MemoryStore()
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list(observes: true, roaming: store.opener)
    list.set("one", forKey: "Theme")
    #expect(list.synchronize())
    fixture.install([], generation: 2)
    #expect(eventually { list.roamingKeys == [] })
    list.set("two", forKey: "Theme")
    if isWritten { #expect(list.synchronize()) }
    let seen = Mutex<[PropertyListValue?]>([])
    let subscription = list.observe("Theme") { change in seen.withLock { $0.append(change.new) } }
    fixture.install([], roaming: [Fixture.domain: ["Theme"]], generation: 3)
    #expect(eventually { store.contents.values == ["Theme": "two"] })
    #expect(list.value("Theme") == "two")
    #expect(list.synchronize())
    #expect(seen.withLock { $0 } == [])
    #expect(list.value("Theme") == "two")
    #expect(PersistentDomain.unsent(in: fixture) == [])
    subscription.cancel()
  }

  /// The same where it is the application that declares the key once more.
  @Test func whatIsSetBeforeAKeyIsDeclaredAgainIsOffered() {
    let fixture = Fixture()
    let store = MemoryStore()
    var list = fixture.list(roaming: store.opener)
    list.declareRoaming(["Theme"])
    list.set("one", forKey: "Theme")
    #expect(list.synchronize())
    list = fixture.list(roaming: store.opener)
    list.declareRoaming(["Zoom"])
    list.set("two", forKey: "Theme")
    #expect(store.contents.values == ["Theme": "one"])
    list.declareRoaming(["Theme"])
    #expect(list.value("Theme") == "two")
    #expect(store.contents.values == ["Theme": "two"])
  }

  /// What is set while the store can't be opened is no loss: it is kept over the program's end, and the store gets it.
  @Test(arguments: [false, true]) func whatIsSetWithoutTheStoreIsOfferedToItLater(restarts: Bool) {
    let fixture = Fixture()
    let store = MemoryStore()
    let isSound = Atomic(false)
    store.deliver("old", forKey: "Theme")
    store.deliver("gone", forKey: "Font")
    store.deliver(2, forKey: "Zoom")
    fixture.store(["Theme": "old", "Zoom": 2, "Font": "gone"])
    fixture.install([], roaming: [Fixture.domain: ["Theme", "Zoom", "Font"]])
    let open = store.opener(when: { isSound.load(ordering: .relaxed) })
    var list = fixture.list(observes: true, roaming: open)
    #expect(list.synchronize(), "nothing was set yet")
    let start = WallClock.unixMilliseconds()
    list.set("new", forKey: "Theme")
    list.removeValue(forKey: "Font")
    list.set(1, forKey: "Local")
    #expect(!list.synchronize())
    #expect(fixture.stored() == ["Theme": "new", "Zoom": 2, "Local": 1])
    if restarts { list = fixture.list(observes: true, roaming: open) }
    #expect(list.value("Theme") == "new")
    #expect(!list.synchronize(), "the store has not got it")
    isSound.store(true, ordering: .relaxed)
    if restarts { list = fixture.list(observes: true, roaming: open) }
    #expect(list.synchronize())
    #expect(list.value("Theme") == "new")
    #expect(list.value("Font") == nil)
    #expect(fixture.stored() == ["Theme": "new", "Zoom": 2, "Local": 1])
    #expect(store.contents.values == ["Theme": "new", "Zoom": 2])
    #expect(store.offers.keys.sorted() == ["Font", "Theme"])
    #expect(store.offers.mapValues(\.before) == ["Theme": ["old"], "Font": ["gone"]])
    #expect(store.offers.values.allSatisfy { $0.time >= start })
    // Once is enough.
    store.deliver("later", forKey: "Theme")
    #expect(list.synchronize())
    #expect(fixture.stored()?["Theme"] == "later")
    #expect(PersistentDomain.unsent(in: fixture) == [])
  }

  /// A store that is open and can't save: the disk is full.
  @Test func whatTheStoreCannotSaveIsMarkedForTheNextProgram() {
    let fixture = Fixture()
    let (store, next) = (MemoryStore(), MemoryStore())
    for store in [store, next] { store.deliver("old", forKey: "Theme") }
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    var list = fixture.list(observes: true, roaming: store.opener)
    store.isFailing = true
    list.set("new", forKey: "Theme")
    #expect(!list.synchronize())
    #expect(PersistentDomain.unsent(in: fixture) == ["Theme"])
    // The program ends, and with it what the store had in memory.
    list = fixture.list("org.example.Other", roaming: next.opener)
    list = fixture.list(observes: true, roaming: next.opener)
    #expect(list.value("Theme") == "new")
    #expect(list.synchronize())
    #expect(next.contents.values == ["Theme": "new"])
    #expect(fixture.stored() == ["Theme": "new"])
    #expect(PersistentDomain.unsent(in: fixture) == [])
  }

  /// The store fails after the file was written, and says so by itself.
  @Test func whatCouldNotBeSavedLaterIsMarkedToo() {
    let fixture = Fixture()
    let store = MemoryStore()
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list(observes: true, roaming: store.opener)
    list.set("new", forKey: "Theme")
    #expect(eventually { fixture.stored() == ["Theme": "new"] })
    #expect(PersistentDomain.unsent(in: fixture) == [])
    store.isFailing = true
    store.deliver(1, forKey: "Zoom")
    #expect(PersistentDomain.unsent(in: fixture) == ["Theme"])
    store.isFailing = false
    #expect(list.synchronize())
    #expect(PersistentDomain.unsent(in: fixture) == [])
  }

  /// A command that only reads, and a store that is full, leave the file's newer value in its place.
  @Test func anUnsentValueComesBeforeAStoreThatDoesNotTakeIt() {
    let fixture = Fixture()
    let store = MemoryStore()
    let isSound = Atomic(false)
    store.deliver("old", forKey: "Theme")
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list(observes: true, roaming: store.opener(when: { isSound.load(ordering: .relaxed) }))
    list.set("new", forKey: "Theme")
    #expect(!list.synchronize())
    isSound.store(true, ordering: .relaxed)
    store.refusal = "it is full"
    for _ in 0..<2 { #expect(!list.synchronize()) }
    #expect(list.value("Theme") == "new")
    #expect(list.resolution(of: "Theme").winner == .application)
    #expect(fixture.stored() == ["Theme": "new"])
    #expect(
      fixture.sink.taken(.domainUnwritable).map { $0["fault"] } == [
        "the store can't be opened", "the value of Theme can't roam: it is full",
      ])
    store.refusal = nil
    #expect(list.synchronize())
    #expect(store.contents.values == ["Theme": "new"])
    #expect(list.resolution(of: "Theme").winner == .roaming)
  }
}

extension PersistentDomain {
  /// The keys of the fixture's domain that are marked as unsent.
  fileprivate static func unsent(in fixture: Fixture) -> Set<String> {
    try! PersistentDomain(Fixture.domain, in: fixture.locations).unsentKeys()
  }
}
