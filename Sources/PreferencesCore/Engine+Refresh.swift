import LinuxFiles

/// Looking at several files at once.
extension Engine {
  /// Reads what was never read, or was replaced, of the files of search lists.
  ///
  /// Most machines have no per-host files and none for any user: a directory that is not there is asked for once, instead of
  /// each file in it.
  /// - Parameter passOver: takes a file that this process is reading or writing just now; nil waits for it.
  /// - Returns: what observers are to be told.
  func refresh(_ files: [DomainFile], passingOver passOver: ((DomainFile) -> Void)? = nil) -> [Notice] {
    var directories = KnownDirectories()
    return files.flatMap { file in
      // A file that was there is asked for like any other.
      if lock.withLock({ file.version == nil }), directories.lack(file.file),
        lock.withLock({ takeAsMissing(file) })
      {
        return [Notice]()
      }
      if let notices = refresh(file, waiting: passOver == nil) { return notices }
      passOver?(file)
      return []
    }
  }

  /// Takes a file as one that is not there. Under the lock.
  /// - Returns: false where more is to be done: something is wrong with it so far.
  private func takeAsMissing(_ file: DomainFile) -> Bool {
    if !file.faults.isEmpty { return false }
    file.isLoaded = true
    return true
  }
}

/// Directories of preference files that need not be there, and whether they are, asked once each.
private struct KnownDirectories {
  private var areMissing: [String: Bool] = [:]

  /// Whether a file can't be there, since its directory is not.
  mutating func lack(_ file: PreferenceFile) -> Bool {
    if !file.isOptional { return false }
    if file.trust != nil, file.isPerHost, isMissing(FilePath.parent(of: file.directory)) { return true }
    return isMissing(file.directory)
  }

  private mutating func isMissing(_ directory: String) -> Bool {
    if let known = areMissing[directory] { return known }
    var isMissing = false
    do throws(FileError) { _ = try FileMetadata.of(directory) } catch {
      isMissing = error.errno == .noSuchFile || error.errno == .notDirectory
    }
    areMissing[directory] = isMissing
    return isMissing
  }
}
