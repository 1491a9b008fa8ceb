import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// Whether the names in the policies in force still stand for the users and groups that they stood for when they were
/// narrowed.
struct IdentityCheck: Hashable {
  /// A name has another id than the one in use: the policies have to be narrowed anew.
  private(set) var hasChanged = false
  /// Names that the name service does not know, or can't be asked about; sorted. What is in force for them stays.
  private(set) var unknown: [String] = []

  init(of file: ForcedDomain, user: (String) -> UInt32?, group: (String) -> UInt32?) {
    var users: [String: UInt32?] = [:]
    var groups: [String: UInt32?] = [:]
    for resolved in file.resolvedUsers { users[resolved.name] = resolved.userID }
    for listed in file.userGroups {
      for (name, id) in zip(listed.names, listed.userIDs) { users[name] = id == UserGroup.nobodysID ? .some(nil) : id }
      for (name, id) in zip(listed.unixGroups, listed.groupIDs) {
        groups[name] = id == UserGroup.nobodysID ? .some(nil) : id
      }
    }
    check(users, user)
    check(groups, group)
    unknown.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Against the system's name service.
  init(of file: ForcedDomain) {
    self.init(
      of: file, user: { (try? UserDatabase.user(named: $0))??.userID },
      group: { (try? UserDatabase.groupID(named: $0)) ?? nil })
  }

  private mutating func check(_ inUse: [String: UInt32?], _ lookUp: (String) -> UInt32?) {
    for (name, id) in inUse {
      if let today = lookUp(name) {
        if today != id { hasChanged = true }
      } else {
        unknown.append(name)
      }
    }
  }
}
