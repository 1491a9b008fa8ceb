import ForcedDomain
import LinuxFiles

/// Giving a host back as it was.
extension Installer {
  /// What `uninstall` did.
  public struct Uninstallation: Hashable, Sendable {
    /// Files and directories that were removed.
    public var removed: [String]
    /// Files that we did not make and that stand where we made directories: they stay, and so do those directories.
    public var kept: [String]
  }

  /// Removes exactly what was made: first what nobody reads while the generation in use is whole, then the marker and the
  /// forced file, so that nothing is forced from that moment on, then what `init`, `enroll` and `key` made. Users'
  /// preferences are never below the root and are not touched.
  ///
  /// What administrators put into our directories (policies, any-user defaults) is theirs: it stays and is reported. A
  /// removal that was broken off is finished by the next call.
  public func uninstall() throws(InstallError) -> Uninstallation {
    guard Footprint.exists(installation.stateDirectory) else {
      throw InstallError(.notInitialised, path: installation.stateDirectory)
    }
    let footprint = try Footprint.changing(installation)
    try store.clearPlaces()
    var removal = Removal(installation: installation)
    for path in [installation.provenanceFile, installation.bundleFile, installation.auditAnchor] {
      removal.file(path)
    }
    for name in removal.names(in: installation.generationsDirectory) {
      let path = FilePath.join(installation.generationsDirectory, name)
      guard Store.number(name) != nil || isTemporary(name) else { continue }
      for file in removal.names(in: path)
      where ["bundle", "forced", "provenance", "generation"].contains(file) || isTemporary(file) {
        removal.file(FilePath.join(path, file))
      }
      removal.directory(path)
    }
    removal.directory(installation.generationsDirectory)
    // A marker without anything that it marks would lock applications, so it goes before the forced file.
    removal.file(installation.generationMarker)
    try? Directory.synchronize(installation.stateDirectory)
    removal.file(installation.forcedFile)
    try? Directory.synchronize(installation.stateDirectory)

    // What writers of any-user defaults made beside them.
    removal.locks(in: installation.anyUserLocksDirectory)
    removal.directory(installation.anyUserPerHostDirectory)

    // Without a list (it was lost), what always comes from us is removed.
    let listed = footprint.paths.map { installation.root + $0 }
    let paths = listed.isEmpty ? standardPaths : listed
    let state = installation.stateDirectory
    for path in paths.reversed() where path != state && !state.hasPrefix(path + "/") { removal.either(path) }
    for name in removal.names(in: state) where isTemporary(name) { removal.file(FilePath.join(state, name)) }
    if removal.error == nil {
      removal.file(Footprint.file(of: installation))
      removal.file(Footprint.lockFile(of: installation))
      for path in paths.reversed() where path == state || state.hasPrefix(path + "/") { removal.directory(path) }
    }
    _ = consume footprint
    if let error = removal.error { throw InstallError(writing: error) }
    return Uninstallation(removed: removal.removed, kept: removal.kept.sorted())
  }

  private var standardPaths: [String] {
    [
      installation.configurationDirectory, installation.trustedKeysDirectory, installation.policiesDirectory,
      installation.anyUserDefaultsDirectory, installation.logDirectory, installation.stateDirectory,
      installation.localKeyFile, FilePath.join(installation.trustedKeysDirectory, KeyFiles.localName + ".pub"),
      installation.hostFile,
    ]
  }

  private func isTemporary(_ name: String) -> Bool { name.hasPrefix(".") && name.hasSuffix(".tmp") }
}

/// Removes path after path, goes on after an error, and keeps the first one.
private struct Removal {
  let installation: Installation
  var removed: [String] = []
  var kept: Set<String> = []
  var error: FileError?

  mutating func file(_ path: String) {
    do throws(FileError) {
      try Directory.removeFile(path)
      removed.append(path)
    } catch {
      note(error)
    }
  }

  /// Removes a directory unless something is left in it, which is then what is kept.
  mutating func directory(_ path: String) {
    for name in names(in: path) where name.hasPrefix(".") && name.hasSuffix(".tmp") { file(FilePath.join(path, name)) }
    do throws(FileError) {
      try Directory.remove(path)
      removed.append(path)
    } catch {
      if error.errno == .directoryNotEmpty || error.errno == .fileExists {
        for name in names(in: path) { keep(FilePath.join(path, name)) }
      } else {
        note(error)
      }
    }
  }

  /// Removes a directory of lock files, and those below it.
  mutating func locks(in path: String) {
    for name in names(in: path) {
      let below = FilePath.join(path, name)
      if name.hasSuffix(".lock") { file(below) } else { locks(in: below) }
    }
    directory(path)
  }

  mutating func either(_ path: String) {
    guard let metadata = try? FileMetadata.of(path, followingLinks: false) else { return }
    if metadata.isDirectory { directory(path) } else { file(path) }
  }

  mutating func names(in path: String) -> [String] {
    do throws(FileError) { return try Directory.names(in: path) } catch {
      note(error)
      return []
    }
  }

  /// A directory that is kept says nothing; what is in it does. Only our own directories are worth a word.
  private mutating func keep(_ path: String) {
    let ours = [installation.configurationDirectory, installation.stateDirectory, installation.logDirectory]
    guard ours.contains(where: { path.hasPrefix($0 + "/") }) else { return }
    guard let metadata = try? FileMetadata.of(path, followingLinks: false), metadata.isDirectory else {
      kept.insert(path)
      return
    }
    for name in names(in: path) { keep(FilePath.join(path, name)) }
  }

  private mutating func note(_ failure: FileError) {
    if failure.errno == .noSuchFile || failure.errno == .notDirectory { return }
    if error == nil { error = failure }
  }
}
