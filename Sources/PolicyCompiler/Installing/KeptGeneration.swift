public import ForcedDomain
import LinuxFiles

/// The files of one generation as they are kept below `generations/`, for who asks what was in force earlier.
public struct KeptGeneration: Sendable {
  public let number: UInt64
  /// What it was made of and when.
  public let marker: GenerationMarker
  public let forced: ForcedDomain
  public let provenance: ForcedDomain

  /// Reads a generation, and holds its files against each other: all three are of this number, both stores of the same
  /// sources, and the forced file is the one that the marker names.
  ///
  /// - Returns: nil where it is no longer kept.
  /// - Throws: where a file can't be read, is damaged or does not belong to the others.
  /// - Complexity: O(bytes).
  public init?(_ number: UInt64, of installation: Installation) throws(InstallError) {
    let directory = installation.generationDirectory(number)
    do throws(FileError) { _ = try FileMetadata.of(directory, followingLinks: false) } catch {
      if error.errno == .noSuchFile { return nil }
      throw InstallError(reading: error)
    }
    func refuse(_ name: String, _ why: String) -> InstallError {
      InstallError(.notTrustworthy(why), path: FilePath.join(directory, name))
    }
    func read(_ name: String, _ limit: Int) throws(InstallError) -> [UInt8] {
      try AdministrativeFile.read(FilePath.join(directory, name), of: installation, limit: limit)
    }
    func store(_ name: String, _ kind: FileKinds) throws(InstallError) -> ForcedDomain {
      let bytes = try read(name, ForcedDomain.maximumByteCount)
      let domain: ForcedDomain
      do throws(ForcedDomainError) { domain = try ForcedDomain(bytes: bytes, expecting: kind) } catch {
        throw refuse(name, "\(error)")
      }
      guard domain.generation == number else { throw refuse(name, "it is of generation \(domain.generation)") }
      return domain
    }
    guard let marker = GenerationMarker(parsing: try read("generation", 65536)), marker.generation == number else {
      throw refuse("generation", "it is not the marker of generation \(number)")
    }
    let forced = try store("forced", [.forced])
    let provenance = try store("provenance", [.provenance])
    guard forced.checksum == marker.forcedChecksum else {
      throw refuse("forced", "its contents are not those that were installed")
    }
    guard forced.sourceDigest == marker.sourceDigest, provenance.sourceDigest == marker.sourceDigest else {
      throw refuse("provenance", "it is of other sources than those that were installed")
    }
    self.number = number
    self.marker = marker
    self.forced = forced
    self.provenance = provenance
  }
}
