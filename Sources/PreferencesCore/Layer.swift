/// The layers of the search list, in the order in which they are asked: the first that has the key answers.
///
/// `rawValue` is the name that commands print and read; `allCases` is the order. A layer whose store does not exist
/// yet in this version simply never has a key.
public enum Layer: String, Sendable, Hashable, CaseIterable, Comparable, CustomStringConvertible {
  /// The host's forced domain: binds, whatever any other layer says.
  case forced
  /// `NSArgumentDomain`, from the command line.
  case argument
  /// The synced store, for keys declared roaming.
  case roaming
  case applicationHost = "application-host"
  /// The application's own file of this user: what `set` writes.
  case application
  case suiteHost = "suite-host"
  case suite
  case globalHost = "global-host"
  /// `NSGlobalDomain` of this user.
  case global
  /// Files below the installation's `defaults/` folder, for every user.
  case anyUser = "any-user"
  /// The volatile language domains.
  case language
  /// An administrator's default: beats the application's registered one, never the user's choice.
  case recommended
  /// `NSRegistrationDomain`.
  case registration

  /// The position in the order, 0 for the layer that is asked first.
  public var order: Int { Self.allCases.firstIndex(of: self)! }

  public var description: String { rawValue }

  public static func < (a: Layer, b: Layer) -> Bool { a.order < b.order }
}
