/// The layers of the search list, in the order in which they are asked: the first that has the key answers.
///
/// `rawValue` is the name that commands print and read; `allCases` is the order. (Suites take turns: of each, this host's
/// file comes before the one for any host.)
public enum Layer: String, Sendable, Hashable, CaseIterable, Comparable, CustomStringConvertible {
  /// The host's forced domain: binds, whatever any other layer says.
  case forced
  /// `NSArgumentDomain`, from the command line.
  case argument
  /// The synced store, for keys declared roaming.
  case roaming
  /// The application's file of this user for this host: it hides what `set` writes.
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
  public var order: Int { Int(position) }

  var position: UInt8 {
    switch self {
    case .forced: 0
    case .argument: 1
    case .roaming: 2
    case .applicationHost: 3
    case .application: 4
    case .suiteHost: 5
    case .suite: 6
    case .globalHost: 7
    case .global: 8
    case .anyUser: 9
    case .language: 10
    case .recommended: 11
    case .registration: 12
    }
  }

  public var description: String { rawValue }

  public static func < (a: Layer, b: Layer) -> Bool { a.order < b.order }
}
