import Foundation
import Synchronization
import UbiquitousStore

@testable import ManagedPreferences

/// GNUstep's tests of `NSUbiquitousKeyValueStore`.
struct GNUstepUbiquitousOracle: Oracle {
  static let file = "gnustep-NSUbiquitousKeyValueStore"

  private let folder = try! StoreFolder()

  func observe(_ row: OracleRow) throws -> Set<String>? {
    let store = folder.store()
    switch row.id {
    case "gk-object":
      store.set("Hello", forKey: "World")
      return [store.object(forKey: "World") as? String ?? "nil"]
    case "gk-string":
      store.set("Hello" as String?, forKey: "World2")
      return [store.object(forKey: "World2") as? String ?? "nil"]
    case "gk-dict", "gk-dict-object":
      store.set(["World4": "Hello"], forKey: "World5")
      let read =
        row.id == "gk-dict" ? store.dictionary(forKey: "World5") : store.object(forKey: "World5") as? [String: Any]
      return [(read as? [String: String]).map { "{" + $0.map { "\($0): \($1)" }.joined() + "}" } ?? "nil"]
    default: return nil
    }
  }
}

/// Tests of wrappers around `NSUbiquitousKeyValueStore` and `UserDefaults`. Their models are observers here: of the store's
/// notification, or of single keys of `ManagedDefaults`.
struct UbiquitousPeersOracle: Oracle {
  static let file = "ubiquitous-store-peers"

  private let folder = try! StoreFolder()

  func observe(_ row: OracleRow) throws -> Set<String>? {
    let store = folder.store()
    switch row.id {
    case "pk-stored":
      store.set("stored value", forKey: "k")
      return [store.string(forKey: "k") ?? "nil"]
    case "pk-default-instance":
      return [UbiquitousKeyValueStore.default === UbiquitousKeyValueStore.default ? "same instance" : "another"]
    case "pk-mock-longlong-missing": return ["\(store.longLong(forKey: "absent"))"]
    case "pk-mock-double-missing": return [OracleRow.text(store.double(forKey: "absent"))]
    case "pk-mock-type-mismatch":
      store.set("text", forKey: "text")
      let isNil =
        store.array(forKey: "text") == nil && store.dictionary(forKey: "text") == nil
        && store.data(forKey: "text") == nil
      return [isNil ? "nil (no conversion, unlike UserDefaults)" : "a value"]
    case "py-const-quota": return ["\(NSUbiquitousKeyValueStoreQuotaViolationChange)"]
    case "py-const-account": return ["\(NSUbiquitousKeyValueStoreAccountChange)"]
    case let id where id.hasPrefix("od-cloud-"): return cloud(id, store)
    default: return defaults(row.id)
    }
  }

  /// A model of one property, which listens to the notification.
  private final class Model: Sendable {
    let name = Mutex<String?>(nil)
    let told = Mutex(0)
    /// Of which keys soever.
    let heard = Mutex(0)
    private nonisolated(unsafe) var token: (any NSObjectProtocol)!

    init(_ store: UbiquitousKeyValueStore) {
      name.withLock { $0 = store.string(forKey: "name") }
      token = NotificationCenter.default.addObserver(
        forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
      ) { [weak self] note in
        let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
        guard let self else { return }
        defer { heard.withLock { $0 += 1 } }
        guard keys?.contains("name") == true else { return }
        name.withLock { $0 = store.string(forKey: "name") }
        told.withLock { $0 += 1 }
      }
    }

    deinit { NotificationCenter.default.removeObserver(token!) }
  }

  private func cloud(_ id: String, _ store: UbiquitousKeyValueStore) -> Set<String>? {
    let elsewhere = folder.another()
    var model: Model? = Model(store)
    let told = { model?.told.withLock { $0 } ?? 0 }
    // The thread of the store that has learned of a change first may still be telling of it.
    let hears = { eventually { model?.heard.withLock { $0 } ?? 0 > 0 } }
    switch id {
    case "od-cloud-external":
      elsewhere.set("Test2", forKey: "name")
      guard elsewhere.synchronize(), store.synchronize(), hears() else { return [] }
      return [model?.name.withLock { $0 } ?? "nil"]
    case "od-cloud-released":
      weak let released = model
      model = nil
      elsewhere.set("Test3", forKey: "name")
      guard elsewhere.synchronize(), store.synchronize(), released == nil else { return [] }
      return Model(store).name.withLock { $0 } == "Test3" ? ["ignored; a new model reads the stored value"] : []
    case "od-cloud-samevalue":
      store.set("Test", forKey: "name")
      store.set("Test", forKey: "name")
      return store.synchronize() && told() == 0 ? ["no change notification"] : []
    case "od-cloud-notlisted":
      elsewhere.set("Test", forKey: "of no property")
      guard elsewhere.synchronize(), store.synchronize(), hears() else { return [] }
      return told() == 0 ? ["ignored"] : []
    default: return nil
    }
  }

  private func defaults(_ id: String) -> Set<String>? {
    guard let sandbox = try? Sandbox() else { return nil }
    let suite = sandbox.defaults()
    let told = Told()
    let observations = ["name", "age"].map { key in
      suite.observe(key) { change in told.keys.withLock { $0.append(change.key) } }
    }
    defer { for observation in observations { observation.cancel() } }
    let keys = { told.keys.withLock { $0 } }
    switch id {
    case "od-unrelated":
      suite.set("Test", forKey: "name")
      return keys() == ["name"] ? ["no notification for age"] : []
    case "od-same":
      suite.set("Test", forKey: "name")
      let before = keys().count
      suite.set("Test", forKey: "name")
      return keys().count == before ? ["no notification"] : []
    case "od-remove":
      suite.set("Changed", forKey: "name")
      let before = keys().count
      suite.removeObject(forKey: "name")
      var seen: Set<String> = keys().count > before ? ["notified"] : []
      if suite.string(forKey: "name") ?? "declared default" == "declared default" { seen.insert("declared default") }
      return seen
    case "od-remove-registered":
      suite.register(defaults: ["name": "Registered"])
      suite.set("Changed", forKey: "name")
      suite.removeObject(forKey: "name")
      let isRegistered = suite.string(forKey: "name") ?? "declared default" == "Registered"
      return isRegistered ? ["Registered (registration domain before the declared default)"] : []
    case "od-suite-isolation":
      let second = sandbox.defaults("org.example.Second")
      second.set("other", forKey: "name")
      let isApart = keys().isEmpty && suite.string(forKey: "name") == nil && second.string(forKey: "name") == "other"
      return isApart ? ["suite 1 model unchanged, suite 2 model updated"] : []
    default: return nil
    }
  }

  private final class Told: Sendable {
    let keys = Mutex<[String]>([])
  }
}
