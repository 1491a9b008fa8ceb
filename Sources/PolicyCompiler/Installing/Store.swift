import ForcedDomain
import LinuxFiles

/// The files of the state directory: what is in use, and the generations that are kept.
///
/// The order of writing is the law of this file. First a whole directory `generations/N` comes into being (made under
/// another name, then renamed). Then the files in use are replaced one by one: `bundle`, `provenance`, and, when the witness
/// has put the generation on record, `forced`, which readers follow at once. Last the marker `generation`: that is the moment
/// at which the installation happens. A crash before it leaves a marker that names the old generation, whose files are whole below `generations/`; the next installation takes a new number. After an
/// error before it, everything is put back as it was.
struct Store {
  let installation: Installation
  /// Called before each step; tests break off there.
  var willReach: @Sendable (InstallStep) throws(InstallError) -> Void = { _ in }
  /// Told of a generation right before readers can see any of it.
  var witness: @Sendable (GenerationMarker) throws(InstallError) -> Void = { _ in }

  /// How many generations are kept, the one in use included.
  static let keptGenerations = 10

  /// The contents of one generation.
  struct Contents {
    let marker: GenerationMarker
    /// nil in the empty generation 0.
    let bundle: [UInt8]?
    let forced: [UInt8]
    let provenance: [UInt8]

    struct File {
      let name: String
      let bytes: [UInt8]
      let mode: UInt32
    }

    /// In the order in which they take the place of the old ones; the marker is not among them.
    var files: [File] {
      (bundle.map { [File(name: "bundle", bytes: $0, mode: 0o600)] } ?? [])
        + [
          File(name: "provenance", bytes: provenance, mode: 0o640),
          File(name: Self.forcedName, bytes: forced, mode: 0o644),
        ]
    }

    static let forcedName = "forced"

    var markerFile: File { File(name: "generation", bytes: marker.bytes, mode: 0o644) }
  }

  static let auditorsGroup = "managed-preferences-audit"

  // MARK: Writing

  func publish(_ contents: Contents) throws(InstallError) {
    try clearPlaces()
    var replaced: [Replacement] = []
    do throws(InstallError) {
      try willReach(.makingGeneration)
      try makeGeneration(contents)
      for file in contents.files {
        if file.name == Contents.forcedName { try witness(contents.marker) }
        try willReach(.replacing(file.name))
        replaced.append(keepPrevious(file.name))
        try write(file, in: installation.stateDirectory)
      }
      try willReach(.replacingMarker)
      try write(contents.markerFile, in: installation.stateDirectory)
    } catch {
      withdraw(contents.marker.generation, replaced)
      throw error
    }
    for replacement in replaced { try? Directory.removeFile(previous(replacement.name)) }
  }

  /// The empty generation 0. Its copy comes last, so that whatever lies below `generations/` was in force.
  func publishEmpty(_ contents: Contents) throws(InstallError) {
    try clearPlaces()
    for file in contents.files + [contents.markerFile] { try write(file, in: installation.stateDirectory) }
    do throws(FileError) {
      try Directory.removeTree(installation.generationDirectory(contents.marker.generation))
    } catch {
      throw InstallError(writing: error)
    }
    try makeGeneration(contents)
  }

  /// Writes a marker anew that says more about the generation in use, whose files stay.
  func replaceMarker(_ marker: GenerationMarker) throws(InstallError) {
    try clearPlaces()
    let file = Contents(marker: marker, bundle: nil, forced: [], provenance: []).markerFile
    let directory = installation.generationDirectory(marker.generation)
    if Footprint.exists(directory) { try write(file, in: directory) }
    try write(file, in: installation.stateDirectory)
  }

  /// Directories that stand where our files belong (a container's mount makes such): empty ones are removed, others stop
  /// the installation before it has begun.
  func clearPlaces() throws(InstallError) {
    for path in [
      installation.bundleFile, installation.provenanceFile, installation.forcedFile, installation.generationMarker,
    ] {
      guard let metadata = try? FileMetadata.of(path, followingLinks: false), metadata.isDirectory else { continue }
      do throws(FileError) { try Directory.remove(path) } catch {
        guard error.errno == .directoryNotEmpty || error.errno == .fileExists else {
          throw InstallError(writing: error)
        }
        throw InstallError(
          .obstructed, path: path,
          next: ["sudo mv \(ShellText.quoted(path)) /root/", installation.command("refresh")])
      }
    }
  }

  /// Where a file in use stays reachable while its successor's installation may still fail. By a second name: putting it
  /// back then needs no room on the disk.
  private func previous(_ name: String) -> String {
    FilePath.join(installation.stateDirectory, ".\(name).previous.tmp")
  }

  private struct Replacement {
    let name: String
    let wasThere: Bool
  }

  private func keepPrevious(_ name: String) -> Replacement {
    let path = FilePath.join(installation.stateDirectory, name)
    try? Directory.removeFile(previous(name))
    try? Directory.link(path, to: previous(name))
    return Replacement(name: name, wasThere: Footprint.exists(path))
  }

  /// Takes back what an installation that failed has written, as far as the disk lets it.
  private func withdraw(_ generation: UInt64, _ replaced: [Replacement]) {
    for replacement in replaced.reversed() {
      let path = FilePath.join(installation.stateDirectory, replacement.name)
      let previous = previous(replacement.name)
      if Footprint.exists(previous) {
        try? Directory.rename(previous, to: path)
        // Two names of one file are left alone by `rename`: nothing had been replaced.
        try? Directory.removeFile(previous)
      } else if !replacement.wasThere {
        try? Directory.removeFile(path)
      }
    }
    let directory = installation.generationDirectory(generation)
    try? Directory.removeTree(directory)
    // Readers may have seen the forced file: the number is used up.
    if replaced.contains(where: { $0.name == Contents.forcedName }) { _ = try? Directory.create(directory) }
    try? Directory.synchronize(installation.generationsDirectory)
    try? Directory.synchronize(installation.stateDirectory)
  }

  /// Writes again what of the generation in use is missing or is not as it was written.
  /// - Returns: the paths that were written.
  func mend(_ contents: Contents) throws(InstallError) -> [String] {
    try clearPlaces()
    var mended: [String] = []
    let directory = installation.generationDirectory(contents.marker.generation)
    if (contents.files + [contents.markerFile]).contains(where: { !isAsWritten($0, in: directory) }) {
      do throws(FileError) { try Directory.removeTree(directory) } catch { throw InstallError(writing: error) }
      try makeGeneration(contents)
      mended.append(directory)
    }
    for file in contents.files where !isAsWritten(file, in: installation.stateDirectory) {
      try write(file, in: installation.stateDirectory)
      mended.append(FilePath.join(installation.stateDirectory, file.name))
    }
    return mended
  }

  private func makeGeneration(_ contents: Contents) throws(InstallError) {
    let number = contents.marker.generation
    let unfinished = FilePath.join(installation.generationsDirectory, ".\(number).tmp")
    do throws(FileError) {
      try Directory.createAll(installation.generationsDirectory)
      try Directory.removeTree(unfinished)
      try Directory.create(unfinished, mode: 0o755)
    } catch {
      throw InstallError(writing: error)
    }
    do throws(InstallError) {
      for file in contents.files + [contents.markerFile] {
        try willReach(.keeping(file.name))
        try write(file, in: unfinished)
      }
      try willReach(.namingGeneration)
      do throws(FileError) {
        try Directory.rename(unfinished, to: installation.generationDirectory(number))
        try Directory.synchronize(installation.generationsDirectory)
      } catch {
        throw InstallError(writing: error)
      }
    } catch {
      try? Directory.removeTree(unfinished)
      throw error
    }
  }

  private func write(_ file: Contents.File, in directory: String) throws(InstallError) {
    do throws(FileError) {
      try AtomicReplacement.write(
        file.bytes, to: FilePath.join(directory, file.name), mode: file.mode, owner: owner(of: file))
    } catch {
      throw InstallError(writing: error)
    }
  }

  /// The auditors may read the provenance, where there is such a group and we may give files to it.
  private func owner(of file: Contents.File) -> AtomicReplacement.Owner? {
    guard file.name == "provenance", ProcessIdentity.effectiveUserID == 0,
      let group = try? UserDatabase.groupID(named: Self.auditorsGroup)
    else { return nil }
    return .init(userID: 0, groupID: group)
  }

  private func isAsWritten(_ file: Contents.File, in directory: String) -> Bool {
    let path = FilePath.join(directory, file.name)
    guard let (bytes, metadata) = try? WholeFile.read(path, followingLinks: false) else { return false }
    return bytes == file.bytes && metadata.permissions == file.mode && installation.isTrustedOwner(metadata.userID)
      && (owner(of: file).map { $0.groupID == metadata.groupID } ?? true)
  }

  /// Removes all but the last generations and what unfinished installations left.
  /// - Returns: the numbers that were removed.
  func prune(inUse: UInt64, unfinished: Set<UInt64>) throws(InstallError) -> [UInt64] {
    let kept = Set(try numbers().filter { $0 <= inUse && !unfinished.contains($0) }.suffix(Self.keptGenerations))
    var removed: [UInt64] = []
    do throws(FileError) {
      for name in try Directory.names(in: installation.generationsDirectory) {
        let path = FilePath.join(installation.generationsDirectory, name)
        if let number = Self.number(name) {
          if kept.contains(number) { continue }
          try Directory.removeTree(path)
          removed.append(number)
        } else if name.hasPrefix("."), name.hasSuffix(".tmp") {
          try Directory.removeTree(path)
        }
      }
    } catch {
      throw InstallError(writing: error)
    }
    return removed.sorted()
  }

  // MARK: Reading

  /// The numbers of the generations that are there, ascending; finished or not.
  func numbers() throws(InstallError) -> [UInt64] {
    do throws(FileError) {
      return try Directory.names(in: installation.generationsDirectory).compactMap(Self.number).sorted()
    } catch {
      if error.errno == .noSuchFile { return [] }
      throw InstallError(reading: error)
    }
  }

  /// The number that a directory's name is; nil for every other spelling.
  static func number(_ name: String) -> UInt64? {
    guard let number = UInt64(name), String(number) == name else { return nil }
    return number
  }

  /// A bundle of ours, checked for its owner; nil where it is missing or no sound bundle.
  func bundle(at path: String) -> Bundle? {
    guard let bytes = try? AdministrativeFile.read(path, of: installation, limit: 1 << 30) else { return nil }
    return try? Bundle(decoding: bytes)
  }

  func bundle(ofGeneration number: UInt64) -> Bundle? {
    bundle(at: FilePath.join(installation.generationDirectory(number), "bundle"))
  }

  /// The marker that was written beside a generation's files.
  func marker(ofGeneration number: UInt64) -> GenerationMarker? {
    let path = FilePath.join(installation.generationDirectory(number), "generation")
    guard let bytes = try? AdministrativeFile.read(path, of: installation, limit: 65536) else { return nil }
    return GenerationMarker(parsing: bytes)
  }
}

/// The steps of writing a generation, for tests that break off at each.
enum InstallStep: Hashable, Sendable {
  case makingGeneration
  case keeping(String)
  case namingGeneration
  case replacing(String)
  case replacingMarker

  static let all: [InstallStep] = [
    .makingGeneration, .keeping("bundle"), .keeping("provenance"), .keeping("forced"), .keeping("generation"),
    .namingGeneration, .replacing("bundle"), .replacing("provenance"), .replacing("forced"), .replacingMarker,
  ]
}
