import Glibc
import Synchronization

/// Saves the edits of all stores when the process ends normally. The child of a fork leaves its parent's to the parent.
enum ExitSaving {
  private struct Entry: Sendable { weak let store: SyncedStore? }
  private static let stores = Mutex<[Entry]>([])

  static func add(_ store: SyncedStore) {
    let isFirst = stores.withLock { stores in
      let isFirst = stores.isEmpty
      stores.removeAll { $0.store == nil }
      stores.append(Entry(store: store))
      return isFirst
    }
    if isFirst { atexit { ExitSaving.save() } }
  }

  private static func save() {
    for entry in stores.withLock({ $0 }) {
      guard let store = entry.store, !store.isForked else { continue }
      if store.hasUnsavedEdits { store.synchronize() }
      store.finishRelay()
      store.letGo()
    }
  }
}
