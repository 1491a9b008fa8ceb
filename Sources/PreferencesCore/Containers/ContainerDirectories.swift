import LinuxFiles

/// Where a user's containers and groups are.
///
/// | path | holds |
/// |---|---|
/// | `DATA/managed-preferences/containers/ID/home/` | the contained application's home; its preferences in `.config/` there |
/// | `DATA/managed-preferences/containers/ID/read/` | copies, kept fresh while it runs, of what it may read |
/// | `DATA/managed-preferences/groups/GROUP/` | the preference files of a group |
///
/// DATA is `$XDG_DATA_HOME`, else `~/.local/share`. A directory that is there says that the domain lives in it, for every
/// program of the user: so what an administrator writes with `defaults` is what the contained application reads.
public struct ContainerDirectories: Sendable, Hashable {
  public let base: String

  public init(dataDirectory: String) { base = FilePath.join(dataDirectory, "managed-preferences") }

  public var containersDirectory: String { FilePath.join(base, "containers") }
  public var groupsDirectory: String { FilePath.join(base, "groups") }

  public func container(_ identifier: String) -> String { FilePath.join(containersDirectory, identifier) }
  public func home(ofContainer identifier: String) -> String { FilePath.join(container(identifier), "home") }
  public func readDirectory(ofContainer identifier: String) -> String {
    FilePath.join(container(identifier), "read")
  }
  public func group(_ name: String) -> String { FilePath.join(groupsDirectory, name) }

  /// Whether there is a container; what can't be asked counts as there. One system call.
  func hasContainer(_ identifier: String) -> Bool { isThere(container(identifier)) }
  func hasGroup(_ name: String) -> Bool { isThere(group(name)) }

  private func isThere(_ path: String) -> Bool {
    do throws(FileError) { return try FileMetadata.of(path, followingLinks: false).isDirectory } catch {
      return error.errno != .noSuchFile && error.errno != .notDirectory
    }
  }
}
