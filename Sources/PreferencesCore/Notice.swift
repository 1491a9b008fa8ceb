import PropertyList

/// Something to tell observers, once no lock is held.
struct Notice {
  private let handlers: [@Sendable (SearchListChange) -> Void]
  private let change: SearchListChange
  private let observers: [KeyObserver]

  /// What a list's observers are to be told, observers of single keys included. Under the engine's lock, in the span in
  /// which the changes were published.
  /// - Returns: nil where nobody observes or nothing changed.
  init?(_ list: ListState, _ source: SearchListChange.Source, domain: String?, keys: [String], always: Bool = false) {
    observers = list.takeUntold()
    let isNews = !list.observers.isEmpty && (always || !keys.isEmpty)
    if !isNews && observers.isEmpty { return nil }
    handlers = isNews ? list.observers.sorted { $0.key < $1.key }.map(\.value) : []
    change = SearchListChange(
      source: source, persistentDomain: domain,
      keys: isNews ? keys.sortedByBytes() : [])
  }

  func deliver() {
    for handler in handlers { handler(change) }
    for observer in observers { observer.deliver() }
  }
}
