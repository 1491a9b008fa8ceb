/// The two parts of a policy, each with a walk of its own.
public enum PolicySection: UInt8, Sendable, Hashable, CaseIterable {
  /// Read-only; first in the search list.
  case forced = 0
  /// An administrator's default; the user's own choice beats it.
  case recommended = 1
}

/// What an entry does when the walk of its key reaches it (rule 2 of the policy language).
public enum EntryAction: UInt8, Sendable, Hashable, CaseIterable {
  /// Gives its value and ends the walk.
  case replace = 1
  /// Adds its elements and goes on.
  case union = 2
  /// Ends the walk with what has been gathered. Only in the forced section.
  case release = 3
}

/// How exactly an entry names its hosts; the larger decides first.
public enum HostClass: UInt8, Sendable, Hashable, Comparable, CaseIterable {
  case none = 0
  case group, pattern, name
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// How exactly an entry names its users; the larger decides first.
public enum UserClass: UInt8, Sendable, Hashable, Comparable, CaseIterable {
  case none = 0
  case group, name
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Where an entry stands among those of its key: the greater rank decides first (rule 1 of the policy language).
///
/// The first difference decides: priority, then override before its profile's own part, then the class of the host
/// item, then the class of the user item.
public struct Rank: Sendable, Hashable, Comparable {
  public var priority: Int64
  public var isOverride: Bool
  public var hostClass: HostClass
  public var userClass: UserClass

  public init(
    priority: Int64 = 0, isOverride: Bool = false, hostClass: HostClass = .none, userClass: UserClass = .none
  ) {
    self.priority = priority
    self.isOverride = isOverride
    self.hostClass = hostClass
    self.userClass = userClass
  }

  public static func < (a: Self, b: Self) -> Bool {
    if a.priority != b.priority { return a.priority < b.priority }
    return a.precision < b.precision
  }

  /// Everything below the priority as one number.
  var precision: UInt8 { (isOverride ? 16 : 0) | hostClass.rawValue << 2 | userClass.rawValue }
}
