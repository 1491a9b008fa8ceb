internal import Glibc
public import PreferencesCore
public import PropertyList
import Synchronization

/// A synced store as layer 3 of a search list.
public final class RoamingStore: RoamingLayer {
  /// Opens the store of a place; what `RoamingLayers.opener` takes.
  /// - Throws: `notRoaming` where its file can't be used now. Nothing is lost: the values are in the application's own file, and
  ///   what is set meanwhile is marked there.
  @Sendable public static func open(_ place: RoamingPlace) throws(PreferencesFault) -> any RoamingLayer {
    try open(place, reporting: nil)
  }

  /// - Parameter report: told what goes wrong with a store that is opened by this call; nil: standard error.
  public static func open(
    _ place: RoamingPlace, reporting report: (@Sendable (String) -> Void)?
  ) throws(PreferencesFault) -> any RoamingLayer {
    let store = OpenStores.store(at: place, reporting: report)
    let layer = RoamingStore(store, path: SQLiteBackEnd.path(ofApplication: place.domain, in: place.directory))
    if store.trouble != nil { store.synchronize() }
    OpenStores.note(store.trouble, path: layer.path)
    if let trouble = store.trouble {
      throw .notRoaming("nothing roams", trouble, path: layer.path)
    }
    return layer
  }

  public let path: String
  private let store: SyncedStore
  private let subscriptions = Mutex<[Int]>([])

  init(_ store: SyncedStore, path: String) {
    self.store = store
    self.path = path
  }

  deinit { subscriptions.withLock { $0.forEach(store.removeObserver) } }

  public var contents: RoamingContents { store.roamingContents() }

  public func set(_ value: PropertyListValue?, forKey key: String) -> String? {
    if store.isForked { return SyncedStore.isLeftToTheParent }
    guard let value else {
      store.remove(key, telling: .later)
      return nil
    }
    do throws(StoreRefusal) {
      // Its observers may ask the search list, whose lock is held here.
      try store.set(key, to: value, telling: .later)
      return nil
    } catch {
      store.options.report("\(error); it stays on this machine")
      return "\(error)"
    }
  }

  public func offer(_ value: PropertyListValue?, forKey key: String, _ edit: UnsentEdit) -> RoamingOffer {
    if store.isForked { return .notHere }
    do throws(StoreRefusal) {
      try store.offer(value, forKey: key, edit)
      return .settled
    } catch {
      return .refused("\(error)")
    }
  }

  public var isFailing: Bool { !store.isForked && store.trouble != nil }

  public var hasUnsaved: Bool { !store.isForked && store.hasUnsavedEdits }

  public func synchronize() -> Bool { store.isForked || store.synchronize() }

  public func observe(_ handler: @escaping @Sendable () -> Void) {
    subscriptions.withLock { subscriptions in
      subscriptions.forEach(store.removeObserver)
      let changes = store.observe { change in
        if change.reason != .quotaViolation { handler() }
      }
      subscriptions = [changes, store.observeEdits(handler)]
    }
  }
}
