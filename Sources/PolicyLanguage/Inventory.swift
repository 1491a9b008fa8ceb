/// Which hosts there are, and who belongs to which group.
public struct Inventory: Sendable {
  /// What `install` does on a host that no pattern of the inventory matches.
  public enum UnknownHosts: String, Sendable, CaseIterable {
    case refuse, allow
  }

  /// Index of its file in ``PolicyTree/sources``.
  public let source: Int
  public let position: SourcePosition
  public let unknownHosts: UnknownHosts
  public let hostGroups: [HostGroup]
  public let userGroups: [UserGroup]
}

/// A group of hosts: patterns and other groups.
public struct HostGroup: Sendable {
  public let name: Located<String>
  /// Patterns as written, syntax checked.
  public let names: [Located<String>]
  public let groups: [Located<String>]
}

/// A group of users: names, Unix groups and other groups.
public struct UserGroup: Sendable {
  public let name: Located<String>
  public let names: [Located<String>]
  public let unixGroups: [Located<String>]
  public let groups: [Located<String>]
}
