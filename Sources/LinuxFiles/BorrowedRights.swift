import Glibc

/// Doing something with the rights of another account, and of nobody else.
///
/// Root who reads what a user may have put anywhere must not be led by a link to what the user could not read. For the time of
/// a call the whole process has the account's effective ids and groups; it is for commands that do one thing at a time.
public enum BorrowedRights {
  /// - Parameter groupIDs: all groups of the account (`UserDatabase.groupIDs(of:)`).
  /// - Throws: what the system says where this process may not take them; the body has not run then. That the rights of
  ///   before can't be taken back stops the process.
  public static func with<Result>(
    _ account: UserAccount, groupIDs: [UInt32], _ body: () -> Result
  ) throws(Errno) -> Result {
    let before = (user: geteuid(), group: getegid(), groups: groups())
    if before.user == account.userID { return body() }
    guard setgroups(groupIDs.count, groupIDs) == 0 else { throw .current }
    guard setegid(account.groupID) == 0, seteuid(account.userID) == 0 else {
      let error = Errno.current
      restore(before)
      throw error
    }
    defer { restore(before) }
    return body()
  }

  private static func groups() -> [gid_t] {
    let count = getgroups(0, nil)
    guard count > 0 else { return [] }
    var groups = [gid_t](repeating: 0, count: Int(count))
    return Array(groups.prefix(Int(max(getgroups(count, &groups), 0))))
  }

  private static func restore(_ before: (user: uid_t, group: gid_t, groups: [gid_t])) {
    precondition(
      seteuid(before.user) == 0 && setegid(before.group) == 0 && setgroups(before.groups.count, before.groups) == 0,
      "the rights of before can't be taken back")
  }
}
