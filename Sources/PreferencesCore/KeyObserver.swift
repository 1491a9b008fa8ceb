import Glibc
import PropertyList

/// One observer of one key, with what it has not been told yet.
///
/// Changes are queued in the moment in which readers get to see them, under the engine's lock, and told later without it,
/// by one thread at a time: so they are told in order, and none twice, whoever makes them and whatever a handler does.
/// All members are guarded by the engine's lock; `deliver` takes it.
final class KeyObserver: @unchecked Sendable {
  let key: String
  let wantsPrior: Bool
  private let handler: @Sendable (KeyChange) -> Void

  /// At the end of the queue.
  private var value: PropertyListValue?
  private var isForced: Bool
  private var queue: ArraySlice<KeyChange> = []
  /// The queue's last word, told or not, is that a change is about to follow.
  private var isAnnounced = false
  private var deliverer: pthread_t?
  private(set) var isCancelled = false

  init(
    _ key: String, _ state: KeyState, options: ObservationOptions, handler: @escaping @Sendable (KeyChange) -> Void
  ) {
    self.key = key
    self.handler = handler
    wantsPrior = options.contains(.prior)
    value = state.value
    isForced = state.isForced
    if options.contains(.initial) {
      queue.append(
        KeyChange(
          kind: .initial, key: key, old: nil, new: value, wasForced: isForced, isForced: isForced, source: .receiver))
    }
  }

  /// What a key has and whether it is forced.
  struct KeyState {
    var value: PropertyListValue?
    var isForced: Bool
  }

  /// Queues the change to `state`, unless it is none.
  /// - Returns: whether there is something to deliver.
  func note(_ state: KeyState, _ source: SearchListChange.Source) -> Bool {
    if state.isForced == isForced && state.value == value { return false }
    if wantsPrior { _ = announce(source) }
    isAnnounced = false
    queue.append(
      KeyChange(
        kind: .change, key: key, old: value, new: state.value, wasForced: isForced, isForced: state.isForced,
        source: source))
    value = state.value
    isForced = state.isForced
    return true
  }

  /// Queues that a change is about to follow.
  /// - Returns: false where that was said already.
  func announce(_ source: SearchListChange.Source) -> Bool {
    if isAnnounced { return false }
    isAnnounced = true
    queue.append(
      KeyChange(
        kind: .prior, key: key, old: value, new: nil, wasForced: isForced, isForced: isForced, source: source))
    return true
  }

  /// Whether another value, in a layer that does not force, would be news.
  func wouldNotice(_ value: PropertyListValue?) -> Bool { !isForced && self.value != value }

  /// Tells what is queued. Returns at once when another call is at it, on whatever thread: that one goes on with ours.
  func deliver() {
    let lock = Engine.shared.lock
    lock.lock()
    if deliverer == nil {
      deliverer = pthread_self()
      while !isCancelled, let change = queue.popFirst() {
        lock.unlock()
        handler(change)
        lock.lock()
      }
      deliverer = nil
    }
    lock.unlock()
  }

  func cancel() {
    isCancelled = true
    queue = []
  }

  /// In a forked child: who was telling is not there, unless it is the thread that forked.
  func renewAfterFork() {
    if let deliverer, pthread_equal(deliverer, pthread_self()) == 0 { self.deliverer = nil }
  }
}
