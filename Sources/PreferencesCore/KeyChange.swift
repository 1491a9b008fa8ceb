public import PropertyList

/// What an observer of one key is told.
///
/// Each change is told once and in order: its `old` and `wasForced` are the `new` and `isForced` of the one before. Only
/// what an application can notice counts: another value (`true` and `1` are two), or a key that becomes forced or is
/// released. A value that another layer hides is none.
public struct KeyChange: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// The state at the beginning, for `ObservationOptions.initial`: `new` and `isForced`, and nothing in `old`.
    case initial
    /// A change is about to follow, for `ObservationOptions.prior`: `old` and `wasForced`, and nothing in `new`.
    case prior
    case change
  }

  public let kind: Kind
  public let key: String
  /// What was read before, nil when no layer had the key.
  public let old: PropertyListValue?
  /// What is read from now on, nil when no layer has the key.
  public let new: PropertyListValue?
  public let wasForced: Bool
  public let isForced: Bool
  /// Who changed it; `.receiver` for `.initial`.
  public let source: SearchListChange.Source

  public var isPrior: Bool { kind == .prior }
}

/// What an observer of one key wants besides the changes.
public struct ObservationOptions: OptionSet, Sendable, Hashable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The state at the beginning, before the subscribing call returns.
  public static let initial = ObservationOptions(rawValue: 1)
  /// One more call right before each change. For calls of this process it comes before anybody can read the new value;
  /// for changes by others, a policy among them, and for a call that the observer itself or another thread overtakes,
  /// only before the observer is told of it: nothing may hold up a value that an administrator forces.
  public static let prior = ObservationOptions(rawValue: 2)
}
