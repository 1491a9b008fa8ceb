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
/// `NSGlobalDomain` is called `.GlobalPreferences` there, as swift-corelibs-foundation calls it. CONFIGURATION stands for the
/// user's configuration directory, a container's or a group's: `Containment` says which.
public struct PreferenceLocations: Sendable, Hashable {
  /// Where `~` leads.
  public var homeDirectory: String
  /// `$XDG_CONFIG_HOME`, else `~/.config`, as a rule.
  public var configurationDirectory: String
  /// `$XDG_DATA_HOME`, else `~/.local/share`, as a rule: below it are containers and groups.
  public var dataDirectory: String
  /// What contains this process; nil where nothing does.
  public var containment: Containment?
  /// The account whose preferences these are, where a contained application asked for those of another one: what it gets is
  /// in its own container.
  var accountOfOther: String?
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
  ///   - dataDirectory: nil: `.local/share` in the home directory.
  ///   - hostIdentifier: nil: the machine's own. Tests state one.
  public init(
    homeDirectory: String, configurationDirectory: String? = nil, dataDirectory: String? = nil,
    installation: Installation, hostIdentifier: String? = nil, containment: Containment? = nil
  ) {
    self.homeDirectory = homeDirectory
    self.configurationDirectory = configurationDirectory ?? FilePath.join(homeDirectory, ".config")
    self.dataDirectory = dataDirectory ?? FilePath.join(homeDirectory, ".local/share")
    self.installation = installation
    self.containment = containment
    statedHostIdentifier = hostIdentifier
  }

  /// Stated or found out, an identifier is the same host's.
  public static func == (a: PreferenceLocations, b: PreferenceLocations) -> Bool {
    a.homeDirectory == b.homeDirectory && a.configurationDirectory == b.configurationDirectory
      && a.dataDirectory == b.dataDirectory && a.containment == b.containment
      && a.accountOfOther == b.accountOfOther && a.installation == b.installation
      && a.hostIdentifier == b.hostIdentifier
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(homeDirectory)
    hasher.combine(configurationDirectory)
    hasher.combine(installation)
  }

  /// What holds for this process: `$HOME`, `$XDG_CONFIG_HOME`, `$XDG_DATA_HOME`, this machine, and the container around it.
  /// - Parameter installation: nil: the one that `Installation.locate` finds.
  public static func current(installation: Installation? = nil) -> PreferenceLocations {
    let home = UserLocations.homeDirectory()
    return PreferenceLocations(
      homeDirectory: home, configurationDirectory: UserLocations.configurationDirectory(home: home),
      dataDirectory: UserLocations.dataDirectory(home: home),
      installation: installation ?? Installation.locate(root: nil).installation, containment: .ofThisProcess)
  }

  /// The installation's `defaults/`: below it are the files that hold for any user.
  public var anyUserDirectory: String { installation.anyUserDefaultsDirectory }

  /// The file of a domain that this process writes, and reads as a rule. Names were checked.
  /// - Parameter host: the identifier in the name of a per-host file; nil for the file of any host.
  func file(ofDomain name: String, user: PersistentDomain.User, host: String?) -> PreferenceFile {
    if user == .any {
      return file(
        ofDomain: name, host: host, in: PreferencePlace(anyUserDirectory), locks: installation.anyUserLocksDirectory,
        trust: installation)
    }
    return file(ofDomain: name, host: host, in: place(ofDomain: name))
  }

  /// The file that a domain had before it moved to a container or to a group's directory.
  func formerFile(ofDomain name: String, host: String? = nil) -> PreferenceFile {
    file(ofDomain: name, host: host, in: PreferencePlace(configurationDirectory), mayMove: false)
  }

  /// The two files of a domain at one place: for this host and for any.
  struct FilePair {
    let perHost: PreferenceFile
    let anyHost: PreferenceFile
  }

  /// The user's files of a domain that this process reads and, with `set`, writes.
  func files(ofDomain name: String) -> FilePair { files(ofDomain: name, in: place(ofDomain: name)) }

  /// Those that it reads as well, and whether they come first; nil for nearly all domains.
  func sharedFiles(ofDomain name: String) -> (files: FilePair, comeFirst: Bool)? {
    sharedPlace(ofDomain: name).map { (files(ofDomain: name, in: $0.place), $0.comesFirst) }
  }

  /// One of them.
  func sharedFile(ofDomain name: String, host: String?) -> (file: PreferenceFile, comesFirst: Bool)? {
    sharedPlace(ofDomain: name).map { (file(ofDomain: name, host: host, in: $0.place), $0.comesFirst) }
  }

  private func files(ofDomain name: String, in place: PreferencePlace) -> FilePair {
    FilePair(
      perHost: file(ofDomain: name, host: hostIdentifier, in: place),
      anyHost: file(ofDomain: name, host: nil, in: place))
  }

  private func file(
    ofDomain name: String, host: String?, in place: PreferencePlace, locks: String? = nil, trust: Installation? = nil,
    mayMove: Bool = true
  ) -> PreferenceFile {
    let locks = locks ?? FilePath.join(place.directory, Self.locksDirectory)
    let stem = name == GlobalDomain.name ? ".GlobalPreferences" : name
    // What is in the configuration directory may move from there.
    let moves = mayMove && place == PreferencePlace(configurationDirectory) && name != GlobalDomain.name
    let move = moves ? PreferenceFile.Move(containers: containers, domain: name) : nil
    guard let host else {
      return PreferenceFile(
        directory: place.directory, name: stem + ".plist", anchor: place.anchor,
        lock: .file(directory: locks, name: name + ".lock"), move: move, trust: trust)
    }
    return PreferenceFile(
      directory: FilePath.join(place.directory, PreferenceFile.perHostDirectory), name: "\(stem).\(host).plist",
      anchor: place.anchor,
      lock: .file(directory: FilePath.join(locks, PreferenceFile.perHostDirectory), name: "\(name).\(host).lock"),
      move: move, trust: trust)
  }

  /// Below the directory of the files.
  static let locksDirectory = "managed-preferences/locks"
}
