import LinuxFiles
import PropertyList

/// The container that `policyctl run` put this process in, as the container itself tells it.
///
/// `run` gives a program its own view of the file system, and leaves word in it of what it did: one file in a folder where
/// only root, or who makes such a view, can put anything. So what a program says of itself changes nothing: its domain is
/// the one that it was started under, and its policy is the one that `run` showed it.
///
/// | inside | what |
/// |---|---|
/// | `/run/managed-preferences/container` | this word, read-only |
/// | `/run/managed-preferences/groups/GROUP/` | the files of each group that is shared with it, to read and write |
/// | `/run/managed-preferences/read/` | the user's `NSGlobalDomain` and each domain that it may read, kept fresh, read-only |
public struct EnclosingContainer: Sendable, Hashable {
  public static let directory = "/run/managed-preferences"
  public static let path = directory + "/container"
  public static let groupsDirectory = directory + "/groups"
  public static let readDirectory = directory + "/read"

  /// The application's domain, whatever it says.
  public var identifier: String
  public var groups: [String]
  public var read: [String]
  /// The home directory inside, which is the container's on the disk.
  public var homeDirectory: String
  /// The root of the installation that holds inside; empty for the system's.
  public var root: String

  public init(identifier: String, groups: [String], read: [String], homeDirectory: String, root: String) {
    self.identifier = identifier
    self.groups = groups
    self.read = read
    self.homeDirectory = homeDirectory
    self.root = root
  }

  /// The container around this process; nil where there is none. Read once.
  public static var current: EnclosingContainer? { ofThisProcess }

  private static let ofThisProcess: EnclosingContainer? = {
    guard let (bytes, _) = try? WholeFile.read(path, limit: 1 << 20, followingLinks: false) else { return nil }
    return EnclosingContainer(bytes)
  }()

  /// The file's text: one JSON object.
  public var bytes: [UInt8] {
    var writer = JSONWriter(pretty: false)
    writer.value(
      .dictionary([
        "identifier": .string(identifier), "groups": .array(groups.map { .string($0) }),
        "read": .array(read.map { .string($0) }), "home": .string(homeDirectory), "root": .string(root),
      ]))
    return writer.bytes
  }

  /// - Returns: nil for what `bytes` never wrote.
  public init?(_ bytes: [UInt8]) {
    guard let values = (try? PropertyListCoding.decode(bytes, as: .json))?.dictionaryValue,
      let identifier = values["identifier"]?.stringValue, let home = values["home"]?.stringValue,
      let groups = values["groups"]?.stringArrayValue, let read = values["read"]?.stringArrayValue,
      let root = values["root"]?.stringValue
    else { return nil }
    self.init(identifier: identifier, groups: groups, read: read, homeDirectory: home, root: root)
  }
}
