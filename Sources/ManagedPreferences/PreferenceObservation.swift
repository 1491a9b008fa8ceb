internal import PreferencesCore
internal import Synchronization

/// The observation of one key, for as long as this object is kept.
public final class PreferenceObservation: Sendable {
  private let subscription: ChangeSubscription

  init(of key: String, in list: SearchList, changed: @escaping @Sendable () -> Void) {
    // A key that becomes forced to the value that it has does not change its value, but its control must be locked.
    let lock = KnownLock(list.isForced(key))
    subscription = list.onChange { [weak list] change in
      guard let list else { return }
      let lockChanged = lock.update(to: list.isForced(key))
      if lockChanged || change.keys.contains(key) { changed() }
    }
  }

  /// Ends the observation. A call that is under way on another thread may still finish.
  public func cancel() { subscription.cancel() }

  /// Whether the key was forced when we last looked.
  private final class KnownLock: Sendable {
    private let isForced: Atomic<Bool>

    init(_ isForced: Bool) { self.isForced = Atomic(isForced) }

    /// Whether the answer differs from the last one.
    func update(to now: Bool) -> Bool { isForced.exchange(now, ordering: .acquiringAndReleasing) != now }
  }
}
