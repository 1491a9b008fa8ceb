import ForcedDomain
import Glibc
import LinuxFiles

/// Which domain an application has that states none.
public enum ApplicationIdentity {
  /// The name of the executable's real file, as swift-corelibs-foundation takes it.
  ///
  /// It comes from the kernel (`/proc/self/exe`), so `argv[0]` and symbolic links change nothing; a copy under another
  /// name does, so an application that policy concerns states its domain. A name that can't be a domain's is made one.
  /// In a container that `policyctl run` made, the domain is the one that it was made for.
  public static func fallback() -> String {
    EnclosingContainer.current?.identifier ?? domain(forExecutable: ProcessIdentity.executablePath())
  }

  /// The domain of an application that states none, by the path of its executable's real file.
  public static func domain(forExecutable path: String?) -> String {
    var name = FilePath.name(of: path ?? "")
    // What the kernel appends when the file was removed while the program runs (an update, as a rule).
    let deleted = " (deleted)"
    if name.hasSuffix(deleted), let path, access(path, F_OK) != 0 { name.removeLast(deleted.count) }
    if name.hasPrefix(".") { name = "_" + name.dropFirst() }
    while name.utf8.count > DomainName.maximumBytes { name.removeLast() }
    return DomainName.fault(in: name) == nil ? name : "application"
  }
}

/// Where the user's preference files are.
public enum UserLocations {
  /// `$HOME` where it is an absolute path, else the account's home directory.
  public static func homeDirectory() -> String {
    if let home = EnvironmentVariables.nonEmpty("HOME"), home.hasPrefix("/") { return home }
    if let account = try? UserDatabase.user(id: ProcessIdentity.effectiveUserID) { return account.homeDirectory }
    return "/"
  }

  /// `$XDG_CONFIG_HOME` where it is an absolute path, else `~/.config`: where swift-corelibs-foundation puts
  /// `DOMAIN.plist` and `.GlobalPreferences.plist`.
  public static func configurationDirectory(home: String) -> String {
    if let stated = EnvironmentVariables.nonEmpty("XDG_CONFIG_HOME"), stated.hasPrefix("/") { return stated }
    return FilePath.join(home, ".config")
  }

  /// `$XDG_DATA_HOME` where it is an absolute path, else `~/.local/share`: below it are containers and groups.
  public static func dataDirectory(home: String) -> String {
    if let stated = EnvironmentVariables.nonEmpty("XDG_DATA_HOME"), stated.hasPrefix("/") { return stated }
    return FilePath.join(home, ".local/share")
  }
}
