public import ForcedDomain
import LinuxFiles

/// What we made on a host beside the store: the list by which `uninstall` removes exactly that and nothing else.
///
/// A text file `made` in the state directory, one path a line, relative to the root, in the order of making. A path is
/// written down before it is made, so that a crash in between leaves nothing unlisted; removal passes over what is not
/// there. Only paths that did not exist are listed. Whoever changes a host holds its lock meanwhile.
public struct Footprint: ~Copyable {
  private let installation: Installation
  private(set) var paths: [String]
  private let lock: FileLock

  static func file(of installation: Installation) -> String { installation.stateDirectory + "/made" }
  static func lockFile(of installation: Installation) -> String { installation.stateDirectory + "/lock" }

  /// Takes the host's lock, making the state directory where it is missing, and gives it back when the value goes.
  ///
  /// - Parameter patience: seconds to wait for another installation.
  public static func changing(
    _ installation: Installation, patience: Double = 60
  ) throws(InstallError) -> Footprint {
    let missing = missingDirectories(downTo: installation.stateDirectory)
    let lock = try takeLock(of: installation, patience: patience)
    try AdministrativeFile.checkDirectory(installation.stateDirectory, of: installation)
    var footprint = Footprint(installation: installation, paths: try read(installation), lock: lock)
    try footprint.note(missing)
    footprint.tidy()
    return footprint
  }

  /// Removes what writers of ours that were killed have left: with the lock held, no other is at work. What can't be
  /// removed is only untidy.
  private func tidy() {
    let files: [(directory: String, names: [String])] = [
      (installation.stateDirectory, ["bundle", "provenance", "forced", "generation", "made"]),
      (installation.configurationDirectory, ["host.yaml", "local-key"]),
      // Keys and generations have names of their own.
      (installation.trustedKeysDirectory, [""]), (installation.generationsDirectory, [""]),
    ]
    for (directory, names) in files {
      for name in (try? Directory.names(in: directory)) ?? []
      where name.hasSuffix(".tmp") && names.contains(where: { name.hasPrefix($0.isEmpty ? "." : ".\($0).") }) {
        try? Directory.removeTree(FilePath.join(directory, name))
      }
    }
  }

  private init(installation: Installation, paths: [String], lock: consuming FileLock) {
    self.installation = installation
    self.paths = paths
    self.lock = lock
  }

  private static func takeLock(of installation: Installation, patience: Double) throws(InstallError) -> FileLock {
    let path = lockFile(of: installation)
    do throws(FileError) {
      try Directory.createAll(installation.stateDirectory)
      let lock = try FileLock.exclusive(path, timeout: patience)
      // An uninstallation may have taken the file away while this process waited for it.
      if exists(path) { return lock }
    } catch {
      guard error.errno == .timedOut else { throw InstallError(writing: error) }
    }
    throw InstallError(.busy, path: path)
  }

  private static func read(_ installation: Installation) throws(InstallError) -> [String] {
    let file = file(of: installation)
    guard exists(file) else { return [] }
    let bytes = try AdministrativeFile.read(file, of: installation, limit: 1 << 20)
    let paths = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    guard paths.allSatisfy({ mayBeOurs($0) }) else {
      throw InstallError(.notTrustworthy("it lists a path that this program never makes"), path: file)
    }
    return paths
  }

  /// Makes a directory, and with mode 755 what is missing above it.
  public mutating func makeDirectory(_ path: String, mode: UInt32 = 0o755) throws(InstallError) {
    let missing = Self.missingDirectories(downTo: path)
    if missing.isEmpty { return }
    try note(missing)
    do throws(FileError) {
      try Directory.createAll(FilePath.parent(of: path))
      try Directory.create(path, mode: mode)
    } catch {
      throw InstallError(writing: error)
    }
  }

  /// Writes a file whole.
  public mutating func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(InstallError) {
    if !Self.exists(path) { try note([path]) }
    do throws(FileError) { try AtomicReplacement.write(bytes, to: path, mode: mode) } catch {
      throw InstallError(writing: error)
    }
  }

  private mutating func note(_ absolute: [String]) throws(InstallError) {
    let new = absolute.map { String($0.dropFirst(installation.root.count)) }.filter { !paths.contains($0) }
    if new.isEmpty { return }
    paths += new
    let text = paths.map { $0 + "\n" }.joined()
    do throws(FileError) {
      try AtomicReplacement.write(Array(text.utf8), to: Self.file(of: installation), mode: 0o644)
    } catch {
      throw InstallError(writing: error)
    }
  }

  /// Something has the name, whatever it is; what can't be asked counts as there.
  static func exists(_ path: String) -> Bool {
    do throws(FileError) {
      _ = try FileMetadata.of(path, followingLinks: false)
      return true
    } catch {
      return error.errno != .noSuchFile && error.errno != .notDirectory
    }
  }

  private static func missingDirectories(downTo path: String) -> [String] {
    var missing: [String] = []
    var path = path
    while path != "/" && path != "." && !exists(path) {
      missing.append(path)
      path = FilePath.parent(of: path)
    }
    return missing.reversed()
  }

  /// Whether a line can have come from us: our own directories and what is in them, our systemd units, and the
  /// directories above those.
  private static func mayBeOurs(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].isEmpty, parts.dropFirst().allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." })
    else { return false }
    let units = "/etc/systemd/system"
    if parts.count == 5, path.hasPrefix(units + "/managed-preferences-") { return true }
    let ours = [
      "/etc/managed-preferences", "/var/lib/managed-preferences", "/var/log/managed-preferences", units + "/x",
    ]
    return ours.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
  }
}
