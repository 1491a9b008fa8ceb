import AuditEvents
import ForcedDomain
import LinuxFiles
import PropertyList
import Synchronization
import Testing

@testable import PreferencesCore

/// The rules of `RoamingSource`, with a store in memory in the place of the real one.
@Suite struct RoamingTests {
  typealias Line = Fixture.Line

  @Test func aPolicyNamesTheKeysAndTheStoreComesBeforeTheFiles() {
    let fixture = Fixture()
    let store = MemoryStore()
    store.deliver("dark", forKey: "Theme")
    store.deliver(30, forKey: "Zoom")
    fixture.store(["Theme": "light", "Zoom": 10, "Font": "Mono"])
    fixture.install([], roaming: [Fixture.domain: ["Theme", "Font"], "org.example.Other": ["Zoom"]])
    let list = fixture.list(roaming: store.opener)
    #expect(list.roamingKeys == ["Font", "Theme"])
    #expect(list.value("Theme") == "dark")
    #expect(list.value("Zoom") == 10)
    // What the store has never heard of stays where it is.
    #expect(list.value("Font") == "Mono")
    let resolution = list.resolution(of: "Theme")
    #expect(resolution.winner == .roaming)
    #expect(!list.isForced("Theme"))
    #expect(resolution.considered.first { $0.layer == .roaming }?.path == "/store")
    #expect(list.dictionaryRepresentation()["Theme"] == "dark")
  }

  @Test func theCommandLineComesBeforeTheStore() {
    let fixture = Fixture()
    let store = MemoryStore()
    store.deliver("dark", forKey: "Theme")
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list(arguments: ["-Theme", "argument"], roaming: store.opener)
    #expect(list.value("Theme") == "argument")
  }

  @Test func aSetGoesToTheStoreAndToTheFile() {
    let fixture = Fixture()
    let store = MemoryStore()
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list(roaming: store.opener)
    #expect(list.set("dark", forKey: "Theme"))
    #expect(list.set(3, forKey: "Zoom"))
    #expect(store.contents.values == ["Theme": "dark"])
    #expect(list.value("Theme") == "dark")
    #expect(list.synchronize())
    #expect(fixture.stored() == ["Theme": "dark", "Zoom": 3])
    #expect(list.removeValue(forKey: "Theme"))
    #expect(store.contents == RoamingContents(removed: ["Theme"]))
    #expect(list.value("Theme") == nil)
    #expect(list.synchronize())
    #expect(fixture.stored() == ["Zoom": 3])
  }

  @Test func anotherMachinesChangeIsToldAndCarriedOverToTheFile() {
    let fixture = Fixture()
    let store = MemoryStore()
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list(observes: true, roaming: store.opener)
    list.set("light", forKey: "Theme")
    let heard = Heard()
    let subscription = list.onChange { heard.note($0) }
    store.deliver("dark", forKey: "Theme")
    #expect(list.value("Theme") == "dark")
    #expect(heard.all.map(\.keys) == [["Theme"]])
    #expect(heard.all.map(\.source) == [.otherProcess])
    #expect(list.synchronize())
    #expect(fixture.stored() == ["Theme": "dark"])
    // The same again, and a key that does not roam, are no news.
    store.deliver("dark", forKey: "Theme")
    store.deliver(1, forKey: "Zoom")
    #expect(heard.all.count == 1)
    store.deliver(nil, forKey: "Theme")
    #expect(list.value("Theme") == nil)
    #expect(list.synchronize())
    #expect(fixture.stored() ?? [:] == [:])
    // What was carried over is no edit of this machine.
    #expect(store.sets == ["Theme"])
    subscription.cancel()
  }

  /// A key that was removed elsewhere while the application did not run does not come back from the file.
  @Test func aFileThatMissedARemovalIsBroughtUpToDate() {
    let fixture = Fixture()
    let store = MemoryStore()
    store.deliver(nil, forKey: "Theme")
    store.deliver(2, forKey: "Zoom")
    fixture.store(["Theme": "light", "Zoom": 1, "Other": true])
    fixture.install([], roaming: [Fixture.domain: ["Theme", "Zoom"]])
    let list = fixture.list(observes: true, roaming: store.opener)
    #expect(list.value("Theme") == nil)
    #expect(list.synchronize())
    #expect(fixture.stored() == ["Zoom": 2, "Other": true])
    #expect(store.sets == [])
  }

  @Test("S07: a forced key stays forced and is never uploaded") func aForcedKeyStaysForcedAndIsNeverUploaded() {
    let fixture = Fixture()
    let store = MemoryStore()
    let roaming = [Fixture.domain: ["Theme"]]
    store.deliver("dark", forKey: "Theme")
    fixture.install([Line(key: "Theme", value: "exam")], roaming: roaming)
    let list = fixture.list(roaming: store.opener)
    #expect(list.value("Theme") == "exam")
    #expect(list.isForced("Theme"))
    store.deliver("blue", forKey: "Theme")
    #expect(list.value("Theme") == "exam")
    #expect(store.contents.values == ["Theme": "blue"])
    // The user's own choice goes underneath, as into a file.
    list.set("red", forKey: "Theme")
    #expect(list.value("Theme") == "exam")
    #expect(store.contents.values == ["Theme": "red"])
    #expect(fixture.sink.taken(.forcedWrite).count == 1)
    fixture.install([], roaming: roaming, generation: 2)
    #expect(list.synchronize())
    #expect(list.value("Theme") == "red")
    #expect(store.sets == ["Theme"])
  }

  @Test func neitherRegisteredNorRecommendedValuesGetIntoTheStore() {
    let fixture = Fixture()
    let store = MemoryStore()
    fixture.install(
      [Line(key: "Advice", value: 1, section: .recommended)], roaming: [Fixture.domain: ["Advice", "Mine"]])
    let list = fixture.list(observes: true, roaming: store.opener)
    list.register(["Mine": 2])
    #expect(list.value("Advice") == 1)
    #expect(list.value("Mine") == 2)
    #expect(list.synchronize())
    #expect(store.contents == RoamingContents())
  }

  @Test func aKeyTakenOutOfThePolicyKeepsItsLastValueHere() {
    let fixture = Fixture()
    let store = MemoryStore()
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list(observes: true, roaming: store.opener)
    list.set("light", forKey: "Theme")
    store.deliver("dark", forKey: "Theme")
    fixture.install([], generation: 2)
    #expect(list.synchronize())
    #expect(list.roamingKeys == [])
    #expect(list.value("Theme") == "dark")
    list.set("green", forKey: "Theme")
    #expect(store.contents.values == ["Theme": "dark"])
  }

  @Test func whatTheStoreDoesNotTakeStaysHereWithAFault() {
    let fixture = Fixture()
    let store = MemoryStore()
    store.deliver("dark", forKey: "Theme")
    fixture.install([], roaming: [Fixture.domain: ["Theme", "Zoom"]])
    let list = fixture.list(roaming: store.opener)
    store.refusal = "it is full"
    // An older value would hide it.
    #expect(!list.set("light", forKey: "Theme"))
    #expect(list.value("Theme") == "dark")
    #expect(list.set(3, forKey: "Zoom"))
    #expect(list.value("Zoom") == 3)
    #expect(list.synchronize())
    #expect(fixture.stored() == ["Zoom": 3])
    #expect(
      fixture.sink.taken(.domainUnwritable).map { $0["fault"] } == [
        "the value of Theme can't roam: it is full", "the value of Zoom can't roam: it is full",
      ])
  }

  @Test func aStoreThatCannotBeOpenedIsAFaultAndTheFileAnswers() {
    let fixture = Fixture()
    let store = MemoryStore()
    let isSound = Mutex(false)
    store.deliver("dark", forKey: "Theme")
    fixture.store(["Theme": "light"])
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list { place throws(PreferencesFault) in
      if isSound.withLock({ $0 }) { return store }
      throw PreferencesFault(.notRoaming, path: place.directory, message: "the store is damaged")
    }
    #expect(list.value("Theme") == "light")
    #expect(list.faults.map(\.message) == ["the store is damaged"])
    #expect(fixture.sink.taken(.domainUnwritable).count == 1)
    isSound.withLock { $0 = true }
    #expect(list.synchronize())
    #expect(list.value("Theme") == "dark")
    #expect(list.faults == [])
  }

  @Test func anApplicationDeclaresKeysItself() {
    let fixture = Fixture()
    let store = MemoryStore()
    store.deliver("dark", forKey: "Theme")
    let list = fixture.list(roaming: store.opener)
    #expect(list.value("Theme") == nil)
    list.declareRoaming(["Theme"])
    #expect(list.value("Theme") == "dark")
    let other = fixture.list("org.example.Viewer", application: Fixture.domain)
    #expect(other.roamingKeys == [])
  }

  /// What a list's store brings into the file is read by the file's other lists as well, however much it is.
  @Test(arguments: [10, 100]) func aListWithoutTheStoreReadsWhatIsCarriedOver(count: Int) {
    let fixture = Fixture()
    let store = MemoryStore()
    let keys = (1...count).map { "k\($0)" }
    for key in keys { store.deliver(7, forKey: key) }
    let (first, second) = (fixture.list(observes: true), fixture.list(observes: true, roaming: store.opener))
    let heard = Heard()
    let subscription = first.onChange(heard.note)
    second.declareRoaming(keys)
    #expect(keys.map { first.value($0) } == keys.map { _ in 7 })
    #expect(heard.all.flatMap(\.keys).sorted() == keys.sorted())
    subscription.cancel()
  }

  /// A second list over the same domain sees at once what the first sets.
  @Test func listsOfADomainShareTheStore() {
    let fixture = Fixture()
    let store = MemoryStore()
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let first = fixture.list(roaming: store.opener)
    let second = fixture.list(roaming: { _ throws(PreferencesFault) in
      Issue.record("the store was opened a second time")
      return MemoryStore()
    })
    first.set("dark", forKey: "Theme")
    #expect(second.resolution(of: "Theme").winner == .roaming)
    #expect(second.value("Theme") == "dark")
  }

  @Test func replacingTheDomainReplacesWhatRoams() {
    let fixture = Fixture()
    let store = MemoryStore()
    fixture.install([], roaming: [Fixture.domain: ["Theme", "Zoom"]])
    let list = fixture.list(roaming: store.opener)
    list.set("dark", forKey: "Theme")
    #expect(list.setPersistentDomain(["Zoom": 2, "Other": 1], forName: Fixture.domain))
    #expect(store.contents == RoamingContents(values: ["Zoom": 2], removed: ["Theme"]))
    #expect(list.value("Theme") == nil)
    #expect(list.removePersistentDomain(forName: Fixture.domain))
    #expect(list.value("Zoom") == nil)
    #expect(store.contents.values == [:])
  }

  /// Outside its window a key is the file's, which has the store's last value.
  @Test func aWindowLetsKeysRoamForATime() {
    let fixture = Fixture()
    let store = MemoryStore()
    let window = WeeklyWindow(days: 0x7F, fromMinute: 0, toMinute: 60, timeZone: "UTC")
    fixture.clock.now = 5000
    fixture.install(
      [], roaming: [Fixture.domain: ["Theme"]], under: Condition(windows: [window]), intervals: [[5000..<6000]])
    let list = fixture.list(observes: true, roaming: store.opener)
    list.set("dark", forKey: "Theme")
    #expect(store.sets == ["Theme"])
    fixture.clock.now = 6000
    #expect(list.synchronize())
    #expect(list.roamingKeys == [])
    #expect(list.value("Theme") == "dark")
    list.set("light", forKey: "Theme")
    #expect(store.sets == ["Theme"])
  }

  @Test func anObserverWhoAsksForItIsToldBeforehand() {
    let fixture = Fixture()
    let store = MemoryStore()
    store.deliver("light", forKey: "Theme")
    fixture.install([], roaming: [Fixture.domain: ["Theme"]])
    let list = fixture.list(roaming: store.opener)
    let seen = Mutex<[String]>([])
    let subscription = list.observe("Theme", options: [.prior]) { [unowned list] change in
      let text = "\(change.isPrior ? "prior" : "change") \(list.string("Theme") ?? "-")"
      seen.withLock { $0.append(text) }
    }
    list.set("dark", forKey: "Theme")
    #expect(seen.withLock { $0 } == ["prior light", "change dark"])
    subscription.cancel()
  }

  @Test func theStoreLivesBesideItsDomain() throws {
    let fixture = Fixture()
    let data = fixture.home + "/.local/share"
    var locations = fixture.locations
    locations.containment = nil
    #expect(
      locations.roamingPlace(ofDomain: "org.example.Viewer")
        == RoamingPlace(domain: "org.example.Viewer", directory: data + "/managed-preferences/ubiquity", anchor: nil))
    let containment = Containment(identifier: Fixture.domain, groups: ["group.org.example.suite"])
    try ContainerPreparation.prepare(containment, in: locations)
    let home = data + "/managed-preferences/containers/org.example.Editor/home"
    let contained = RoamingPlace(
      domain: Fixture.domain, directory: home + "/.local/share/managed-preferences/ubiquity", anchor: home)
    // Everybody finds it there, contained or not.
    #expect(locations.roamingPlace(ofDomain: Fixture.domain) == contained)
    locations.containment = containment
    #expect(locations.roamingPlace(ofDomain: Fixture.domain) == contained)
    // A foreign domain's store is a copy of its own, and a group's is the group's.
    #expect(locations.roamingPlace(ofDomain: "org.example.Viewer").directory == contained.directory)
    let group = data + "/managed-preferences/groups/group.org.example.suite"
    #expect(
      locations.roamingPlace(ofDomain: "group.org.example.suite")
        == RoamingPlace(domain: "group.org.example.suite", directory: group + "/.ubiquity", anchor: group))
  }
}
