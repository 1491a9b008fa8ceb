internal import LinuxFiles
public import PreferencesCore
import Synchronization

/// The stores that this process has open, by their places: an application's `UbiquitousKeyValueStore` and the roaming layer of its
/// search lists are one and the same store.
public enum OpenStores {
  private struct Entry: Sendable { weak let store: SyncedStore? }
  private static let entries = Mutex<[String: Entry]>([:])
  /// What was said of stores that could not be used, by their paths: who tries again says it again only where it is another.
  private static let troubles = Mutex<[String: String]>([:])

  /// Takes down what is wrong with a store now; nil: nothing.
  static func note(_ trouble: String?, path: String) { troubles.withLock { $0[path] = trouble } }

  private static let far = Mutex<(any StoreBackEnd)?>(nil)

  /// The store of a place, opened if nobody has it open. It ends with whoever holds it last.
  ///
  /// Opening reads the file; a store whose file can't be used begins empty, says so, and tries again (`SyncedStore.trouble`).
  ///
  /// - Parameter report: told what goes wrong, where this call opens it; nil: standard error.
  public static func store(
    at place: RoamingPlace, reporting report: (@Sendable (String) -> Void)? = nil
  ) -> SyncedStore {
    let path = SQLiteBackEnd.path(ofApplication: place.domain, in: place.directory)
    if let open = entries.withLock({ $0[path]?.store }) { return open }
    var options = SQLiteBackEnd.Options()
    options.anchor = place.anchor
    var telling = SyncedStore.Options()
    if let report { telling.report = report }
    telling.knownTrouble = troubles.withLock { $0[path] }
    let opened = SyncedStore(
      application: place.domain, backEnd: SQLiteBackEnd(path: path, options: options), options: telling)
    return entries.withLock { entries in
      if let other = entries[path]?.store { return other }
      entries = entries.filter { $0.value.store != nil }
      entries[path] = Entry(store: opened)
      if let far = far.withLock({ $0 }) { opened.relay(to: far) }
      return opened
    }
  }

  /// Keeps all of them in step with a back end between machines, each under its application's name: those that are open,
  /// suites whose keys roam among them, and those that are opened later.
  public static func relay(to backEnd: any StoreBackEnd) {
    let open = entries.withLock { entries in
      far.withLock { $0 = backEnd }
      return entries.values.compactMap { $0.store }
    }
    for store in open { store.relay(to: backEnd) }
  }
}
