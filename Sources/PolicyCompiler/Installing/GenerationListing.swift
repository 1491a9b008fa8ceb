public import ForcedDomain
import LinuxFiles

/// One generation that is kept on this host.
public struct GenerationListing: Hashable, Sendable {
  public let number: UInt64
  /// What it was made of and when; nil where that can't be read.
  public let marker: GenerationMarker?
  public let isInUse: Bool
  /// What is wrong with it: a file that is missing or damaged; nil for a sound one.
  public let fault: String?
}

extension Installer {
  /// The generations that are kept, newest first. Reading them needs no lock and no right beyond reading.
  public func generations() throws(InstallError) -> [GenerationListing] {
    let inUse: GenerationMarker?
    do throws(DomainFault) { inUse = try ForcedDomainLoader(installation).marker() } catch { inUse = nil }
    var listings: [GenerationListing] = []
    for number in try store.numbers().reversed() {
      // Written, but never in use: an installation that was broken off.
      if let inUse, number > inUse.generation { continue }
      listings.append(
        GenerationListing(
          number: number, marker: store.marker(ofGeneration: number), isInUse: number == inUse?.generation,
          fault: fault(ofGeneration: number)))
    }
    return listings
  }

  private func fault(ofGeneration number: UInt64) -> String? {
    let path = FilePath.join(installation.generationDirectory(number), "forced")
    do throws(InstallError) {
      let bytes = try AdministrativeFile.read(path, of: installation, limit: ForcedDomain.maximumByteCount)
      do throws(ForcedDomainError) {
        let domain = try ForcedDomain(bytes: bytes, expecting: [.forced])
        return domain.generation == number ? nil : "\(path): it is of generation \(domain.generation)"
      } catch {
        return "\(path): \(error)"
      }
    } catch {
      return error.description
    }
  }
}
