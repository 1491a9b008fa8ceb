public import Foundation
internal import LinuxFiles
internal import PreferencesCore
internal import PropertyList
internal import Synchronization
public import UbiquitousStore

/// A small store of preferences that follows its user from machine to machine: the interface of
/// `NSUbiquitousKeyValueStore`.
///
/// Values are property lists: strings, numbers, booleans, dates, data, arrays and dictionaries of them. At most 1,024 keys of
/// at most 64 bytes of UTF-8, and 1,048,576 bytes for all values together, measured as binary property lists. Reads and edits
/// work in memory and never wait; edits are saved by themselves within seconds, and at a normal end of the process. Without
/// `relay(to:)` a store is shared by the processes of one machine.
///
/// Getters never convert: a string is no number, and the other way round. Numbers and booleans are one family, as `NSNumber`
/// is. Safe from any thread.
public final class UbiquitousKeyValueStore: Sendable {
  /// Posted on the thread that learned of it when values changed that this process did not set, and when a value was refused.
  /// The object is the store; the user information has `NSUbiquitousKeyValueStoreChangeReasonKey` (an `Int`) and
  /// `NSUbiquitousKeyValueStoreChangedKeysKey` (a `[String]`).
  public static let didChangeExternallyNotification = Notification.Name(
    "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")

  /// The application's store, always the same object. It is opened at the first use, in
  /// `$XDG_DATA_HOME/managed-preferences/ubiquity/APPLICATION/` (`~/.local/share/…`), which only its user can read; for a contained
  /// application, in its container. Keys of `ManagedDefaults` that roam are kept in it too.
  public static let `default` = {
    let store = UbiquitousKeyValueStore { OpenStores.store(at: ApplicationLists.roamingPlace) }
    // Who only observes is told as well.
    _ = store.store
    return store
  }()

  private let open: @Sendable () -> SyncedStore
  private let opened = Mutex<SyncedStore?>(nil)

  init(_ open: @escaping @Sendable () -> SyncedStore) { self.open = open }

  /// The engine, opened when it is first needed.
  var store: SyncedStore {
    opened.withLock { opened in
      if let opened { return opened }
      let store = open()
      _ = store.observe { [weak self] change in self?.post(change) }
      opened = store
      return store
    }
  }

  private func post(_ change: StoreChange) {
    NotificationCenter.default.post(
      name: Self.didChangeExternallyNotification, object: self,
      userInfo: [
        NSUbiquitousKeyValueStoreChangeReasonKey: change.reason.rawValue,
        NSUbiquitousKeyValueStoreChangedKeysKey: change.keys,
      ])
  }

  // MARK: Reading

  /// The value of a key; nil where there is none.
  public func object(forKey key: String) -> Any? { store.value(key).map { FoundationValues.object($0) } }

  /// nil for another type than a string.
  public func string(forKey key: String) -> String? {
    if case .string(let text) = store.value(key) { text } else { nil }
  }

  /// nil for another type than an array.
  public func array(forKey key: String) -> [Any]? {
    guard case .array = store.value(key) else { return nil }
    return object(forKey: key) as? [Any]
  }

  /// nil for another type than a dictionary.
  public func dictionary(forKey key: String) -> [String: Any]? {
    guard case .dictionary = store.value(key) else { return nil }
    return object(forKey: key) as? [String: Any]
  }

  /// nil for another type than data.
  public func data(forKey key: String) -> Data? {
    if case .data(let bytes) = store.value(key) { Data(bytes) } else { nil }
  }

  /// 0 where there is no number. A fraction is cut off; what is beyond the range becomes its end.
  public func longLong(forKey key: String) -> Int64 {
    switch store.value(key) {
    case .integer(let number): number.clampedToInt64
    case .real(let number):
      number.isNaN ? 0 : number >= 0x1p63 ? .max : number < -0x1p63 ? .min : Int64(number)
    case .boolean(let flag): flag ? 1 : 0
    default: 0
    }
  }

  /// 0 where there is no number.
  public func double(forKey key: String) -> Double {
    switch store.value(key) {
    case .integer(let number): number.double
    case .real(let number): number
    case .boolean(let flag): flag ? 1 : 0
    default: 0
    }
  }

  /// False where there is neither a boolean nor a number other than 0.
  public func bool(forKey key: String) -> Bool {
    switch store.value(key) {
    case .boolean(let flag): flag
    case .integer(let number): number != 0
    case .real(let number): number != 0
    default: false
    }
  }

  /// All keys and values, as they are in memory.
  public var dictionaryRepresentation: [String: Any] {
    Dictionary(store.dictionary().map { ($0.key, FoundationValues.object($0.value) as Any) }) { _, last in last }
  }

  // MARK: Editing

  /// Sets a property list; nil removes the key. What is no property list is logged and ignored. What would pass a limit is
  /// refused: the store stays as it was, a line goes to standard error, and the notification is posted with
  /// `NSUbiquitousKeyValueStoreQuotaViolationChange`.
  public func set(_ anObject: Any?, forKey aKey: String) {
    guard let anObject else { return removeObject(forKey: aKey) }
    do {
      try store.set(aKey, to: FoundationValues.propertyList(anObject))
    } catch {
      StandardStreams.writeErrorLine("UbiquitousKeyValueStore: the value for \"\(aKey)\" was not set: \(error)")
    }
  }

  public func set(_ aString: String?, forKey aKey: String) { set(aString as Any?, forKey: aKey) }
  public func set(_ aData: Data?, forKey aKey: String) { set(aData as Any?, forKey: aKey) }
  public func set(_ anArray: [Any]?, forKey aKey: String) { set(anArray as Any?, forKey: aKey) }
  public func set(_ aDictionary: [String: Any]?, forKey aKey: String) { set(aDictionary as Any?, forKey: aKey) }
  public func set(_ value: Int64, forKey aKey: String) { set(value as Any?, forKey: aKey) }
  public func set(_ value: Double, forKey aKey: String) { set(value as Any?, forKey: aKey) }
  public func set(_ value: Bool, forKey aKey: String) { set(value as Any?, forKey: aKey) }

  /// Removes a key; removing one that is not there does nothing.
  public func removeObject(forKey aKey: String) { store.remove(aKey) }

  // MARK: Synchronising

  /// Takes in what has arrived on this machine, and saves what was set. It does not wait for other machines.
  /// - Returns: false where the file can't be read or written; a line on standard error says why.
  @discardableResult
  public func synchronize() -> Bool { store.synchronize() }

  /// Keeps the store in step with a back end that other machines share, from now on and in the background. It goes through the
  /// file of this machine, so that reading and setting go on without the network. At a normal end of the process what is not
  /// there yet is waited for, two seconds at most. With it go the keys of this process's `ManagedDefaults` that roam, those of
  /// suites too.
  public func relay(to backEnd: any StoreBackEnd) {
    if self === Self.default { OpenStores.relay(to: backEnd) } else { store.relay(to: backEnd) }
  }
}
