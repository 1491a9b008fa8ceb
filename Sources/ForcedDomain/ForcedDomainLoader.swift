import LinuxFiles

/// What a process may use as its forced domain.
public enum ForcedDomainLoad: Sendable {
  /// Neither the marker is there nor what an installation leaves: nothing is forced on this host.
  case notInstalled
  /// In use from now on; it may be the one that was in use before (`===` tells). Faults say why it is not what the
  /// `forced` file holds, or what else is wrong.
  case loaded(ForcedDomain, faults: [DomainFault])
  /// Installed, but nothing readable is there: fail closed.
  case unavailable([DomainFault])
}

/// What a process may know of sources, reasons and losing entries.
public enum ProvenanceLoad: Sendable {
  case available(ForcedDomain)
  /// This user may not read it.
  case withheld
  case unavailable(DomainFault)
}

/// Opens an installation's forced domain: at the first use and at each change the same function with the same checks.
///
/// The marker says whether the host is installed and which generation counts. Then `forced` is used; where it is
/// damaged, not to be trusted or older than the marker says, what the process has already; where it has nothing, the
/// newest sound generation below `generations/` that was in force; and if there is none, nothing: the caller locks.
///
/// What stands in must not open what was closed. So a generation above the marker's never stands in (it never came into
/// use), nor does an older one that forces nothing: above all the empty generation 0 answers only where the marker says 0.
/// A marker that is gone while `forced`, `bundle` or a kept generation is there is a fault like a damaged one.
///
/// Nothing leads back: a generation lower than the one in use, one that is equal in number but not in content, and a
/// lower serial that the marker does not name are refused. (A roll-back is a new, higher generation.)
public struct ForcedDomainLoader: Sendable {
  public let installation: Installation

  public init(_ installation: Installation) { self.installation = installation }

  /// Reads and checks what is there now.
  ///
  /// - Parameter current: what the process has in use; it stays in use unless something better is there.
  /// - Complexity: one pass over the file; some five system calls.
  public func load(keeping current: ForcedDomain? = nil) -> ForcedDomainLoad {
    var faults: [DomainFault] = []
    var marker: GenerationMarker?
    do throws(DomainFault) {
      marker = try self.marker()
      if marker == nil {
        if !installation.hasTraces() { return .notInstalled }
        // A first installation may have ended in between.
        marker = try self.marker()
        if marker == nil { faults.append(missingMarker) }
      }
    } catch {
      faults.append(error)
    }
    do throws(DomainFault) {
      let domain = try openForced(in: installation.stateDirectory)
      try refuseGoingBack(domain, marker: marker, current: current)
      if marker == nil { try refuseEmpty(domain) }
      if let current, current.checksum == domain.checksum { return .loaded(current, faults: faults) }
      return .loaded(domain, faults: faults)
    } catch {
      faults.append(error)
    }
    if let current { return .loaded(current, faults: faults) }
    for generation in generations(marker: marker, &faults) {
      do throws(DomainFault) {
        return .loaded(try openKept(generation, marker: marker), faults: faults)
      } catch {
        faults.append(error)
      }
    }
    // An uninstallation may have ended in between: then nothing is damaged.
    if isUninstalled { return .notInstalled }
    return .unavailable(faults)
  }

  private var isUninstalled: Bool {
    do throws(DomainFault) { return try marker() == nil && !installation.hasTraces() } catch { return false }
  }

  /// One of the generations that are kept, if it may stand in for the one that the marker names.
  private func openKept(_ generation: UInt64, marker: GenerationMarker?) throws(DomainFault) -> ForcedDomain {
    let domain = try openForced(in: installation.generationDirectory(generation))
    func refuse(_ why: String) -> DomainFault {
      DomainFault(path: FilePath.join(installation.generationDirectory(generation), "forced"), message: why)
    }
    guard domain.generation == generation else { throw refuse("holds generation \(domain.generation)") }
    if let marker, marker.generation == generation {
      if marker.forcedChecksum != domain.checksum { throw refuse("its contents are not those that were installed") }
    } else if !domain.bindsAnything {
      throw refuse("forces nothing, so it can't stand in for a later generation")
    }
    return domain
  }

  /// What is said of a marker that is gone while other files of an installation are there.
  private var missingMarker: DomainFault {
    DomainFault(
      path: installation.generationMarker,
      message: "is missing, although policies were installed here. Next: policyctl refresh")
  }

  /// The marker; nil when there is none. Only where nothing else of an installation is there either
  /// (`Installation.hasTraces`) does that mean "not installed".
  public func marker() throws(DomainFault) -> GenerationMarker? {
    let path = installation.generationMarker
    do throws(TrustedFile.Failure) {
      let (bytes, _) = try TrustedFile.read(
        FilePath.name(of: path), in: installation.stateDirectory, of: installation,
        limit: GenerationMarker.maximumByteCount)
      guard let marker = GenerationMarker(parsing: bytes) else {
        throw .fault(DomainFault(path: path, message: "is damaged"))
      }
      return marker
    } catch {
      switch error {
      case .missing: return nil
      case .denied: throw DomainFault(path: path, message: "may not be read: Permission denied")
      case .fault(let fault): throw fault
      }
    }
  }

  /// The provenance that belongs to a forced domain.
  public func loadProvenance(for forced: ForcedDomain) -> ProvenanceLoad {
    let load = loadProvenance()
    guard case .available(let domain) = load, domain.generation != forced.generation else { return load }
    return .unavailable(
      DomainFault(
        path: installation.provenanceFile,
        message: "holds generation \(domain.generation), not generation \(forced.generation)"))
  }

  /// The provenance that is there, whatever generation it belongs to: for who has to tell of a host whose forced domain
  /// can't be read.
  public func loadProvenance() -> ProvenanceLoad {
    let path = installation.provenanceFile
    do throws(TrustedFile.Failure) {
      return .available(try open("provenance", in: installation.stateDirectory, kind: .provenance))
    } catch {
      switch error {
      case .missing: return .unavailable(DomainFault(path: path, message: "is not there"))
      case .denied: return .withheld
      case .fault(let fault): return .unavailable(fault)
      }
    }
  }

  private func openForced(in directory: String) throws(DomainFault) -> ForcedDomain {
    let path = FilePath.join(directory, "forced")
    do throws(TrustedFile.Failure) {
      return try open("forced", in: directory, kind: .forced)
    } catch {
      switch error {
      case .missing: throw DomainFault(path: path, message: "is not there")
      case .denied: throw DomainFault(path: path, message: "may not be read: Permission denied")
      case .fault(let fault): throw fault
      }
    }
  }

  private func open(
    _ name: String, in directory: String, kind: FileKind
  ) throws(TrustedFile.Failure) -> ForcedDomain {
    let (bytes, metadata) = try TrustedFile.read(
      name, in: directory, of: installation, limit: ForcedDomain.maximumByteCount)
    do throws(ForcedDomainError) {
      return try ForcedDomain(
        bytes: bytes, expecting: FileKinds(kind), isOwnedOutside: installation.isOutsideRoot(metadata.userID))
    } catch {
      throw .fault(DomainFault(path: FilePath.join(directory, name), message: error.description))
    }
  }

  private func refuseGoingBack(
    _ domain: ForcedDomain, marker: GenerationMarker?, current: ForcedDomain?
  ) throws(DomainFault) {
    func refuse(_ why: String) -> DomainFault {
      DomainFault(path: installation.forcedFile, message: "generation \(domain.generation) is refused: \(why)")
    }
    if let marker {
      if domain.generation < marker.generation { throw refuse("generation \(marker.generation) is installed") }
      // A higher one is on its way in: the marker follows the file.
      if domain.generation == marker.generation, domain.checksum != marker.forcedChecksum {
        throw refuse("its contents are not those that were installed")
      }
    }
    if let current {
      if domain.generation < current.generation { throw refuse("generation \(current.generation) is in use") }
      if domain.generation == current.generation, domain.checksum != current.checksum {
        throw refuse("other contents of the same generation are in use")
      }
      if domain.serial < current.serial,
        marker.map({ $0.generation == domain.generation && $0.serial == domain.serial }) != true
      {
        throw refuse("its serial \(domain.serial) is older than the one in use, \(current.serial)")
      }
    }
  }

  /// Without a marker it is not known whether a file that forces nothing was the last one.
  private func refuseEmpty(_ domain: ForcedDomain) throws(DomainFault) {
    if domain.bindsAnything { return }
    var ignored: [DomainFault] = []
    if generations(marker: nil, &ignored).contains(where: { $0 > domain.generation })
      || domain.generation == 0 && installation.holds(installation.bundleFile)
    {
      throw DomainFault(
        path: installation.forcedFile,
        message: "generation \(domain.generation) is refused: it forces nothing, and later policies were installed")
    }
  }

  /// The generations that are kept, newest first, without those above the marker's: they never came into use.
  private func generations(marker: GenerationMarker?, _ faults: inout [DomainFault]) -> [UInt64] {
    do throws(FileError) {
      let all = try Directory.names(in: installation.generationsDirectory).compactMap { UInt64($0) }.sorted(by: >)
      guard let marker else { return all }
      return all.filter { $0 <= marker.generation }
    } catch {
      if error.errno != .noSuchFile {
        faults.append(
          DomainFault(path: installation.generationsDirectory, message: "can't be read: \(error.errno)"))
      }
      return []
    }
  }
}
