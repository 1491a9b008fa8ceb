import LinuxFiles

/// Who a process in a user namespace is outside of it.
///
/// `unshare --map-root-user` makes anybody "root" in a namespace of his own. Where the installation belongs to a root
/// outside of the namespace (its files show the overflow id), the ids outside count, not those that the process gave
/// itself. One step only: who nests namespaces can also replace files in them, and is not bound.
struct OutsideFacts: Sendable, Hashable {
  var userID: UInt32?
  var groupIDs: [UInt32]
  /// Membership of a group that is not shown is not disproved: some groups have no number inside, or the process may
  /// have dropped groups, as it can with `setgroups` wherever the namespace allows that.
  var hasUnknownGroups: Bool

  static func current(_ inside: UserFacts) -> OutsideFacts? {
    guard ProcessIdentity.isInUserNamespace() else { return nil }
    let users = IdentityMap(path: "/proc/self/uid_map")
    let groups = IdentityMap(path: "/proc/self/gid_map")
    return OutsideFacts(
      inside, users: users, groups: groups, canDropGroups: canDropGroups(path: "/proc/self/setgroups"))
  }

  init(_ inside: UserFacts, users: IdentityMap, groups: IdentityMap, canDropGroups: Bool) {
    userID = inside.userID.flatMap { users.outside($0) }
    groupIDs = inside.groupIDs.compactMap { groups.outside($0) }
    hasUnknownGroups = canDropGroups || groupIDs.count < inside.groupIDs.count
  }

  /// Whether a process of this namespace can leave groups (user_namespaces(7)): unless the file says `deny`, which stays
  /// so for good. What can't be read counts as yes.
  static func canDropGroups(path: String) -> Bool {
    guard let (bytes, _) = try? WholeFile.read(path, limit: 64) else { return true }
    return bytes != Array("deny\n".utf8)
  }
}

/// The lines of `/proc/self/uid_map`: first id inside, first id outside, how many.
struct IdentityMap {
  var ranges: [(inside: UInt32, outside: UInt32, count: UInt32)] = []

  init(path: String) {
    let bytes = (try? WholeFile.read(path, limit: 1 << 20))?.bytes ?? []
    self.init(text: String(decoding: bytes, as: UTF8.self))
  }

  init(text: String) {
    for line in text.split(separator: "\n") {
      let numbers = line.split(separator: " ").compactMap { UInt32($0) }
      if numbers.count == 3 { ranges.append((numbers[0], numbers[1], numbers[2])) }
    }
  }

  /// The id outside, nil for one that is not mapped.
  func outside(_ id: UInt32) -> UInt32? {
    for range in ranges where id >= range.inside && id - range.inside < range.count {
      return range.outside &+ (id - range.inside)
    }
    return nil
  }
}
