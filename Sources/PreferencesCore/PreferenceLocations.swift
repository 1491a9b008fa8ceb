public import ForcedDomain
import LinuxFiles

/// Where a user's persistent domains are, and those that hold for any user.
///
/// | domains of | file |
/// |---|---|
/// | this user, any host | `CONFIGURATION/DOMAIN.plist` |
/// | this user, this host | `CONFIGURATION/ByHost/DOMAIN.HOST.plist` |
/// | any user, any host | `ANYUSER/DOMAIN.plist` |
/// | any user, this host | `ANYUSER/ByHost/DOMAIN.HOST.plist` |
///
/// `NSGlobalDomain` is called `.GlobalPreferences` there, as swift-corelibs-foundation calls it.
public struct PreferenceLocations: Sendable, Hashable {
  /// Where `~` leads.
  public var homeDirectory: String
  /// `$XDG_CONFIG_HOME`, else `~/.config`, as a rule.
  public var configurationDirectory: String
  /// Whose `defaults/` holds for any user, and whose owner its files must have.
  public var installation: Installation
  /// What stands for this host in files' names; never empty.
  public var hostIdentifier: String {
    get { statedHostIdentifier ?? HostIdentifier.current() }
    set { statedHostIdentifier = newValue }
  }
  /// nil: the machine's own, which costs a file and a digest, and is found out when it is needed.
  private var statedHostIdentifier: String?

  /// - Parameters:
  ///   - configurationDirectory: nil: `.config` in the home directory.
  ///   - hostIdentifier: nil: the machine's own. Tests state one.
  public init(
    homeDirectory: String, configurationDirectory: String? = nil, installation: Installation,
    hostIdentifier: String? = nil
  ) {
    self.homeDirectory = homeDirectory
    self.configurationDirectory = configurationDirectory ?? FilePath.join(homeDirectory, ".config")
    self.installation = installation
    statedHostIdentifier = hostIdentifier
  }

  /// Stated or found out, an identifier is the same host's.
  public static func == (a: PreferenceLocations, b: PreferenceLocations) -> Bool {
    a.homeDirectory == b.homeDirectory && a.configurationDirectory == b.configurationDirectory
      && a.installation == b.installation && a.hostIdentifier == b.hostIdentifier
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(homeDirectory)
    hasher.combine(configurationDirectory)
    hasher.combine(installation)
  }

  /// What holds for this process: `$HOME`, `$XDG_CONFIG_HOME`, this machine.
  /// - Parameter installation: nil: the one that `Installation.locate` finds.
  public static func current(installation: Installation? = nil) -> PreferenceLocations {
    let home = UserLocations.homeDirectory()
    return PreferenceLocations(
      homeDirectory: home, configurationDirectory: UserLocations.configurationDirectory(home: home),
      installation: installation ?? Installation.locate(root: nil).installation)
  }

  /// The installation's `defaults/`: below it are the files that hold for any user.
  public var anyUserDirectory: String { installation.anyUserDefaultsDirectory }

  /// The file of a domain. Names were checked.
  /// - Parameter host: the identifier in the name of a per-host file; nil for the file of any host.
  func file(ofDomain name: String, user: PersistentDomain.User, host: String?) -> PreferenceFile {
    let isAnyUser = user == .any
    let base = isAnyUser ? anyUserDirectory : configurationDirectory
    let locks =
      isAnyUser ? installation.anyUserLocksDirectory : FilePath.join(base, "managed-preferences/locks")
    let stem = name == GlobalDomain.name ? ".GlobalPreferences" : name
    let trust = isAnyUser ? installation : nil
    guard let host else {
      return PreferenceFile(
        directory: base, name: stem + ".plist", lock: .file(directory: locks, name: name + ".lock"), trust: trust)
    }
    return PreferenceFile(
      directory: FilePath.join(base, PreferenceFile.perHostDirectory), name: "\(stem).\(host).plist",
      lock: .file(directory: FilePath.join(locks, PreferenceFile.perHostDirectory), name: "\(name).\(host).lock"),
      trust: trust)
  }
}
