internal import PreferencesCore

/// The observation of one key, for as long as this object is kept; the defaults it observes stay alive with it.
public final class PreferenceObservation: Sendable {
  /// What an observer wants besides the changes.
  public struct Options: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The state at the beginning, before `observe` returns.
    public static let initial = Options(rawValue: 1)
    /// One more call right before each change. For calls of this process it comes before anybody can read the new value;
    /// for changes by others, the administrator among them, only before the observer is told of it.
    public static let prior = Options(rawValue: 2)
  }

  private let subscription: ChangeSubscription

  init(_ subscription: ChangeSubscription) { self.subscription = subscription }

  /// Ends the observation; what was not told yet is dropped. The handler may call it.
  ///
  /// No call of the handler begins after `cancel` has returned. One that is under way on another thread is not waited for
  /// and may still be finishing.
  public func cancel() { subscription.cancel() }
}

extension ManagedDefaults {
  /// Calls back whenever the value or the lock of a key changed: by this process, another one, a new generation of the
  /// policies, or a time window that opens or closes.
  ///
  /// ```swift
  /// observation = defaults.observe("AutoSaveInterval", options: .initial) { change in
  ///   show(change.newValue as? Int ?? 60, locked: change.isForced)
  /// }
  /// ```
  ///
  /// Changes come one after the other, each once, in the order in which they took effect; a change within the handler is
  /// told after the handler has returned.
  ///
  /// - Parameter changeHandler: called on the changing thread, before its call returns, for changes of this process (unless
  ///   another thread is calling it just then, which goes on with this change); else on a thread of the library. No lock is
  ///   held: it may read, set, observe and cancel.
  /// - Returns: what keeps the observation alive; it ends when this is cancelled or released.
  public func observe(
    _ key: String, options: PreferenceObservation.Options = [],
    changeHandler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    PreferenceObservation(
      list.observe(key, options: ObservationOptions(rawValue: options.rawValue)) { changeHandler(PreferenceChange($0)) }
    )
  }

  /// The values of a key: first the one that it has when the loop begins, then each newer one.
  ///
  /// ```swift
  /// for await value in defaults.values(forKey: "MapType") { draw(value as? String ?? "Standard") }
  /// ```
  ///
  /// The buffer holds one value: a loop that is slower than the changes gets the newest and misses those between. A key that
  /// is locked or released without a new value gives none. Ends when the task is cancelled, which ends the observation too.
  public func values(forKey key: String) -> PreferenceValues { PreferenceValues(list: list, key: key) }

  /// The changes of a key from when the loop begins, locks and releases included.
  ///
  /// The buffer holds every change until the loop takes it; a loop that never comes round again keeps them all in memory.
  /// Ends when the task is cancelled, which ends the observation too.
  public func changes(
    forKey key: String, options: PreferenceObservation.Options = []
  ) -> PreferenceChanges {
    PreferenceChanges(list: list, key: key, options: options)
  }
}
