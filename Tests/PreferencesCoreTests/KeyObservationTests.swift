import ForcedDomain
import Glibc
import PropertyList
import Synchronization
import Testing

@testable import PreferencesCore

/// One observed key: what is told, in which order, from every source.
@Suite struct KeyObservationTests {
  /// What an observer was told, as short text: `app: nil -> 1`, forced states as `!`.
  final class Told: Sendable {
    private let lines = Mutex<[String]>([])

    func note(_ change: KeyChange) {
      func text(_ value: PropertyListValue?, _ isForced: Bool) -> String {
        (value?.displayText ?? "nil") + (isForced ? "!" : "")
      }
      let line =
        switch change.kind {
        case .initial: "initial \(text(change.new, change.isForced))"
        case .prior: "prior \(text(change.old, change.wasForced))"
        case .change:
          "\(change.source): \(text(change.old, change.wasForced)) -> \(text(change.new, change.isForced))"
        }
      lines.withLock { $0.append(line) }
    }
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  let fixture = Fixture()
  let told = Told()

  @Test func setsAreToldInOrderAndOnlyWhenTheyChangeSomething() {
    let list = fixture.list()
    let subscription = list.observe("k", options: [.initial, .prior], handler: told.note)
    list.set(1, forKey: "k")
    list.set(1, forKey: "k")
    list.set(true, forKey: "k")
    list.set(1.0, forKey: "k")
    list.set(2, forKey: "other")
    list.removeValue(forKey: "k")
    list.removeValue(forKey: "k")
    subscription.cancel()
    list.set(3, forKey: "k")
    #expect(
      told.all == [
        "initial nil", "prior nil", "receiver: nil -> 1", "prior 1", "receiver: 1 -> true", "prior true",
        "receiver: true -> 1.0", "prior 1.0", "receiver: 1.0 -> nil",
      ])
  }

  @Test func aPriorComesBeforeTheChangeCanBeRead() {
    let list = fixture.list()
    let other = fixture.list()
    let (told, read) = (told, Told())
    let subscription = list.observe("k", options: .prior) { [weak list] change in
      told.note(change)
      read.add(list?.value("k")?.displayText ?? "nil")
    }
    defer { extendLifetime(subscription) }
    list.set(1, forKey: "k")
    other.set(2, forKey: "k")
    list.setPersistentDomain(["k": 3], forName: Fixture.domain)
    list.setPersistentDomain(["k": 3, "j": 1], forName: Fixture.domain)
    list.set(nil, forKey: "k")
    list.register(["k": 4])
    list.register(["k": 4])
    #expect(
      told.all == [
        "prior nil", "receiver: nil -> 1", "prior 1", "otherList: 1 -> 2", "prior 2", "receiver: 2 -> 3", "prior 3",
        "receiver: 3 -> nil", "prior nil", "receiver: nil -> 4",
      ])
    #expect(read.all == ["nil", "1", "1", "2", "2", "3", "3", "nil", "nil", "4"])
  }

  @Test func aValueThatAnotherLayerHidesIsNoChange() {
    let list = fixture.list(arguments: ["-k", "argument"])
    let subscription = list.observe("k", options: [.prior], handler: told.note)
    defer { extendLifetime(subscription) }
    list.set("set", forKey: "k")
    list.register(["k": "registered"])
    #expect(told.all == [])
    list.removeVolatileDomain(forName: VolatileDomainName.argument)
    list.removeValue(forKey: "k")
    list.removeVolatileDomain(forName: VolatileDomainName.registration)
    #expect(
      told.all == [
        "prior \"argument\"", "receiver: \"argument\" -> \"set\"", "prior \"set\"",
        "receiver: \"set\" -> \"registered\"", "prior \"registered\"", "receiver: \"registered\" -> nil",
      ])
  }

  @Test func suitesThatComeAndGoAreTold() {
    fixture.store(["k": "suite"], "org.example.Suite")
    let list = fixture.list()
    let subscription = list.observe("k", options: .prior, handler: told.note)
    defer { extendLifetime(subscription) }
    list.addSuite("org.example.Suite")
    fixture.list("org.example.Suite").set("newer", forKey: "k")
    list.removeSuite("org.example.Suite")
    #expect(
      told.all == [
        "prior nil", "receiver: nil -> \"suite\"", "prior \"suite\"", "otherList: \"suite\" -> \"newer\"",
        "prior \"newer\"", "receiver: \"newer\" -> nil",
      ])
  }

  @Test func aPolicyIsTold() {
    fixture.install([])
    let list = fixture.list(observes: true)
    list.set(1, forKey: "k")
    let subscription = list.observe("k", options: .prior, handler: told.note)
    defer { extendLifetime(subscription) }
    // Forced to what it is already: the value stays, the lock is news.
    fixture.install([Fixture.Line(key: "k", value: 1)], generation: 2)
    #expect(eventually { told.all.count == 2 })
    list.set(5, forKey: "k")
    fixture.install([Fixture.Line(key: "k", value: 2)], generation: 3)
    #expect(eventually { told.all.count == 4 })
    fixture.install([], generation: 4)
    #expect(eventually { told.all.count == 6 })
    #expect(
      told.all == [
        "prior 1", "policy: 1 -> 1!", "prior 1!", "policy: 1! -> 2!", "prior 2!", "policy: 2! -> 5",
      ])
  }

  @Test func aWindowThatOpensAndClosesIsTold() {
    let window = Condition(windows: [WeeklyWindow(fromMinute: 0, toMinute: 1440, timeZone: "UTC")])
    fixture.install([Fixture.Line(key: "k", value: 2, condition: window, intervals: [[2000..<3000]])])
    let list = fixture.list(observes: true)
    let subscription = list.observe("k", options: .initial, handler: told.note)
    defer { extendLifetime(subscription) }
    fixture.clock.now = 2000
    #expect(eventually { told.all.count == 2 })
    fixture.clock.now = 3000
    #expect(eventually { told.all.count == 3 })
    #expect(told.all == ["initial nil", "policy: nil -> 2!", "policy: 2! -> nil"])
  }

  @Test func anotherProcessIsTold() async {
    let list = fixture.list(observes: true)
    let subscription = list.observe("k", handler: told.note)
    defer { extendLifetime(subscription) }
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let list = Fixture(in: directory).list()
      list.set("theirs", forKey: "k")
      list.set(1, forKey: "other")
      exit(list.synchronize() ? 0 : 1)
    }
    #expect(eventually { told.all == ["otherProcess: nil -> \"theirs\""] })
  }

  @Test func aThousandKeysAtOnceAreToldToo() {
    let list = fixture.list()
    let subscription = list.observe("k500", options: .prior, handler: told.note)
    defer { extendLifetime(subscription) }
    var many: [String: PropertyListValue] = [:]
    for number in 0..<1000 { many["k\(number)"] = .integer(PropertyListInteger(number)) }
    list.register(many)
    list.setPersistentDomain(many.mapValues { _ in "file" }, forName: Fixture.domain)
    list.synchronize()
    fixture.store(many.mapValues { _ in "other" })
    list.synchronize()
    list.removePersistentDomain(forName: Fixture.domain)
    #expect(list.integer("k500") == 500)
    #expect(
      told.all == [
        "prior nil", "receiver: nil -> 500", "prior 500", "receiver: 500 -> \"file\"", "prior \"file\"",
        "otherProcess: \"file\" -> \"other\"", "prior \"other\"", "receiver: \"other\" -> 500",
      ])
  }

  @Test func aHandlerMaySetReadSubscribeAndCancel() {
    let list = fixture.list()
    let told = told
    let inner = Mutex<ChangeSubscription?>(nil)
    let own = Mutex<ChangeSubscription?>(nil)
    let subscription = list.observe("k") { [weak list] change in
      guard let list else { return }
      told.note(change)
      // Answers each odd value with the next even one: told after this call, not within it.
      if case .integer(let number)? = change.new, let odd = number.int64, odd % 2 == 1 {
        list.set(.integer(PropertyListInteger(odd + 1)), forKey: "k")
        told.add("reads \(list.integer("k"))")
      }
      if list.integer("k") == 4 {
        inner.withLock { $0 = list.observe("inner", options: .initial, handler: told.note) }
      }
      if list.integer("k") == 6 { own.withLock { $0 }?.cancel() }
    }
    own.withLock { $0 = subscription }
    list.set(1, forKey: "k")
    list.set(3, forKey: "k")
    list.set(5, forKey: "k")
    list.set(7, forKey: "k")
    inner.withLock { $0 }?.cancel()
    #expect(
      told.all == [
        "receiver: nil -> 1", "reads 2", "receiver: 1 -> 2", "receiver: 2 -> 3", "reads 4", "initial nil",
        "receiver: 3 -> 4", "initial nil", "receiver: 4 -> 5", "reads 6",
      ])
  }

  @Test func aPriorInWhichTheKeyIsSetStillPairs() {
    let list = fixture.list()
    let told = told
    let subscription = list.observe("k", options: .prior) { [weak list] change in
      told.note(change)
      if change.isPrior, change.old == nil { list?.set("between", forKey: "k") }
    }
    defer { extendLifetime(subscription) }
    list.set("last", forKey: "k")
    #expect(list.string("k") == "last")
    #expect(
      told.all == [
        "prior nil", "receiver: nil -> \"between\"", "prior \"between\"", "receiver: \"between\" -> \"last\"",
      ])
  }

  @Test func droppingTheSubscriptionEndsIt() {
    let list = fixture.list()
    do {
      let subscription = list.observe("k", handler: told.note)
      list.set(1, forKey: "k")
      extendLifetime(subscription)
    }
    list.set(2, forKey: "k")
    #expect(told.all == ["receiver: nil -> 1"])
    #expect(!Engine.shared.lock.withLock { list.state.isObserved })
  }

  /// What a handler holds is released without the lock: here another subscription, whose end takes it.
  @Test func aHandlerMayOwnASubscription() {
    let list = fixture.list()
    let inner = list.observe("inner", handler: told.note)
    let outer = list.observe("outer") { _ in extendLifetime(inner) }
    let whole = list.onChange { _ in extendLifetime(inner) }
    outer.cancel()
    whole.cancel()
    extendLifetime(list)
  }

  /// The list lives as long as someone observes it, though nobody else holds it.
  @Test func aSubscriptionKeepsItsList() {
    let other = fixture.list()
    let subscription = fixture.list().observe("k", handler: told.note)
    other.set(1, forKey: "k")
    #expect(told.all == ["otherList: nil -> 1"])
    extendLifetime(subscription)
  }

  /// Eight threads set one key, one observer: each change follows from the one before, whoever tells it.
  @Test func manyThreadsAreToldAsOneChain() {
    let list = fixture.list()
    let changes = Mutex<[KeyChange]>([])
    let subscription = list.observe("k", options: .prior) { change in changes.withLock { $0.append(change) } }
    withThreads(8) { thread in
      for round in 0..<300 { list.set(.integer(PropertyListInteger(thread * 1000 + round)), forKey: "k") }
    }
    // A call that is just being made on another thread would be among the last.
    #expect(eventually { changes.withLock { $0.last?.new } == list.value("k") })
    subscription.cancel()
    var last: PropertyListValue?
    var isAnnounced = false
    for change in changes.withLock({ $0 }) {
      #expect(change.old == last)
      #expect(change.isPrior != isAnnounced, "a prior before each change, and one only")
      isAnnounced = change.isPrior
      if !change.isPrior {
        #expect(change.old != change.new)
        last = change.new
      }
    }
    #expect(last == list.value("k"))
  }

  /// While the tables are filled anew again and again, nobody sees an older value than the one that was set.
  @Test func aFillingHidesNoSet() {
    let list = fixture.list()
    var many: [String: PropertyListValue] = [:]
    for number in 0..<2000 { many["m\(number)"] = 1 }
    list.register(many)
    let isDone = Atomic(false)
    let values = many
    withThreads(2) { thread in
      if thread == 0 {
        for round in 0..<60 {
          list.register(values.mapValues { _ in .integer(PropertyListInteger(round)) })
        }
        isDone.store(true, ordering: .releasing)
      } else {
        var round = 0
        while !isDone.load(ordering: .acquiring) {
          round += 1
          list.set(.integer(PropertyListInteger(round)), forKey: "k")
          for _ in 0..<20 where list.integer("k") != round { Issue.record("an older value came back") }
        }
      }
    }
  }
}
