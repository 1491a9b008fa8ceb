public import ForcedDomain
public import LinuxFiles

/// Where ids of names come from: the system's name service, or a table in tests.
public struct AccountSource: Sendable {
  /// nil: there is no such name. An error: the service did not answer, which says nothing about the name.
  let userID: @Sendable (String) throws(Errno) -> UInt32?
  let groupID: @Sendable (String) throws(Errno) -> UInt32?

  /// passwd and group and what nsswitch.conf adds.
  public static let system = AccountSource(
    userID: { name throws(Errno) in try UserDatabase.user(named: name)?.userID },
    groupID: { name throws(Errno) in try UserDatabase.groupID(named: name) })

  public init(
    userID: @escaping @Sendable (String) throws(Errno) -> UInt32?,
    groupID: @escaping @Sendable (String) throws(Errno) -> UInt32?
  ) {
    self.userID = userID
    self.groupID = groupID
  }
}

/// A name that has no id today.
public struct NameFault: Hashable, Sendable, Comparable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable {
    case user
    case unixGroup = "Unix group"
  }

  public let kind: Kind
  public let name: String
  /// The id of the last resolution, which stays in use; nil where the name was never resolved.
  public let rememberedID: UInt32?
  /// What the name service said.
  public let reason: String

  public var description: String {
    if let rememberedID {
      "\(kind.rawValue) '\(name)' can't be resolved (\(reason)); its last id, \(rememberedID), stays in use"
    } else {
      "\(kind.rawValue) '\(name)' was never resolved (\(reason)); it matches nobody"
    }
  }

  public static func < (a: Self, b: Self) -> Bool { (a.kind.rawValue, a.name) < (b.kind.rawValue, b.name) }
}

/// Resolves each name once, keeps the ids of the last resolution for names that have none today, and notes both.
///
/// Not `Sendable`: one installation uses one ledger on one thread.
public final class NameLedger: UserResolver {
  private let accounts: AccountSource
  private var rememberedUsers: [String: UInt32] = [:]
  private var rememberedGroups: [String: UInt32] = [:]
  private var users: [String: UInt32?] = [:]
  private var groups: [String: UInt32?] = [:]
  private var unresolvedBefore: [NameFault.Kind: Set<String>] = [:]
  private var noted: [NameFault] = []

  /// - Parameter previous: the generation in use, whose ids count as the last resolution.
  public init(accounts: AccountSource, remembering previous: ForcedDomain?) {
    self.accounts = accounts
    guard let previous else { return }
    for user in previous.resolvedUsers { remember(.user, user.name, user.userID) }
    for group in previous.userGroups {
      for (name, id) in zip(group.names, group.userIDs) { remember(.user, name, id) }
      for (name, id) in zip(group.unixGroups, group.groupIDs) { remember(.unixGroup, name, id) }
    }
  }

  /// What was noted so far, sorted.
  public var faults: [NameFault] { noted.sorted() }

  public func userID(ofUser name: String) -> UInt32? {
    if let known = users[name] { return known }
    let id = resolve(.user, name, remembered: rememberedUsers[name], by: accounts.userID)
    users[name] = .some(id)
    return id
  }

  public func groupID(ofUnixGroup name: String) -> UInt32? {
    if let known = groups[name] { return known }
    let id = resolve(.unixGroup, name, remembered: rememberedGroups[name], by: accounts.groupID)
    groups[name] = .some(id)
    return id
  }

  private func resolve(
    _ kind: NameFault.Kind, _ name: String, remembered: UInt32?, by lookUp: (String) throws(Errno) -> UInt32?
  ) -> UInt32? {
    let reason: String
    do throws(Errno) {
      if let id = try lookUp(name) { return id }
      reason = "no such name"
    } catch {
      reason = "the name service does not answer: \(error)"
    }
    noted.append(NameFault(kind: kind, name: name, rememberedID: remembered, reason: reason))
    return remembered
  }

  /// Whether the generation in use has the name without an id: somebody has accepted that.
  func wasUnresolvedBefore(_ fault: NameFault) -> Bool { unresolvedBefore[fault.kind]?.contains(fault.name) ?? false }

  private func remember(_ kind: NameFault.Kind, _ name: String, _ id: UInt32?) {
    guard let id, id != UserGroup.nobodysID else {
      unresolvedBefore[kind, default: []].insert(name)
      return
    }
    switch kind {
    case .user: rememberedUsers[name] = id
    case .unixGroup: rememberedGroups[name] = id
    }
  }
}
