import Foundation
import PropertyList
import Synchronization
import Testing

@testable import ManagedPreferences
@testable import PreferencesCore

/// One key's changes by closure and as a sequence.
@Suite struct ObservationTests {
  let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  @Test func aHandlerIsToldOldAndNew() throws {
    let defaults = sandbox.defaults()
    let told = Mutex<[PreferenceChange]>([])
    let observation = defaults.observe("k", options: [.initial, .prior]) { change in told.withLock { $0.append(change) }
    }
    defaults.set(1, forKey: "k")
    defaults.set(true, forKey: "k")
    defaults.set(["a": [1, 2]], forKey: "k")
    observation.cancel()
    defaults.set(2, forKey: "k")
    let changes = told.withLock { $0 }
    #expect(changes.map(\.kind) == [.initial, .prior, .change, .prior, .change, .prior, .change])
    #expect(changes.allSatisfy { $0.key == "k" && !$0.isForced && !$0.wasForced && $0.source == .receiver })
    #expect(changes[0].newValue == nil)
    #expect(changes[2].oldValue == nil)
    #expect(changes[2].newValue as? Int == 1)
    #expect(changes[4].oldValue is Int && changes[4].newValue is Bool, "true is another value than 1")
    #expect(changes[6].newValue as? [String: [Int]] == ["a": [1, 2]])
  }

  @Test func sourcesAreTold() throws {
    try sandbox.install([])
    let defaults = sandbox.defaults(observes: true)
    let told = Mutex<[PreferenceChange]>([])
    let observation = defaults.observe("k") { change in told.withLock { $0.append(change) } }
    sandbox.defaults().set(1, forKey: "k")
    try sandbox.install([.init("k", .integer(2))], generation: 2)
    #expect(eventually { told.withLock(\.count) == 2 })
    let changes = told.withLock { $0 }
    #expect(changes.map(\.source) == [.otherObject, .policy])
    #expect(changes.map(\.isForced) == [false, true])
    #expect(changes.map(\.wasForced) == [false, false])
    observation.cancel()
  }

  /// Foundation's own class in another process. It cuts the file and writes it anew in place; nobody may take the moment
  /// between for a removal.
  @Test func whatPlainFoundationWritesIsTold() throws {
    let defaults = sandbox.defaults(observes: true)
    let told = Mutex<[PreferenceChange]>([])
    let observation = defaults.observe("string") { change in told.withLock { $0.append(change) } }
    defer { observation.cancel() }
    for _ in 0..<5 { _ = try FoundationExchangeTests.peer("store", sandbox) }
    #expect(eventually { told.withLock(\.count) >= 1 })
    let changes = told.withLock { $0 }
    #expect(changes.map(\.source) == [.otherProcess])
    #expect(changes.first?.newValue as? String == "text ü \u{1F600}")
  }

  @Test func valuesBeginWithTheCurrentOne() async throws {
    let defaults = sandbox.defaults()
    defaults.set("first", forKey: "k")
    let values = defaults.values(forKey: "k")
    var iterator = values.makeAsyncIterator()
    #expect(await iterator.next() as? String == "first")
    defaults.set("second", forKey: "k")
    #expect(await iterator.next() as? String == "second")
    // Slower than the changes: the newest, and none of those between.
    for number in 0..<10 { defaults.set(number, forKey: "k") }
    #expect(await iterator.next() as? Int == 9)
    defaults.removeObject(forKey: "k")
    let removed = await iterator.next()
    #expect(removed != nil, "the sequence goes on")
    #expect(removed! == nil)
  }

  @Test func changesMissNothing() async throws {
    try sandbox.install([])
    let defaults = sandbox.defaults()
    var iterator = defaults.changes(forKey: "k").makeAsyncIterator()
    for number in 0..<100 { defaults.set(number, forKey: "k") }
    for number in 0..<100 { #expect(await iterator.next()?.newValue as? Int == number) }
    // A lock without a new value is a change, and no value.
    var values = defaults.values(forKey: "k").makeAsyncIterator()
    #expect(await values.next() as? Int == 99)
    try sandbox.install([.init("k", .integer(99))], generation: 2)
    defaults.synchronize()
    #expect(await iterator.next()?.isForced == true)
    try sandbox.install([.init("k", .integer(100))], generation: 3)
    defaults.synchronize()
    #expect(await values.next() as? Int == 100)
  }

  @Test func aLoopThatEndsLeavesNothing() async throws {
    let defaults = sandbox.defaults()
    let list = defaults.list
    func isObserved() -> Bool { Engine.shared.lock.withLock { list.state.isObserved } }
    for await value in defaults.values(forKey: "k") {
      #expect(value == nil)
      #expect(isObserved())
      break
    }
    #expect(!isObserved())
    let values = defaults.values(forKey: "k")
    let changes = defaults.changes(forKey: "k")
    let loops = [
      Task { for await _ in values {} },
      Task { for await _ in changes {} },
    ]
    // The loops need a thread to begin on: this one must not keep it.
    for _ in 0..<20_000 where !isObserved() { try await Task.sleep(for: .milliseconds(5)) }
    #expect(isObserved())
    for loop in loops {
      loop.cancel()
      await loop.value
    }
    #expect(!isObserved())
  }

  @Test func eachLoopObservesByItself() async throws {
    let defaults = sandbox.defaults()
    let values = defaults.values(forKey: "k")
    var first = values.makeAsyncIterator()
    defaults.set(1, forKey: "k")
    var second = values.makeAsyncIterator()
    #expect(await first.next() as? Int == 1)
    #expect(await second.next() as? Int == 1)
    defaults.set(2, forKey: "k")
    #expect(await first.next() as? Int == 2)
    #expect(await second.next() as? Int == 2)
  }
}
