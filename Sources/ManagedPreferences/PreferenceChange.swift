internal import PreferencesCore

/// What an observer of one key is told.
///
/// Each change is told once and in order: its `oldValue` and `wasForced` are the `newValue` and `isForced` of the one before.
/// Only what the getters can show counts: another value (`true` and `1` are two), or a key that becomes forced or is
/// released. Values have the types that `object(forKey:)` returns.
public struct PreferenceChange: Sendable {
  public enum Kind: Sendable, Hashable {
    /// The state at the beginning, for the option `initial`: `newValue` and `isForced`, and nothing in `oldValue`.
    case initial
    /// A change is about to follow, for the option `prior`: `oldValue` and `wasForced`, and nothing in `newValue`.
    case prior
    case change
  }

  public enum Source: Sendable, Hashable {
    /// A call on the observed object.
    case receiver
    /// Another object of this process, which shares a domain with the observed one.
    case otherObject
    /// Another process, whatever it writes with.
    case otherProcess
    /// The administrator: a new generation of the policies, or a time window that opened or closed.
    case policy
  }

  public let kind: Kind
  public let key: String
  /// nil when no layer had the key.
  public let oldValue: (any Sendable)?
  /// nil when no layer has the key.
  public let newValue: (any Sendable)?
  public let wasForced: Bool
  public let isForced: Bool
  public let source: Source

  public var isPrior: Bool { kind == .prior }

  init(_ change: KeyChange) {
    kind =
      switch change.kind {
      case .initial: .initial
      case .prior: .prior
      case .change: .change
      }
    key = change.key
    oldValue = change.old.map(FoundationValues.object)
    newValue = change.new.map(FoundationValues.object)
    wasForced = change.wasForced
    isForced = change.isForced
    source = Source(change.source)
  }
}

extension PreferenceChange.Source {
  init(_ source: SearchListChange.Source) {
    self =
      switch source {
      case .receiver: .receiver
      case .otherList: .otherObject
      case .otherProcess: .otherProcess
      case .policy: .policy
      }
  }
}
