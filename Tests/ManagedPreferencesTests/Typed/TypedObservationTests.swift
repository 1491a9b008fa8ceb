import Foundation
import Observation
import PropertyList
import Testing

@testable import ManagedPreferences

/// An object that is itself passed between isolation domains.
private final class PassedPrefs: Preferences, @unchecked Sendable {
  @Preference var count = 0
  @Preference var other = 0
}

/// Who is told of changes, by whomever they are made.
@Suite struct TypedObservationTests {
  let sandbox: Sandbox
  init() throws { sandbox = try Sandbox() }

  // MARK: - Observation

  @Test func trackedReadsAndChanges() {
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults()))
    let told = Gathered<String>()
    withObservationTracking {
      _ = prefs.count
    } onChange: {
      told.append("count")
    }
    withObservationTracking {
      _ = prefs.$name.isForced
    } onChange: {
      told.append("lock of name")
    }
    prefs.title = "x"
    #expect(told.all == [])
    prefs.count = 5
    #expect(told.all == [], "5 was read before")
    prefs.count = 6
    #expect(told.all == ["count"])
    prefs.count = 7
    #expect(told.all == ["count"], "tracked once")
    prefs.name = "x"
    #expect(told.all == ["count", "lock of name"])
  }

  /// A value that others change, and a lock: seen by who read them.
  @Test func trackedChangesByOthers() throws {
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults(observes: true)))
    let told = Gathered<String>()
    func track(_ name: String, _ read: () -> Void) {
      withObservationTracking(read) { told.append(name) }
    }
    track("other object") { _ = prefs.count }
    sandbox.defaults().set(9, forKey: "count")
    #expect(told.all == ["other object"] && prefs.count == 9)

    track("new generation") { _ = prefs.count }
    try sandbox.install([.init("count", .integer(3))])
    #expect(eventually { told.all.count == 2 })
    #expect(prefs.count == 3 && prefs.$count.isForced)

    track("released") { _ = prefs.$count.isForced }
    try sandbox.install([], generation: 2)
    #expect(eventually { told.all.count == 3 })
    #expect(prefs.count == 9 && !prefs.$count.isForced)

    track("other process") { _ = prefs.kids }
    let run = try MapViewerTests.run(
      MapViewerTests.built("FocusTimer"), ["set", "kids", "jack"],
      environment: [
        "HOME": sandbox.home, "MANAGED_PREFERENCES_ROOT": sandbox.root, "FOCUS_DOMAIN": Sandbox.application,
      ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(eventually { told.all.count == 4 })
    #expect(prefs.kids == ["jack"])
  }

  // MARK: - Observers and sequences

  @Test func observersHearOfEffectiveChangesAlone() throws {
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults()))
    let told = Gathered<String>()
    let observation = prefs.$count.observe(initial: true) { change in
      told.append(
        "\(change.isInitial ? "initial " : "")\(change.oldValue) -> \(change.newValue)\(change.isForced ? ", forced" : "")"
      )
    }
    prefs.userDefaults.set([1], forKey: "count")
    prefs.count = 5
    prefs.userDefaults.set("6", forKey: "count")
    prefs.count = 6
    try sandbox.install([.init("count", .integer(6))])
    #expect(prefs.synchronize())
    prefs.count = 8
    try sandbox.install([], generation: 2)
    #expect(prefs.synchronize())
    observation.cancel()
    prefs.count = 9
    #expect(told.all == ["initial 5 -> 5", "5 -> 6", "6 -> 6, forced", "6 -> 8"])
  }

  @Test func valuesBeginWithTheCurrentOne() async throws {
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults()))
    prefs.kids = ["jack"]
    var kids = prefs.$kids.values.makeAsyncIterator()
    #expect(await kids.next() == ["jack"])
    prefs.kids = ["jack"]
    prefs.kids.append("jill")
    #expect(await kids.next() == ["jack", "jill"])
    // Of another type: the default, which differs; then the same from the administrator, which does not.
    prefs.userDefaults.set(3, forKey: "kids")
    #expect(await kids.next() == [])
    try sandbox.install([.init("kids", .array([]))])
    #expect(prefs.synchronize())
    try sandbox.install([.init("kids", .array([.string("forced")]))], generation: 2)
    #expect(prefs.synchronize())
    #expect(await kids.next() == ["forced"])
  }

  @Test func valuesEndWithTheTask() async {
    let prefs = quiet(PassedPrefs(userDefaults: sandbox.defaults()))
    let task = Task {
      var seen: [Int] = []
      for await count in prefs.$count.values { seen.append(count) }
      return seen
    }
    prefs.count = 1
    task.cancel()
    // Whatever it came to see, it ends, and in order.
    let seen = await task.value
    #expect(seen == seen.sorted() && seen.count <= 2)
  }

  // MARK: - Threads and actors

  @MainActor @Test func onTheMainActorAndBeside() async {
    let prefs = quiet(PassedPrefs(userDefaults: sandbox.defaults()))
    prefs.count = 1
    let other = prefs.$other
    await Task.detached {
      prefs.count += 1
      other.value = 5
    }.value
    #expect(prefs.count == 2 && prefs.other == 5)
  }

  /// Two threads assign and read; each read is one that some thread assigned.
  @Test func manyThreads() {
    let prefs = quiet(PassedPrefs(userDefaults: sandbox.defaults()))
    let strange = Gathered<Int>()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for index in 1...500 {
        prefs.count = thread * 1000 + index
        let read = prefs.count
        if !(1...500).contains(read % 1000) || read / 1000 > 3 { strange.append(read) }
        if prefs.$count.isForced || !prefs.$count.isStored { strange.append(-1) }
      }
    }
    #expect(strange.all == [])
  }

  /// The handler may do what any code may, an assignment that waits for the disk included.
  @Test func anObserverMayAssign() {
    let prefs = PassedPrefs(userDefaults: sandbox.defaults())
    let observation = prefs.$count.observe { [weak prefs] change in prefs?.other = change.newValue }
    prefs.count = 3
    #expect(prefs.other == 3)
    observation.cancel()
  }

  /// Observers of an object that is gone do not keep it alive, and `$property` outlives it.
  @Test func objectsGo() {
    weak var gone: Prefs?
    let count: Preference<Int>.Property
    do {
      let prefs = quiet(Prefs(userDefaults: sandbox.defaults()))
      gone = prefs
      count = prefs.$count
      withObservationTracking {
        _ = prefs.count
      } onChange: {
      }
    }
    #expect(gone == nil)
    count.value = 4
    #expect(count.value == 4)
  }
}
