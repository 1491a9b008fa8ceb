public import LinuxFiles
import PropertyList

/// Makes containers and groups, with what the application and the group already had.
///
/// An application that is contained from today on keeps its preferences: the first time its container is needed, the files of
/// its domain are copied there. The container appears under its name with everything in it, by one rename, so that nobody
/// sees half of it and it happens once; the files that it came from stay where they are.
public enum ContainerPreparation {
  /// Makes what is missing of an application's container and of the groups that are shared with it.
  ///
  /// - Parameter locations: the user's; what contains this process is no matter.
  /// - Throws: what could not be read or made; then the domain goes on living where it lived.
  public static func prepare(
    _ containment: Containment, in locations: PreferenceLocations
  ) throws(FileError) {
    if containment.isEnforced { return }
    let containers = ContainerDirectories(dataDirectory: locations.dataDirectory)
    if !containers.hasContainer(containment.identifier) {
      try make(containment.identifier, in: containers.containersDirectory, preferences: "home/.config", locations)
    }
    // A folder that was made by hand has none.
    try Directory.createAll(containers.home(ofContainer: containment.identifier), mode: 0o700)
    for group in containment.groups.sortedByBytes() where !containers.hasGroup(group) {
      try make(group, in: containers.groupsDirectory, preferences: nil, locations)
    }
  }

  /// - Parameter preferences: where the files go below the new directory; nil: into itself.
  private static func make(
    _ name: String, in parent: String, preferences: String?, _ locations: PreferenceLocations
  ) throws(FileError) {
    let former = FormerFiles(ofDomain: name, in: locations)
    try former.file.refuseForeignHome()
    try Directory.createAll(parent, mode: 0o700)
    // One process at a time; and no writer of the domain is at work on a file that is being left.
    let alone = try FileLock.exclusive(directory: parent, timeout: 10)
    if (try? FileMetadata.of(FilePath.join(parent, name), followingLinks: false)) != nil { return }
    removeLeftovers(in: parent)
    let anyHost = try former.file.existingLock(timeout: 10)
    let perHost = try former.perHostFile.existingLock(timeout: 10)
    let new = temporaryPath(name, in: parent)
    do throws(FileError) {
      let directory = preferences.map { FilePath.join(new, $0) } ?? new
      try Directory.createAll(directory, mode: 0o700)
      try former.copy(to: directory)
      try Directory.rename(new, to: FilePath.join(parent, name))
      try Directory.synchronize(parent)
    } catch {
      try? Directory.removeTree(new)
      throw error
    }
    _ = consume perHost
    _ = consume anyHost
    _ = consume alone
  }

  /// No domain's name begins with a dot.
  static func temporaryPath(_ name: String, in parent: String) -> String {
    FilePath.join(parent, ".\(name.prefix(100)).\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp")
  }

  /// Removes what processes left that were killed while they made or removed a container. Whoever does either has the lock of
  /// the folder, as the caller has.
  static func removeLeftovers(in parent: String) {
    for name in (try? Directory.names(in: parent)) ?? [] where name.hasPrefix(".") && name.hasSuffix(".tmp") {
      try? Directory.removeTree(FilePath.join(parent, name))
    }
  }
}

/// The files of a domain in the user's configuration directory, where it lived before.
struct FormerFiles {
  let file: PreferenceFile
  /// Of this host.
  let perHostFile: PreferenceFile
  private let name: String

  init(ofDomain name: String, in locations: PreferenceLocations) {
    self.name = name
    file = locations.formerFile(ofDomain: name)
    perHostFile = locations.formerFile(ofDomain: name, host: locations.hostIdentifier)
  }

  /// - Throws: why a file that is there can't be copied.
  func copy(to directory: String) throws(FileError) {
    try copy(file.path, to: FilePath.join(directory, file.name))
    let perHost = FilePath.join(file.directory, PreferenceFile.perHostDirectory)
    let own = try perHostNames(in: perHost)
    if own.isEmpty { return }
    let copies = FilePath.join(directory, PreferenceFile.perHostDirectory)
    try Directory.create(copies, mode: 0o700)
    for file in own { try copy(FilePath.join(perHost, file), to: FilePath.join(copies, file)) }
  }

  /// The domain's files for one host each.
  func perHostNames(in directory: String) throws(FileError) -> [String] {
    do throws(FileError) { return isPerHost(try Directory.names(in: directory)) } catch {
      if error.errno == .noSuchFile || error.errno == .notDirectory { return [] }
      throw error
    }
  }

  /// `DOMAIN.HOST.plist`, and no host has a dot: else it is another domain's.
  func isPerHost(_ names: [String]) -> [String] {
    names.filter { $0.hasPrefix(name + ".") && $0.hasSuffix(".plist") }.filter { file in
      !file.utf8.dropFirst(name.utf8.count + 1).dropLast(6).contains(UInt8(ascii: "."))
    }
  }

  private func copy(_ path: String, to copy: String) throws(FileError) {
    let bytes: [UInt8]
    let metadata: FileMetadata
    do throws(FileError) { (bytes, metadata) = try WholeFile.read(path) } catch {
      if error.errno == .noSuchFile { return }
      throw error
    }
    try AtomicReplacement.write(bytes, to: copy, mode: metadata.permissions)
  }
}
