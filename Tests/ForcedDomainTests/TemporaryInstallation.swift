import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import ForcedDomain

/// An installation in a folder of its own, gone when the value is.
final class TemporaryInstallation {
  let installation: Installation

  init() throws {
    var template = Array("/tmp/forced-domain-tests-XXXXXX".utf8CString)
    let path = try #require(mkdtemp(&template).map { String(cString: $0) })
    chmod(path, 0o755)
    installation = Installation(root: path)
    try Directory.createAll(installation.stateDirectory)
  }

  deinit { try? Directory.removeTree(installation.root) }

  /// - Parameter mark: the forced value; nil for a file that forces nothing.
  static func file(generation: UInt64, serial: UInt64 = 1, mark: Int64? = 0) throws -> [UInt8] {
    var writer = ForcedDomainWriter(kind: .forced)
    guard let mark else { return try writer.finish(FileStamp(generation: generation, serial: serial)) }
    let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
    writer.addEntry(
      key: writer.addKey(domain: writer.addDomain("d"), key: "k"), section: .forced, action: .replace, rank: Rank(),
      condition: 0, profile: profile, value: .integer(mark))
    return try writer.finish(FileStamp(generation: generation, serial: serial))
  }

  func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws {
    try Directory.createAll(FilePath.parent(of: path))
    try AtomicReplacement.write(bytes, to: path, mode: mode)
  }

  /// Installs a generation as the installer does: the file, then the marker.
  func install(generation: UInt64, serial: UInt64 = 1, mark: Int64? = 0) throws {
    let bytes = try Self.file(generation: generation, serial: serial, mark: mark)
    try write(bytes, to: installation.forcedFile)
    try write(bytes, to: installation.generationDirectory(generation) + "/forced")
    let domain = try ForcedDomain(bytes: bytes, expecting: [.forced])
    try write(
      GenerationMarker(
        generation: generation, serial: serial, sourceDigest: [], hostName: "lab-a-03", installedAt: 5,
        forcedChecksum: domain.checksum
      ).bytes, to: installation.generationMarker)
  }

  func load(keeping current: ForcedDomain? = nil) -> ForcedDomainLoad {
    ForcedDomainLoader(installation).load(keeping: current)
  }

  /// Faults as text, with paths below the root.
  func text(_ faults: [DomainFault]) -> [String] {
    faults.map { String($0.description.dropFirst(installation.stateDirectory.count + 1)) }
  }
}

/// What a load gave, which must be a forced domain.
func loaded(_ load: ForcedDomainLoad) throws -> (ForcedDomain, [DomainFault]) {
  guard case .loaded(let domain, let faults) = load else {
    Issue.record("not loaded: \(load)")
    throw DomainFault(path: "", message: "not loaded")
  }
  return (domain, faults)
}
