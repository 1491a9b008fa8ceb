import ForcedDomain
import LinuxFiles

/// What a host's store says before an installation: which generation is in use, what was the highest ever.
struct StoreState {
  /// What the marker says; nil where there is none (or none that can be read).
  let marker: GenerationMarker?
  /// Nothing of ours is there: never set up.
  let isEmpty: Bool
  /// The generations that are kept, ascending, unfinished ones included.
  let numbers: [UInt64]
  /// The highest generation number that any file names. Numbers are never used twice, not even those of installations
  /// that were broken off.
  let highestGeneration: UInt64
  /// The highest serial number that was installed here.
  let highestSerial: UInt64
  /// The digest of the sources that came with `highestSerial`; nil where nothing was installed or it is not known.
  let digestOfHighest: [UInt8]?
  /// Generations that were written but never came into use.
  let unfinished: Set<UInt64>
  /// Where what is in use came from.
  let source: InstalledSource?
  /// The key that had signed what is in use, where a signature was asked for.
  let signer: KeyFingerprint?
  /// The generation in use; its ids are the last resolution of names.
  let previous: ForcedDomain?
  let faults: [String]

  /// An installation was broken off between replacing `forced` and the marker: readers may use its generation already, so
  /// the way leads forward, to a new one.
  var hasUnfinishedInUse: Bool {
    guard let marker, let previous else { return false }
    return previous.generation > marker.generation
  }

  /// Only the empty generation 0 was ever here, and its marker is not: `init` was broken off, or the marker was lost.
  var lacksMarkerOfEmptyGeneration: Bool {
    marker == nil && highestGeneration == 0 && previous?.generation == 0 && digestOfHighest == nil && !hasBundle
  }

  /// Something has the bundle's name, sound or not.
  private let hasBundle: Bool

  init(of store: Store) throws(InstallError) {
    let installation = store.installation
    var faults: [String] = []
    let loader = ForcedDomainLoader(installation)
    var marker: GenerationMarker?
    do throws(DomainFault) { marker = try loader.marker() } catch { faults.append(error.description) }
    let hasMarkerFile = Footprint.exists(installation.generationMarker)

    let numbers = try store.numbers()
    self.numbers = numbers
    var previous: ForcedDomain?
    switch loader.load() {
    case .loaded(let domain, let domainFaults):
      previous = domain
      faults += domainFaults.map(\.description)
    case .unavailable(let domainFaults): faults += domainFaults.map(\.description)
    case .notInstalled: break
    }
    // Below it is said with the highest serial number.
    if !hasMarkerFile { faults.removeAll { $0.hasPrefix(installation.generationMarker + ":") } }
    hasBundle = Footprint.exists(installation.bundleFile)
    isEmpty =
      !hasMarkerFile && numbers.isEmpty && !hasBundle && !Footprint.exists(installation.forcedFile)
    if let marker {
      highestGeneration = max(marker.generation, numbers.last ?? 0, previous?.generation ?? 0)
      highestSerial = marker.serial
      // The empty generation 0 comes from no sources, and so from no bundle.
      digestOfHighest = marker.sourceDigest.isEmpty ? nil : marker.sourceDigest
      source = marker.source
      signer = marker.signer.map { KeyFingerprint(bytes: $0) }
    } else {
      previous = previous ?? Self.newestForced(in: store, numbers: numbers)
      // Without the marker, whatever else remains of earlier installations may know the highest numbers.
      let kept = numbers.compactMap { store.marker(ofGeneration: $0) }
      let known =
        kept.map { ($0.serial, $0.sourceDigest) } + (previous.map { [($0.serial, $0.sourceDigest)] } ?? [])
        + (store.bundle(at: installation.bundleFile).map { [($0.serial, $0.sourceDigest)] } ?? [])
      let highest = known.filter { !$0.1.isEmpty }.max { $0.0 < $1.0 }
      highestGeneration = max(
        numbers.last ?? 0, previous?.generation ?? 0, kept.map(\.generation).max() ?? 0,
        Self.generation(ofProvenanceIn: installation) ?? 0)
      highestSerial = highest?.0 ?? 0
      digestOfHighest = highest?.1
      let newest = kept.max { $0.generation < $1.generation }
      source = newest?.source
      signer = newest?.signer.map { KeyFingerprint(bytes: $0) }
      if !isEmpty && !hasMarkerFile {
        faults.append(
          "\(installation.generationMarker): the marker is missing although generations were installed here; "
            + "the highest serial number that the other files name is \(highestSerial)")
      }
    }
    unfinished = Set(marker.map { marker in numbers.filter { $0 > marker.generation } } ?? [])
    self.marker = marker
    self.previous = previous
    // The loader and the marker may have said the same twice.
    var seen: Set<String> = []
    self.faults = faults.filter { seen.insert($0).inserted }
  }

  /// Which generation the provenance in use belongs to: it may be all that knows the last number.
  private static func generation(ofProvenanceIn installation: Installation) -> UInt64? {
    let bytes = try? AdministrativeFile.read(
      installation.provenanceFile, of: installation, limit: ForcedDomain.maximumByteCount)
    return bytes.flatMap { try? ForcedDomain(bytes: $0, expecting: [.provenance]) }?.generation
  }

  private static func newestForced(in store: Store, numbers: [UInt64]) -> ForcedDomain? {
    for number in numbers.reversed() {
      let path = FilePath.join(store.installation.generationDirectory(number), "forced")
      if let bytes = try? AdministrativeFile.read(path, of: store.installation, limit: ForcedDomain.maximumByteCount),
        let domain = try? ForcedDomain(bytes: bytes, expecting: [.forced])
      {
        return domain
      }
    }
    return nil
  }
}
