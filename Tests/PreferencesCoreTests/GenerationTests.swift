import AuditEvents
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

@Suite struct GenerationTests {
  typealias Line = Fixture.Line

  static let window = WeeklyWindow(fromMinute: 540, toMinute: 690, timeZone: "Europe/Berlin")

  @Test func windowsOpenAndCloseByTheClock() {
    let fixture = Fixture()
    fixture.clock.now = 1000
    fixture.install([
      Line(
        key: "exam", value: true, condition: Condition(windows: [Self.window]),
        intervals: [[2000..<3000, 5000..<6000]])
    ])
    let list = fixture.list()
    let heard = Heard()
    let subscription = list.onChange(heard.note)
    func at(_ instant: Int64) -> (Bool, Bool, Int64?) {
      fixture.clock.now = instant
      list.synchronize()
      return (list.bool("exam"), list.isForced("exam"), list.forcedBy("exam").first?.until)
    }
    for (instant, isOpen) in [(1999, false), (2000, true), (2999, true), (3000, false), (5000, true), (6000, false)] {
      let (value, isForced, until) = at(Int64(instant))
      #expect(value == isOpen && isForced == isOpen, "\(instant)")
      #expect(until == (isOpen ? (instant < 3000 ? 3000 : 6000) : nil), "\(instant)")
    }
    #expect(at(2500).1, "a clock that is turned back leads back into the window")
    #expect(heard.all.map(\.source) == [.policy, .policy, .policy, .policy, .policy])
    #expect(heard.all.allSatisfy { $0.keys == ["exam"] && $0.persistentDomain == nil })
    subscription.cancel()
  }

  @Test func expiryAndWindowBothEndAForcedValue() {
    let fixture = Fixture()
    fixture.clock.now = 2500
    fixture.install([
      Line(
        key: "k", value: 1, condition: Condition(windows: [Self.window], notAfter: 2800),
        intervals: [[2000..<3000]])
    ])
    let list = fixture.list()
    #expect(list.forcedBy("k").first?.until == 2800)
    fixture.clock.now = 2800
    list.synchronize()
    #expect(!list.isForced("k"))
  }

  @Test func aHostWithoutInstallationForcesNothing() {
    let fixture = Fixture()
    try! Directory.remove(fixture.installation.stateDirectory)
    fixture.store(["k": 1])
    let list = fixture.list()
    #expect(list.integer("k") == 1)
    #expect(!list.isForced("k"))
    #expect(list.generation == nil)
    #expect(list.faults == [])
    #expect(fixture.sink.taken(.domainDamaged) == [])
  }

  @Test func anEmptyForcedDomainIsNormal() {
    let fixture = Fixture()
    fixture.install([], generation: 0)
    let list = fixture.list()
    list.set(1, forKey: "k")
    #expect(list.integer("k") == 1)
    #expect(!list.isForced("k"))
    #expect(list.generation == 0)
  }

  /// Nothing readable in a fresh process: registered values answer, everything counts as forced, one event.
  @Test func anUnreadablePolicyLocksEverything() {
    let fixture = Fixture()
    fixture.install([Line(key: "k", value: 1)])
    try! AtomicReplacement.write([1, 2, 3], to: fixture.installation.forcedFile, mode: 0o644, durable: false)
    fixture.store(["k": 2, "user": 3])
    let list = fixture.list(arguments: ["-argument", "4"])
    list.register(["registered": 5, "user": 6])
    #expect(list.dictionaryRepresentation() == ["registered": 5, "user": 6])
    #expect(["k", "user", "argument", "registered", "none"].allSatisfy { list.isForced($0) })
    #expect(list.isForced("x", inDomain: "org.example.Other"))
    #expect(list.isForcedDomainUnavailable)
    #expect(list.resolution(of: "user").isForced)
    #expect(list.resolution(of: "user").considered.map(\.layer) == [.registration])
    #expect(list.faults.map(\.kind).contains(.policyUnavailable))
    list.synchronize()
    _ = fixture.list()
    #expect(fixture.sink.taken(.domainDamaged).count == 1)

    list.set(7, forKey: "user")
    #expect(list.integer("user") == 6)
    #expect(fixture.sink.taken(.forcedWrite).map { $0["key"] } == ["user"])
    #expect(list.synchronize())
    #expect(fixture.stored() == ["k": 2, "user": 7], "what is set is stored underneath")

    fixture.install([Line(key: "k", value: 9)], generation: 2)
    list.synchronize()
    #expect(list.dictionaryRepresentation() == ["k": 9, "user": 7, "argument": "4", "registered": 5])
    #expect(!list.isForced("user"))
    #expect(list.faults == [])
  }

  @Test func theNewestSoundGenerationStandsIn() throws {
    let fixture = Fixture()
    fixture.install([Line(key: "k", value: 1)], generation: 4)
    let kept = fixture.installation.generationDirectory(3)
    try Directory.createAll(kept)
    try AtomicReplacement.write(
      Fixture.forcedFile([Line(key: "k", value: 3)], generation: 3), to: kept + "/forced", mode: 0o644)
    try AtomicReplacement.write([0], to: fixture.installation.forcedFile, mode: 0o644)
    let list = fixture.list()
    #expect(list.integer("k") == 3)
    #expect(list.isForced("k"))
    #expect(list.generation == 3)
    #expect(list.faults.map(\.kind) == [.policyDamaged])
    let events = fixture.sink.taken(.domainDamaged)
    #expect(events.count == 1)
    #expect(events.first?["inForce"] == "generation 3")
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let replace: @Sendable (Fixture) -> Void
  }

  static let bad: [Bad] = [
    Bad(testDescription: "a flipped bit") { fixture in
      var bytes = Fixture.forcedFile([Line(key: "k", value: 2)], generation: 2)
      bytes[bytes.count / 2] ^= 4
      try! AtomicReplacement.write(bytes, to: fixture.installation.forcedFile, mode: 0o644)
      fixture.mark(2, checksum: 0)
    },
    Bad(testDescription: "a file that others may write") { fixture in
      fixture.install([Line(key: "k", value: 2)], generation: 2)
      chmod(fixture.installation.forcedFile, 0o666)
    },
    Bad(testDescription: "an older generation put back") { fixture in
      fixture.install([Line(key: "k", value: 2)], generation: 0)
    },
    Bad(testDescription: "other contents under the same number") { fixture in
      fixture.install([Line(key: "k", value: 2)], generation: 1)
    },
    Bad(testDescription: "a symbolic link") { fixture in
      let aside = fixture.directory + "/mine"
      try! AtomicReplacement.write(
        Fixture.forcedFile([Line(key: "k", value: 2)], generation: 2), to: aside, mode: 0o644)
      unlink(fixture.installation.forcedFile)
      symlink(aside, fixture.installation.forcedFile)
      fixture.mark(2, checksum: 0)
    },
    Bad(testDescription: "no file at all") { fixture in
      unlink(fixture.installation.forcedFile)
      fixture.mark(2, checksum: 0)
    },
  ]

  /// A reload runs the checks of the first opening: what would not have been opened then is refused now.
  @Test(arguments: bad) func aBadGenerationLeavesTheLastGoodOneInForce(row: Bad) {
    let fixture = Fixture()
    fixture.install([Line(key: "k", value: 1)])
    let list = fixture.list()
    row.replace(fixture)
    for _ in 0..<3 { list.synchronize() }
    #expect(list.integer("k") == 1)
    #expect(list.isForced("k"))
    #expect(list.generation == 1)
    #expect(list.faults.allSatisfy { $0.kind == .policyDamaged } && !list.faults.isEmpty)
    let events = fixture.sink.taken(.domainDamaged)
    #expect(events.count == 1, "reported once")
    #expect(events.first?["inForce"] == "generation 1")
    fixture.install([Line(key: "k", value: 3)], generation: 3)
    list.synchronize()
    #expect(list.integer("k") == 3)
    #expect(list.faults == [])
  }

  @Test func anUninstalledHostIsFree() {
    let fixture = Fixture()
    fixture.install([Line(key: "k", value: 1)])
    let list = fixture.list()
    try! Directory.removeTree(fixture.installation.stateDirectory)
    list.synchronize()
    #expect(list.value("k") == nil)
    #expect(!list.isForced("k"))
    #expect(list.generation == nil)
  }

  @Test func aRunningProcessIsToldOfANewGeneration() {
    let fixture = Fixture()
    fixture.install([Line(key: "k", value: 1)])
    let list = fixture.list(observes: true)
    let heard = Heard()
    let subscription = list.onChange(heard.note)
    fixture.install([Line(key: "k", value: 2), Line(key: "new", value: 1)], generation: 2)
    #expect(heard.wait { $0.source == .policy && $0.keys == ["k", "new"] })
    #expect(list.integer("k") == 2)
    subscription.cancel()
  }

  @Test func withoutObserversThePollSees() {
    let fixture = Fixture()
    fixture.install([Line(key: "k", value: 1)])
    let list = fixture.list(observes: true)
    fixture.install([Line(key: "k", value: 2)], generation: 2)
    #expect(eventually { list.integer("k") == 2 })
  }

  @Test func beingForcedIsAChangeEvenWhereTheValueStays() {
    let fixture = Fixture()
    fixture.install([])
    fixture.store(["k": 1, "other": 1])
    let list = fixture.list()
    let heard = Heard()
    let subscription = list.onChange(heard.note)
    fixture.install([Line(key: "k", value: 1)], generation: 2)
    list.synchronize()
    #expect(heard.all.map(\.keys) == [["k"]])
    subscription.cancel()
  }
}
