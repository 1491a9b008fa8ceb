import ForcedDomain
import Foundation
import PropertyList
import Synchronization
import Testing

@testable import ManagedPreferences

/// Each member of `UserDefaults`, called as a program calls it that knows nothing of us: through the superclass.
@Suite struct MemberTests {
  let sandbox: Sandbox
  let defaults: UserDefaults

  init() throws {
    sandbox = try Sandbox()
    defaults = sandbox.defaults()
  }

  @Test func setInt() {
    defaults.set(42, forKey: "k")
    #expect(defaults.object(forKey: "k") as? Int == 42)
    #expect(defaults.integer(forKey: "k") == 42)
  }

  @Test func setFloat() {
    defaults.set(Float(3.7), forKey: "k")
    #expect(defaults.float(forKey: "k") == 3.7)
    #expect(defaults.object(forKey: "k") as? Double == Double(Float(3.7)))
    #expect(defaults.string(forKey: "k") == "3.7")
  }

  @Test func setDouble() {
    defaults.set(2.0, forKey: "k")
    #expect(defaults.object(forKey: "k").map { type(of: $0) == Double.self } == true)
    #expect(defaults.double(forKey: "k") == 2)
  }

  @Test func setBool() {
    defaults.set(true, forKey: "k")
    #expect(defaults.object(forKey: "k").map { type(of: $0) == Bool.self } == true)
    #expect(defaults.bool(forKey: "k"))
  }

  @Test func setAny() throws {
    let object: [String: Any] = [
      "list": [true, 1, 1.5, "x", Data([1])] as [Any], "when": Date(timeIntervalSince1970: 0.25),
    ]
    defaults.set(object as Any?, forKey: "k")
    #expect(
      try FoundationValues.dictionary(#require(defaults.dictionary(forKey: "k")))
        == FoundationValues.dictionary(object))
  }

  @Test func setNilRemoves() {
    defaults.set(1, forKey: "k")
    defaults.set(nil as Any?, forKey: "k")
    #expect(defaults.object(forKey: "k") == nil)
    defaults.set("https", forKey: "k")
    defaults.set(nil as URL?, forKey: "k")
    #expect(defaults.object(forKey: "k") == nil)
  }

  @Test func removeObject() {
    defaults.register(defaults: ["k": "registered"])
    defaults.set("stored", forKey: "k")
    #expect(defaults.string(forKey: "k") == "stored")
    defaults.removeObject(forKey: "k")
    #expect(defaults.string(forKey: "k") == "registered")
  }

  @Test func valuesAreCopies() {
    let array = NSMutableArray(array: ["a"])
    defaults.set(array as Any?, forKey: "k")
    array.add("b")
    #expect(defaults.stringArray(forKey: "k") == ["a"])
  }

  @Test func register() {
    defaults.register(defaults: ["a": 1, "b": 1])
    defaults.register(defaults: ["b": 2, "c": 3])
    #expect(defaults.integer(forKey: "a") == 1)
    #expect(defaults.integer(forKey: "b") == 2)
    #expect(defaults.integer(forKey: "c") == 3)
    #expect(defaults.synchronize())
    #expect(sandbox.defaults().object(forKey: "a") == nil, "registered defaults are never written to disk")
  }

  @Test func synchronizeWritesAndRereads() throws {
    let other = sandbox.defaults()
    defaults.set("here", forKey: "mine")
    #expect(defaults.synchronize())
    other.set("there", forKey: "theirs")
    #expect(other.synchronize())
    #expect(defaults.synchronize())
    #expect(defaults.string(forKey: "theirs") == "there")
    let file = URL(filePath: sandbox.configuration + "/org.example.Editor.plist")
    let stored = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
    #expect(stored as? [String: String] == ["mine": "here", "theirs": "there"])
  }

  @Test func suites() {
    sandbox.defaults("org.example.Suite").set("suite", forKey: "k")
    defaults.addSuite(named: "org.example.Suite")
    #expect(defaults.string(forKey: "k") == "suite")
    #expect(sandbox.defaults().string(forKey: "k") == nil, "a suite concerns the receiver alone")
    defaults.removeSuite(named: "org.example.Suite")
    #expect(defaults.string(forKey: "k") == nil)
  }

  @Test func dictionaryRepresentation() throws {
    try sandbox.install([.init("forced", .boolean(true)), .init("recommended", .integer(1), section: .recommended)])
    let defaults = sandbox.defaults(arguments: ["-argument", "x"])
    defaults.register(defaults: ["registered": 1.5, "forced": false, "stored": "no"])
    defaults.set("yes", forKey: "stored")
    let all = defaults.dictionaryRepresentation()
    #expect(all["forced"] as? Bool == true)
    #expect(all["recommended"] as? Int == 1)
    #expect(all["argument"] as? String == "x")
    #expect(all["registered"] as? Double == 1.5)
    #expect(all["stored"] as? String == "yes")
  }

  @Test func volatileDomains() {
    #expect(defaults.volatileDomainNames.contains(UserDefaults.argumentDomain))
    #expect(defaults.volatileDomainNames.contains(UserDefaults.registrationDomain))
    #expect(defaults.volatileDomain(forName: "Test").isEmpty)
    defaults.setVolatileDomain(["k": 1, "flag": true], forName: "Test")
    #expect(defaults.volatileDomainNames.contains("Test"))
    #expect(defaults.volatileDomain(forName: "Test")["k"] as? Int == 1)
    #expect(defaults.volatileDomain(forName: "Test")["flag"] as? Bool == true)
    #expect(defaults.object(forKey: "k") == nil, "custom volatile domains are not searched")
    defaults.removeVolatileDomain(forName: "Test")
    #expect(!defaults.volatileDomainNames.contains("Test"))
    defaults.register(defaults: ["r": 1])
    #expect(defaults.volatileDomain(forName: UserDefaults.registrationDomain)["r"] as? Int == 1)
  }

  @Test func persistentDomains() throws {
    try sandbox.install([.init("k", .string("forced"), domain: "org.example.Other")])
    #expect(defaults.persistentDomain(forName: "org.example.Other") == nil)
    defaults.setPersistentDomain(["a": 1, "b": true], forName: "org.example.Other")
    #expect(defaults.synchronize())
    let domain = try #require(defaults.persistentDomain(forName: "org.example.Other"))
    #expect(try FoundationValues.dictionary(domain) == ["a": .integer(1), "b": .boolean(true)])
    defaults.setPersistentDomain(["c": 2.0], forName: "org.example.Other")
    let replaced = try #require(defaults.persistentDomain(forName: "org.example.Other"))
    #expect(try FoundationValues.dictionary(replaced) == ["c": .real(2)], "replaced whole, without forced values")
    defaults.removePersistentDomain(forName: "org.example.Other")
    #expect(defaults.persistentDomain(forName: "org.example.Other")?.isEmpty != false)
  }

  @Test func persistentDomainNames() {
    let defaults = sandbox.defaults()
    defaults.set(1, forKey: "k")
    #expect(defaults.synchronize())
    #expect(defaults.persistentDomainNames.contains("org.example.Editor"))
    #expect(defaults.persistentDomainNames.contains(UserDefaults.globalDomain))
  }

  @Test func objectIsForced() throws {
    try sandbox.install([
      .init("own", .integer(1)), .init("other", .integer(2), domain: "org.example.Other"),
      .init("global", .integer(3), domain: UserDefaults.globalDomain),
    ])
    let defaults: UserDefaults = sandbox.defaults()
    #expect(defaults.objectIsForced(forKey: "own"))
    #expect(defaults.objectIsForced(forKey: "global"))
    #expect(!defaults.objectIsForced(forKey: "other"))
    #expect(!defaults.objectIsForced(forKey: "absent"))
    #expect(defaults.objectIsForced(forKey: "other", inDomain: "org.example.Other"))
    #expect(!defaults.objectIsForced(forKey: "own", inDomain: "org.example.Other"))
    #expect(!defaults.objectIsForced(forKey: "absent", inDomain: "org.example.Other"))
  }

  @Test func forcedBy() throws {
    let now = Int64(Date().timeIntervalSince1970)
    try sandbox.install(
      [.init("k", .integer(1)), .init("w", .integer(1), window: now - 900..<now + 900)], generation: 7)
    let defaults = sandbox.defaults()
    let always = defaults.forcedBy("k")
    #expect(always.map(\.profile) == ["org.example.lab.exam"])
    #expect(always.map(\.title) == ["Exam mode"])
    #expect(always.map(\.generation) == [7])
    #expect(always.map(\.until) == [nil])
    #expect(defaults.forcedBy("w").map(\.until) == [Date(timeIntervalSince1970: Double(now + 900))])
    #expect(defaults.forcedBy("absent").isEmpty)
  }

  // MARK: - Notifications

  /// How often `didChangeNotification` was posted for an object while a closure ran, on the calling thread.
  private func notifications(of object: UserDefaults, during body: () -> Void) -> Int {
    let count = Mutex(0)
    let caller = pthread_self()
    let token = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: object, queue: nil
    ) { note in
      #expect(note.userInfo == nil)
      #expect(pthread_equal(caller, pthread_self()) != 0)
      count.withLock { $0 += 1 }
    }
    body()
    NotificationCenter.default.removeObserver(token)
    return count.withLock { $0 }
  }

  @Test func didChangeIsPosted() {
    let suite = "org.example.Other"
    let rows: [(String, Int, (UserDefaults) -> Void)] = [
      ("set", 1, { $0.set(1, forKey: "a") }),
      ("set the same", 0, { $0.set(1, forKey: "a") }),
      ("set another type", 1, { $0.set(true, forKey: "a") }),
      ("set URL", 1, { $0.set(URL(string: "https://a.example/"), forKey: "u") }),
      ("remove", 1, { $0.removeObject(forKey: "a") }),
      ("remove what is not there", 0, { $0.removeObject(forKey: "a") }),
      ("set nil where nothing is", 0, { $0.set(nil as Any?, forKey: "a") }),
      ("setPersistentDomain", 1, { $0.setPersistentDomain(["a": 1], forName: suite) }),
      ("setPersistentDomain to the same", 0, { $0.setPersistentDomain(["a": 1], forName: suite) }),
      ("removePersistentDomain", 1, { $0.removePersistentDomain(forName: suite) }),
      ("register", 0, { $0.register(defaults: ["r": 1]) }),
      ("setVolatileDomain", 0, { $0.setVolatileDomain(["v": 1], forName: "V") }),
      ("removeVolatileDomain", 0, { $0.removeVolatileDomain(forName: "V") }),
      ("addSuite", 0, { $0.addSuite(named: suite) }),
      ("removeSuite", 0, { $0.removeSuite(named: suite) }),
    ]
    for (id, expected, change) in rows {
      #expect(notifications(of: defaults) { change(defaults) } == expected, "\(id)")
    }
  }

  @Test func observersMayCallBack() {
    let seen = Mutex<String?>(nil)
    nonisolated(unsafe) let defaults = self.defaults
    let token = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
    ) { _ in
      let value = defaults.string(forKey: "k")
      seen.withLock { $0 = value }
      if defaults.object(forKey: "answer") == nil { defaults.set("set by the observer", forKey: "answer") }
    }
    defaults.set("new", forKey: "k")
    NotificationCenter.default.removeObserver(token)
    #expect(seen.withLock { $0 } == "new")
    #expect(defaults.string(forKey: "answer") == "set by the observer")
  }

  @Test func observeOneKey() throws {
    let defaults = sandbox.defaults(observes: true)
    let calls = Mutex(0)
    let observation = defaults.observe("k") { _ in calls.withLock { $0 += 1 } }
    defaults.set(1, forKey: "other")
    #expect(calls.withLock { $0 } == 0)
    defaults.set(1, forKey: "k")
    #expect(calls.withLock { $0 } == 1)
    // Forced to the value that it has: the value stays, the lock is new.
    try sandbox.install([.init("k", .integer(1))])
    #expect(eventually { calls.withLock { $0 } == 2 })
    #expect(defaults.objectIsForced(forKey: "k"))
    observation.cancel()
    try sandbox.install([], generation: 2)
    #expect(eventually { !defaults.objectIsForced(forKey: "k") })
    #expect(calls.withLock { $0 } == 2)
  }

  @Test func fromManyThreads() {
    nonisolated(unsafe) let defaults = self.defaults
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<200 {
        defaults.set(round, forKey: "k\(thread)")
        #expect(defaults.integer(forKey: "k\(thread)") == round)
        _ = defaults.dictionaryRepresentation()
      }
    }
    #expect((0..<8).allSatisfy { defaults.integer(forKey: "k\($0)") == 199 })
  }
}
