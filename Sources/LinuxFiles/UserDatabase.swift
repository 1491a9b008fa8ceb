import Glibc

/// An account, as the name service knows it.
public struct UserAccount: Hashable, Sendable {
  public let name: String
  public let userID: UInt32
  public let groupID: UInt32
  public let homeDirectory: String
}

extension UserAccount {
  /// - Parameter entry: whose texts are still there.
  fileprivate init(_ entry: passwd) {
    self.init(
      name: String(cString: entry.pw_name), userID: entry.pw_uid, groupID: entry.pw_gid,
      homeDirectory: String(cString: entry.pw_dir))
  }
}

/// The system's users and groups (passwd, group and whatever nsswitch.conf adds, such as LDAP).
///
/// "No such name" is nil; a name service that does not answer is an error, never "no such name".
public enum UserDatabase {
  public static func user(named name: String) throws(Errno) -> UserAccount? {
    try lookUp { getpwnam_r(name, $0, $1, $2, $3) }
  }

  public static func user(id: UInt32) throws(Errno) -> UserAccount? {
    try lookUp { getpwuid_r(id, $0, $1, $2, $3) }
  }

  /// The accounts that the name service lists, in its order, an id only once.
  ///
  /// A directory (LDAP, SSSD) may know more than it lists. Not to be called from several threads at once: the C library
  /// keeps one position for the whole process.
  public static func accounts() -> [UserAccount] {
    var accounts: [UserAccount] = []
    var seen: Set<UInt32> = []
    setpwent()
    defer { endpwent() }
    while let entry = getpwent() {
      guard seen.insert(entry.pointee.pw_uid).inserted else { continue }
      accounts.append(UserAccount(entry.pointee))
    }
    return accounts
  }

  /// The id of a Unix group.
  public static func groupID(named name: String) throws(Errno) -> UInt32? {
    var size = 4096
    while true {
      var entry = group()
      var result: UnsafeMutablePointer<group>?
      let (code, id) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
        (getgrnam_r(name, &entry, buffer.baseAddress!, buffer.count, &result), entry.gr_gid)
      }
      switch code {
      case 0: return result == nil ? nil : id
      case ERANGE: size *= 4
      case EINTR: continue
      case ENOENT, ESRCH: return nil
      default: throw Errno(rawValue: code)
      }
    }
  }

  /// All groups of a user: the primary one and those that list the user; sorted, without repeats.
  public static func groupIDs(of user: UserAccount) -> [UInt32] {
    var count: Int32 = 64
    while true {
      var groups = [gid_t](repeating: 0, count: Int(count))
      let before = count
      if getgrouplist(user.name, user.groupID, &groups, &count) >= 0 {
        return Set(groups.prefix(Int(count))).sorted()
      }
      if count <= before { count = before * 2 }
    }
  }

  private typealias Call = (
    UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
  ) -> Int32

  private static func lookUp(_ call: Call) throws(Errno) -> UserAccount? {
    var size = 4096
    while true {
      var entry = passwd()
      var result: UnsafeMutablePointer<passwd>?
      let (code, account) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) {
        buffer -> (Int32, UserAccount?) in
        let code = call(&entry, buffer.baseAddress!, buffer.count, &result)
        guard code == 0, result != nil else { return (code, nil) }
        return (0, UserAccount(entry))
      }
      switch code {
      case 0: return account
      case ERANGE: size *= 4
      case EINTR: continue
      case ENOENT, ESRCH: return nil
      default: throw Errno(rawValue: code)
      }
    }
  }
}
