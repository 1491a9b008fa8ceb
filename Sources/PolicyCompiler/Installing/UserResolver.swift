public import ForcedDomain

/// Gives names their ids while a bundle is narrowed. Root alone does this (POLICY-LANGUAGE rule 8); readers use the
/// kernel's facts.
public protocol UserResolver {
  /// The user's id; nil where the name was never resolved, so that it matches nobody.
  func userID(ofUser name: String) -> UInt32?
  /// The Unix group's id; nil where the name was never resolved.
  func groupID(ofUnixGroup name: String) -> UInt32?
}

extension UserResolver {
  /// A group with `userIDs` beside its `names` and `groupIDs` beside its `unixGroups`, place by place.
  ///
  /// A name without id gets `UserGroup.nobodysID`: the lists stay parallel, so that the next narrowing finds the ids of
  /// the last resolution again.
  public func resolve(_ group: UserGroup) -> UserGroup {
    var group = group
    group.userIDs = group.names.map { userID(ofUser: $0) ?? UserGroup.nobodysID }
    group.groupIDs = group.unixGroups.map { groupID(ofUnixGroup: $0) ?? UserGroup.nobodysID }
    return group
  }

  /// A user name with its id, nil where there is none.
  public func resolve(_ name: String) -> ResolvedUser { ResolvedUser(name: name, userID: userID(ofUser: name)) }
}

extension UserGroup {
  /// An id that no process can have: the kernel takes −1 for "leave it as it is".
  public static let nobodysID = UInt32.max
}
