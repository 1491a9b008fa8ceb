import Foundation
import Synchronization
import Testing
import UbiquitousStore

@testable import ManagedPreferences

@Suite struct UbiquitousKeyValueStoreTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// Listens to a store's notification.
  private final class Notes: Sendable {
    struct Note: Equatable {
      let reason: Int?
      let keys: [String]?
    }
    let all = Mutex<[Note]>([])
    private nonisolated(unsafe) var token: (any NSObjectProtocol)!

    init(_ store: UbiquitousKeyValueStore) {
      token = NotificationCenter.default.addObserver(
        forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
      ) { [weak self] note in
        let new = Note(
          reason: note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int,
          keys: note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String])
        self?.all.withLock { $0.append(new) }
      }
    }

    deinit { NotificationCenter.default.removeObserver(token!) }
  }

  @Test func everyTypeComesBack() {
    let store = folder.store()
    let date = Date(timeIntervalSinceReferenceDate: 12.5)
    store.set("text", forKey: "string")
    store.set(Data([1, 2]), forKey: "data")
    store.set([1, "two", [3.5]] as [Any], forKey: "array")
    store.set(["a": ["b": true]], forKey: "dictionary")
    store.set(Int64.min, forKey: "longLong")
    store.set(2.5, forKey: "double")
    store.set(true, forKey: "bool")
    store.set(date as Any, forKey: "date")
    store.set(NSNumber(value: 7) as Any, forKey: "number")
    store.set(UInt64.max as Any, forKey: "large")
    #expect(store.synchronize())
    for store in [store, folder.another()] {
      #expect(store.string(forKey: "string") == "text")
      #expect(store.data(forKey: "data") == Data([1, 2]))
      #expect(store.array(forKey: "array")?.count == 3)
      #expect(store.dictionary(forKey: "dictionary") as? [String: [String: Bool]] == ["a": ["b": true]])
      #expect(store.longLong(forKey: "longLong") == .min)
      #expect(store.double(forKey: "double") == 2.5)
      #expect(store.bool(forKey: "bool"))
      #expect(store.object(forKey: "date") as? Date == date)
      #expect(store.longLong(forKey: "number") == 7)
      #expect(store.longLong(forKey: "large") == .max)
      #expect(store.object(forKey: "large") as? UInt64 == .max)
      #expect(store.dictionaryRepresentation.count == 10)
    }
  }

  @Test func gettersNeverConvert() {
    let store = folder.store()
    store.set("1", forKey: "text")
    store.set(2.9, forKey: "real")
    store.set(3 as Any, forKey: "integer")
    store.set(true, forKey: "flag")
    store.set(Double.infinity, forKey: "infinite")
    #expect(store.longLong(forKey: "text") == 0)
    #expect(store.double(forKey: "text") == 0)
    #expect(!store.bool(forKey: "text"))
    #expect(store.string(forKey: "integer") == nil)
    #expect(store.data(forKey: "text") == nil)
    #expect(store.array(forKey: "text") == nil)
    #expect(store.dictionary(forKey: "text") == nil)
    // Numbers are one family.
    #expect(store.longLong(forKey: "real") == 2)
    #expect(store.double(forKey: "integer") == 3)
    #expect(store.bool(forKey: "integer"))
    #expect(store.longLong(forKey: "flag") == 1)
    #expect(store.double(forKey: "flag") == 1)
    #expect(store.longLong(forKey: "infinite") == .max)
  }

  @Test func removingAndSettingNil() {
    let store = folder.store()
    store.set("a", forKey: "k")
    store.set(nil as String?, forKey: "k")
    #expect(store.object(forKey: "k") == nil)
    store.set("a", forKey: "k")
    store.removeObject(forKey: "k")
    store.removeObject(forKey: "missing")
    #expect(store.dictionaryRepresentation.isEmpty)
  }

  @Test func whatIsNoPropertyListIsIgnored() {
    let store = folder.store()
    let notes = Notes(store)
    store.set("before", forKey: "k")
    store.set(URL(filePath: "/tmp") as Any, forKey: "k")
    store.set([1: 2] as Any, forKey: "other")
    #expect(store.string(forKey: "k") == "before")
    #expect(store.object(forKey: "other") == nil)
    #expect(notes.all.withLock { $0 } == [])
  }

  @Test func notificationsNameTheReasonAndTheKeys() {
    let (store, other) = (folder.store(), folder.another())
    // Opened before the others' edits.
    #expect(store.dictionaryRepresentation.isEmpty)
    let (notes, others) = (Notes(store), Notes(other))
    other.set("b", forKey: "b")
    other.set("a", forKey: "a")
    #expect(other.synchronize() && store.synchronize())
    // A slow machine saves the two apart, and the thread that learned of one may still be telling of it.
    #expect(eventually { notes.all.withLock { $0.flatMap { $0.keys ?? [] } }.sorted() == ["a", "b"] })
    for note in notes.all.withLock({ $0 }) {
      #expect(note.reason == NSUbiquitousKeyValueStoreServerChange)
      #expect(note.keys == note.keys?.sorted())
    }
    #expect(others.all.withLock { $0 } == [], "one's own sets are not told")
    store.set("x", forKey: String(repeating: "k", count: 65))
    #expect(
      notes.all.withLock { $0.last }
        == .init(reason: NSUbiquitousKeyValueStoreQuotaViolationChange, keys: [String(repeating: "k", count: 65)]))
  }

  @Test func synchronizeIsFalseWhereTheFileCanNotBeUsed() throws {
    try FileManager.default.createDirectory(
      atPath: (folder.path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let store = folder.store()
    store.set("k", forKey: "k")
    #expect(!store.synchronize())
    #expect(store.string(forKey: "k") == "k")
  }
}
