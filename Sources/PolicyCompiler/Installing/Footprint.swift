import ForcedDomain
import LinuxFiles

/// What we made on a host outside the store: the list by which `uninstall` removes exactly that and nothing else.
///
/// A text file `made` in the state directory, one path a line, relative to the root, in the order of making. A path is
/// written down before it is made, so that a crash in between leaves nothing unlisted; removal passes over what is not
/// there. Only paths that did not exist are listed.
struct Footprint {
  private let installation: Installation
  private(set) var paths: [String]

  static func file(of installation: Installation) -> String { installation.stateDirectory + "/made" }

  init(of installation: Installation) throws(InstallError) {
    self.installation = installation
    let file = Self.file(of: installation)
    if !Self.exists(file) {
      paths = []
      return
    }
    let bytes = try TrustedFile.read(file, of: installation, limit: 1 << 20)
    paths = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    guard paths.allSatisfy({ Self.mayBeOurs($0) }) else {
      throw InstallError(.notTrustworthy("it lists a path that this program never makes"), path: file)
    }
  }

  /// The state directory and its list: what has to be there before anything can be listed.
  static func makeStateDirectory(of installation: Installation) throws(InstallError) -> Footprint {
    let missing = missingDirectories(downTo: installation.stateDirectory)
    do throws(FileError) { try Directory.createAll(installation.stateDirectory) } catch {
      throw InstallError(writing: error)
    }
    var footprint = try Footprint(of: installation)
    try footprint.note(missing)
    return footprint
  }

  /// Makes a directory and what is missing above it.
  mutating func makeDirectory(_ path: String) throws(InstallError) {
    try note(Self.missingDirectories(downTo: path))
    do throws(FileError) { try Directory.createAll(path) } catch { throw InstallError(writing: error) }
  }

  /// Writes a file whole.
  mutating func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(InstallError) {
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

  /// Something has the name, whatever it is.
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

  /// Whether a line can have come from us: our own directories and what is in them, and the directories above those.
  private static func mayBeOurs(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].isEmpty, parts.dropFirst().allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." })
    else { return false }
    let ours = ["/etc/managed-preferences", "/var/lib/managed-preferences", "/var/log/managed-preferences"]
    return ours.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
  }
}
