internal import PreferencesCore

/// The values of one key over time. Each loop over it observes by itself, from its beginning to its end.
public struct PreferenceValues: AsyncSequence, Sendable {
  /// As `object(forKey:)` returns it; nil where no layer has the key.
  public typealias Element = (any Sendable)?
  public typealias Failure = Never

  let list: SearchList
  let key: String

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var iterator: AsyncStream<Element>.Iterator

    fileprivate init(_ stream: AsyncStream<Element>) { iterator = stream.makeAsyncIterator() }

    public mutating func next() async -> Element? { await iterator.next() }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await iterator.next(isolation: actor)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      .observing(list, key, .initial, buffering: .bufferingNewest(1)) { change in
        // A key that is only locked or released has no new value.
        change.kind == .change && change.old == change.new ? nil : .some(change.new.map(FoundationValues.object))
      })
  }
}

/// The changes of one key. Each loop over it observes by itself, from its beginning to its end.
public struct PreferenceChanges: AsyncSequence, Sendable {
  public typealias Element = PreferenceChange
  public typealias Failure = Never

  let list: SearchList
  let key: String
  let options: PreferenceObservation.Options

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var iterator: AsyncStream<Element>.Iterator

    fileprivate init(_ stream: AsyncStream<Element>) { iterator = stream.makeAsyncIterator() }

    public mutating func next() async -> Element? { await iterator.next() }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await iterator.next(isolation: actor)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      .observing(list, key, ObservationOptions(rawValue: options.rawValue), buffering: .unbounded) {
        PreferenceChange($0)
      })
  }
}

extension AsyncStream {
  /// Observes until the stream's consumer is cancelled or gone.
  /// - Parameter element: nil for what is passed over.
  static func observing(
    _ list: SearchList, _ key: String, _ options: ObservationOptions,
    buffering policy: Continuation.BufferingPolicy, _ element: @escaping @Sendable (KeyChange) -> Element?
  ) -> AsyncStream where Element: Sendable {
    let (stream, continuation) = makeStream(bufferingPolicy: policy)
    let subscription = list.observe(key, options: options) { change in
      if let element = element(change) { continuation.yield(element) }
    }
    continuation.onTermination = { _ in subscription.cancel() }
    return stream
  }
}
