import PropertyList

/// Who observes a list, and what is to be told. All under the engine's lock.
extension ListState {
  /// A subscriber to the whole list or to one key; what `removeObserver` hands over.
  enum Observer {
    case list(@Sendable (SearchListChange) -> Void)
    case key(KeyObserver)
  }

  var isObserved: Bool { !observers.isEmpty || !keyObservers.isEmpty }

  func add(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> UInt64 {
    lastObserverID += 1
    observers[lastObserverID] = handler
    return lastObserverID
  }

  func add(_ observer: KeyObserver) -> UInt64 {
    lastObserverID += 1
    observedKeys[lastObserverID] = observer.key
    keyObservers[observer.key, default: []].append((lastObserverID, observer))
    if observer.wantsPrior { priorObservers += 1 }
    return lastObserverID
  }

  func removeObserver(_ id: UInt64) -> Observer? {
    if let handler = observers.removeValue(forKey: id) { return .list(handler) }
    guard let key = observedKeys.removeValue(forKey: id), var ofKey = keyObservers[key],
      let place = ofKey.firstIndex(where: { $0.id == id })
    else { return nil }
    let observer = ofKey.remove(at: place).observer
    keyObservers[key] = ofKey.isEmpty ? nil : ofKey
    if observer.wantsPrior { priorObservers -= 1 }
    observer.cancel()
    return .key(observer)
  }

  /// What readers see for a key.
  func state(ofKey key: String) -> KeyObserver.KeyState {
    let entry = entry(ofKey: key)
    return KeyObserver.KeyState(
      value: entry?.value, isForced: published.current.everythingIsForced || entry?.isForced ?? false)
  }

  /// Queues what readers see of a key from now on.
  func noteChange(ofKey key: String, _ source: SearchListChange.Source) {
    guard !keyObservers.isEmpty, let ofKey = keyObservers[key] else { return }
    for (_, observer) in ofKey where observer.note(state(ofKey: observer.key), source) { untold.append(observer) }
  }

  /// The same after all tables were filled anew.
  func noteChangeOfAllKeys(_ source: SearchListChange.Source) {
    for key in keyObservers.keys { noteChange(ofKey: key, source) }
  }

  func takeUntold() -> [KeyObserver] {
    defer { untold = [] }
    return untold
  }
}

extension Engine {
  /// Tells those who want to know beforehand of what a call of this process is about to change.
  ///
  /// Called under the lock, which is released while handlers run and held again afterwards: whatever the caller looked at
  /// before may be another then.
  /// - Parameters:
  ///   - key: the only one that is concerned, if it is one.
  ///   - rehearse: changes the stores as the call will, runs the closure that it is given, and takes everything back.
  func announce(
    in lists: some Sequence<ListState>, receiver: ListState, others: SearchListChange.Source = .otherList,
    key: String? = nil, rehearse: (_ look: () -> Void) -> Void
  ) {
    var concerned: [(ListState, KeyObserver)] = []
    for list in lists where list.priorObservers > 0 {
      for (observed, ofKey) in list.keyObservers where key == nil || observed == key {
        concerned += ofKey.filter(\.observer.wantsPrior).map { (list, $0.observer) }
      }
    }
    if concerned.isEmpty { return }
    var told: [KeyObserver] = []
    rehearse {
      for (list, observer) in concerned where observer.wouldNotice(list.winner(ofKey: observer.key)?.value) {
        if observer.announce(list === receiver ? .receiver : others) { told.append(observer) }
      }
    }
    if told.isEmpty { return }
    lock.unlock()
    for observer in told { observer.deliver() }
    lock.lock()
  }
}
