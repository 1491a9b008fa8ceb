/// Keeps an observer of a search list subscribed, and the list alive; dropping it, or `cancel`, ends the subscription.
public final class ChangeSubscription: Sendable {
  private let id: UInt64
  private let list: SearchList

  init(id: UInt64, list: SearchList) {
    self.id = id
    self.list = list
  }

  deinit { cancel() }

  /// Ends the subscription; what was not told yet is dropped. The handler may call it.
  ///
  /// No call of the handler begins after `cancel` has returned. One that is under way on another thread is not waited for
  /// (it may be waiting for this very thread) and may still be finishing.
  public func cancel() {
    let engine = list.engine
    // Released without the lock: what a handler holds may be another subscription.
    let ended = engine.lock.withLock {
      let ended = list.state.removeObserver(id)
      if list.configuration.observes { engine.watcher.wake() }
      return ended
    }
    extendLifetime(ended)
  }
}

extension SearchList {
  /// Subscribes to changes of what this list reads, whoever makes them.
  ///
  /// For calls of this process, the handler runs on the calling thread, after the change and before the call returns; for
  /// others' changes on a background thread. No lock is held: it may read, set, subscribe and cancel. While someone is
  /// subscribed to a list that `observes`, others' changes are seen within milliseconds; a list that does not, sees them at
  /// `synchronize`.
  public func onChange(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> ChangeSubscription {
    engine.lock.withLock {
      let id = state.add(handler)
      if configuration.observes { engine.watcher.wake() }
      return ChangeSubscription(id: id, list: self)
    }
  }

  /// Subscribes to one key: to what is read for it, and whether that is forced.
  ///
  /// The sources are those of `onChange`: this list's own layers and suites, other lists of the process, other processes,
  /// new generations of the policy, time windows that open or close. Changes are told one after the other, in the order in
  /// which readers got to see them. For a call of this process that is before the call returns, on its thread, unless
  /// the handler is busy: then whoever is calling it goes on with this change. So a set within the handler is told after the
  /// handler has returned, and a handler that is slow makes later changes wait in memory, not those who make them.
  ///
  /// No lock is held: the handler may read, set, subscribe and cancel.
  public func observe(
    _ key: String, options: ObservationOptions = [], handler: @escaping @Sendable (KeyChange) -> Void
  ) -> ChangeSubscription {
    // The language domains are made when one of their keys is asked for, which must not look like a change.
    _ = value(key)
    let (subscription, observer) = engine.lock.withLock {
      let observer = KeyObserver(key, state.state(ofKey: key), options: options, handler: handler)
      let id = state.add(observer)
      if configuration.observes { engine.watcher.wake() }
      return (ChangeSubscription(id: id, list: self), observer)
    }
    observer.deliver()
    return subscription
  }
}
