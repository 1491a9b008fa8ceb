public import ForcedDomain
import Glibc
import LinuxFiles

/// The preferences of another account.
extension SearchList.Configuration {
  /// What a list for the account needs: its files below its home directory, and what policy forces for it.
  ///
  /// The account of this process has this process's `$HOME` and `$XDG_CONFIG_HOME`; any other's environment is not known, so
  /// its files are those in `.config` of its home directory.
  /// - Parameter name: the account's name.
  /// - Returns: nil where there is no such account, or where this process may not read its preference files. (Root reads
  ///   everybody's and writes nobody else's: see `PreferencesFault`.)
  public init?(
    account name: String, applicationDomain: String? = nil, arguments: [String] = [],
    installation: Installation? = nil
  ) {
    guard let account = (try? UserDatabase.user(named: name)) ?? nil else { return nil }
    if account.userID == ProcessIdentity.effectiveUserID {
      self.init(applicationDomain: applicationDomain, arguments: arguments, installation: installation)
      return
    }
    self.init(
      applicationDomain: applicationDomain, homeDirectory: account.homeDirectory,
      configurationDirectory: FilePath.join(account.homeDirectory, ".config"), arguments: arguments,
      installation: installation,
      userFacts: UserFacts(of: account))
    self.account = account.name
    dataDirectory = FilePath.join(account.homeDirectory, ".local/share")
    if !mayRead() { return nil }
  }

  /// Whether this process may read what there is of the domain's and of `NSGlobalDomain`'s files.
  private func mayRead() -> Bool {
    // An account that never stored anything has no configuration directory, or none of its home directory either.
    for directory in [homeDirectory, configurationDirectory] where !Self.allows(directory, R_OK | X_OK) { return false }
    return [domain, GlobalDomain.name].allSatisfy { domain in
      [nil, hostIdentifier].allSatisfy { host in
        Self.allows(locations.file(ofDomain: domain, user: .current, host: host).path, R_OK)
      }
    }
  }

  /// Whether the effective ids may do this with a file, or would not find it.
  private static func allows(_ path: String, _ access: Int32) -> Bool {
    faccessat(AT_FDCWD, path, access, AT_EACCESS) == 0 || Errno.current == .noSuchFile
  }
}
