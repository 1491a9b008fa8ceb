internal import Foundation
internal import PreferencesCore
internal import PropertyList

extension Preference {
  /// A change of what a property reads, or of its lock.
  public struct Change {
    /// The state at the beginning, for the option `initial`: both values are the same then.
    public let isInitial: Bool
    public let oldValue: Value
    public let newValue: Value
    public let wasForced: Bool
    public let isForced: Bool
    public let source: PreferenceChange.Source
  }

  /// The values of one property over time. Each loop over it observes by itself, from its beginning to its end.
  public struct Values: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = Never

    let property: Property

    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let property: Property
      fileprivate var forms: AsyncStream<PropertyListValue?>.Iterator
      /// What is stored for the value before.
      fileprivate var last: PropertyListValue??

      public mutating func next() async -> Value? { await next(isolation: nil) }

      public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
        while let form = await forms.next(isolation: actor) {
          let (value, stored) = property.withPlace { place in
            let value = property.effective(form, at: place)
            return (value, property.stored(value, at: place))
          }
          if last == .some(stored) { continue }
          last = .some(stored)
          return value
        }
        return nil
      }
    }

    public func makeAsyncIterator() -> AsyncIterator {
      let forms = property.withPlace { place in
        AsyncStream.observing(place.list, place.key.text, .initial, buffering: .bufferingNewest(1)) { .some($0.new) }
      }
      return AsyncIterator(property: property, forms: forms.makeAsyncIterator())
    }
  }
}

extension Preference.Property {
  /// Calls back whenever the property's value changed, or it became forced or was released: by this process, another one,
  /// a new generation of the policies, or a time window.
  ///
  /// Threads and order are those of `ManagedDefaults.observe`, which also has the option `prior`.
  /// - Parameter initial: calls once for the state at the beginning, before this returns.
  /// - Returns: what keeps the observation alive; it ends when this is cancelled or released.
  public func observe(
    initial: Bool = false, changeHandler: @escaping @Sendable (Preference.Change) -> Void
  ) -> PreferenceObservation {
    withPlace { place in
      PreferenceObservation(
        place.list.observe(place.key.text, options: initial ? .initial : []) { [self] change in
          if let change = self.change(change) { changeHandler(change) }
        })
    }
  }

  /// nil where the property's value stays the same, although what is stored for it does not.
  private func change(_ change: KeyChange) -> Preference.Change? {
    withPlace { place in
      let new = effective(change.new, at: place)
      let isInitial = change.kind == .initial
      let old = isInitial ? new : effective(change.old, at: place)
      let isNews = isInitial || change.wasForced != change.isForced || stored(old, at: place) != stored(new, at: place)
      return isNews
        ? Preference.Change(
          isInitial: isInitial, oldValue: old, newValue: new, wasForced: change.wasForced, isForced: change.isForced,
          source: PreferenceChange.Source(change.source)) : nil
    }
  }

  /// The property's values: first the one that it has when the loop begins, then each newer one.
  ///
  /// ```swift
  /// for await kids in Prefs.sharedInstance.$kids.values { list(kids) }
  /// ```
  ///
  /// Each is another than the one before, whoever changed it. The buffer holds one: a loop that is slower than the changes
  /// gets the newest and misses those between. Ends when the task is cancelled.
  public var values: Preference.Values { Preference.Values(property: self) }
}
