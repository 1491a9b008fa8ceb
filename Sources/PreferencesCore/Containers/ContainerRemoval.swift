public import LinuxFiles

/// How containers end: emptied, or removed with what was the application's before put back.
extension ContainerPreparation {
  /// Gives an application an empty container in the place of the one that it has; nothing is copied into it again.
  ///
  /// The old one is gone from its name at once, so a program that is started meanwhile finds the new one.
  /// - Throws: `timedOut` while a program runs in the container; else what could not be removed.
  public static func reset(_ identifier: String, in locations: PreferenceLocations) throws(FileError) {
    try retire(identifier, in: locations, leavingEmpty: true) { () throws(FileError) in }
  }

  /// Removes a container, and puts the application's own preferences back where they lived before.
  ///
  /// First they are written there, for this and every host, and what the application has removed since is removed there;
  /// then the container goes from its name, and with it the redirect; then its contents.
  /// - Throws: `timedOut` while a program runs in the container; what could not be read, written or removed.
  public static func remove(_ identifier: String, in locations: PreferenceLocations) throws(FileError) {
    let home = ContainerDirectories(dataDirectory: locations.dataDirectory).home(ofContainer: identifier)
    let files = locations.files(ofDomain: identifier)
    try retire(identifier, in: locations, leavingEmpty: false) { () throws(FileError) in
      // No writer is at work on what is copied.
      let anyHost = try files.anyHost.existingLock(timeout: 10)
      let perHost = try files.perHost.existingLock(timeout: 10)
      try FormerFiles(ofDomain: identifier, in: locations).replace(
        by: try OpenDirectory(home, below: FilePath.parent(of: home)))
      _ = consume perHost
      _ = consume anyHost
    }
  }

  /// Takes a container from its name and removes what was in it.
  /// - Parameters:
  ///   - leavingEmpty: whether an empty one takes its place.
  ///   - body: what comes before, while no program runs in it and nobody else makes or removes one.
  private static func retire(
    _ identifier: String, in locations: PreferenceLocations, leavingEmpty: Bool,
    after body: () throws(FileError) -> Void
  ) throws(FileError) {
    let containers = ContainerDirectories(dataDirectory: locations.dataDirectory)
    let directory = containers.container(identifier)
    try locations.formerFile(ofDomain: identifier).refuseForeignHome()
    let alone = try FileLock.exclusive(directory: containers.containersDirectory, timeout: 10)
    let lock = try FileLock.exclusive(directory: directory, timeout: 0)
    try body()
    let new = temporaryPath(identifier, in: containers.containersDirectory)
    let old = temporaryPath(identifier, in: containers.containersDirectory)
    if leavingEmpty { try Directory.createAll(new + "/home/.config", mode: 0o700) }
    try Directory.rename(directory, to: old)
    if leavingEmpty { try Directory.rename(new, to: directory) }
    try Directory.synchronize(containers.containersDirectory)
    try Directory.removeTree(old)
    removeLeftovers(in: containers.containersDirectory)
    _ = consume lock
    _ = consume alone
  }
}

extension FormerFiles {
  /// Makes the files what they are in a container's home.
  fileprivate func replace(by home: borrowing OpenDirectory) throws(FileError) {
    func replace(
      _ names: Set<String>, in directory: String, by copies: borrowing OpenDirectory
    ) throws(FileError) {
      for name in names {
        let path = FilePath.join(directory, name)
        do throws(FileError) {
          let (bytes, metadata) = try WholeFile.read(name, in: copies)
          try Directory.createAll(directory, mode: 0o700)
          try AtomicReplacement.write(bytes, to: path, mode: metadata.permissions)
        } catch {
          guard error.errno == .noSuchFile else { throw error }
          if (try? FileMetadata.of(path, followingLinks: false)) != nil { try Directory.removeFile(path) }
        }
      }
    }
    let settings: OpenDirectory
    do throws(FileError) { settings = try home.directory(".config") } catch {
      if error.errno == .noSuchFile { return }
      throw error
    }
    try replace([file.name], in: file.directory, by: settings)
    let perHost = FilePath.join(file.directory, PreferenceFile.perHostDirectory)
    let inContainer: OpenDirectory
    do throws(FileError) { inContainer = try settings.directory(PreferenceFile.perHostDirectory) } catch {
      guard error.errno == .noSuchFile else { throw error }
      for name in try perHostNames(in: perHost) { try Directory.removeFile(FilePath.join(perHost, name)) }
      return
    }
    let names = Set(try perHostNames(in: perHost)).union(isPerHost(try inContainer.names()))
    try replace(names, in: perHost, by: inContainer)
  }
}
