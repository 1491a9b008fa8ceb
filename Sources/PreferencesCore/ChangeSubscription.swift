/// Keeps an observer of a search list subscribed; dropping it, or `cancel`, ends the subscription.
public final class ChangeSubscription: Sendable {
  private let id: UInt64
  private let state: ListState

  init(id: UInt64, state: ListState) {
    self.id = id
    self.state = state
  }

  deinit { cancel() }

  /// Ends the subscription. A call that is under way on another thread may still arrive.
  public func cancel() {
    let engine = Engine.shared
    engine.lock.withLock {
      state.observers[id] = nil
      if state.configuration.observes { engine.watcher.wake() }
    }
  }
}

extension SearchList {
  /// Subscribes to changes of what this list reads, whoever makes them.
  ///
  /// For calls of this process, the handler runs on the calling thread, after the change and before the call returns; for
  /// others' changes on a background thread. No lock is held: it may read, set and subscribe. While someone is subscribed to
  /// a list that `observes`, a new generation is seen within milliseconds.
  public func onChange(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> ChangeSubscription {
    engine.lock.withLock {
      let id = (state.observers.keys.max() ?? 0) + 1
      state.observers[id] = handler
      if configuration.observes { engine.watcher.wake() }
      return ChangeSubscription(id: id, state: state)
    }
  }
}
