public import LinuxFiles

/// Under which name a host is enrolled, short or full.
public struct HostIdentity: Sendable, Hashable, CustomStringConvertible {
  public let name: String

  public init(name: String) { self.name = name }

  /// The part before the first dot.
  public var shortName: String { String(name.prefix { $0 != "." }) }

  public var description: String { name }
}

/// Who asks. In a running application these are the kernel's facts; in a what-if, what the command line says.
public struct UserFacts: Sendable, Hashable {
  /// nil in a what-if about a user whom this machine does not know: a person with the groups that list the name.
  public var userID: UInt32?
  /// Unix groups: the real one and the supplementary ones.
  public var groupIDs: [UInt32]
  /// Consulted only where no id decides.
  public var name: String?
  /// Groups of the inventory that a what-if adds (`--group`, `given`).
  public var inventoryGroups: [String]

  public init(
    userID: UInt32? = nil, groupIDs: [UInt32] = [], name: String? = nil, inventoryGroups: [String] = []
  ) {
    self.userID = userID
    self.groupIDs = groupIDs
    self.name = name
    self.inventoryGroups = inventoryGroups
  }

  /// The same process as seen from the user namespace around its own; nil where there is none.
  var outside: OutsideFacts?

  /// This process's real user and groups, as the kernel knows them.
  public static func current() -> UserFacts {
    var facts = UserFacts(userID: ProcessIdentity.realUserID, groupIDs: ProcessIdentity.groupIDs())
    facts.outside = OutsideFacts.current(facts)
    return facts
  }

  /// An account as the user database has it.
  public init(of account: UserAccount) {
    self.init(userID: account.userID, groupIDs: UserDatabase.groupIDs(of: account), name: account.name)
  }

  /// The first user id of people; those below belong to root and to services.
  public static let firstPersonID: UInt32 = 1000
}

/// What a symbolic window says about an instant.
public struct WindowState: Sendable, Hashable {
  public var isOpen: Bool
  /// The next Unix second at which the answer changes, nil when it never does.
  public var nextEdge: Int64?

  public init(isOpen: Bool, nextEdge: Int64?) {
    self.isOpen = isOpen
    self.nextEdge = nextEdge
  }
}

/// In whose place, where and when conditions are evaluated.
public struct EvaluationContext: Sendable {
  /// nil for a narrowed file, whose hosts root has decided.
  public var host: HostIdentity?
  public var user: UserFacts
  /// Unix seconds.
  public var instant: Int64
  /// Evaluates a window outside the span over which a file carries it expanded; needs the time zone database, so the
  /// compiler's room supplies it. nil in applications.
  public var symbolicWindows: (@Sendable (WeeklyWindow, Int64) -> WindowState)?

  public init(
    host: HostIdentity? = nil, user: UserFacts, instant: Int64,
    symbolicWindows: (@Sendable (WeeklyWindow, Int64) -> WindowState)? = nil
  ) {
    self.host = host
    self.user = user
    self.instant = instant
    self.symbolicWindows = symbolicWindows
  }

  /// This process, now.
  public static func current() -> EvaluationContext {
    EvaluationContext(user: .current(), instant: WallClock.unixSeconds())
  }
}
