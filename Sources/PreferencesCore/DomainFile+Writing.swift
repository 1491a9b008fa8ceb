import AuditEvents
import Glibc
import LinuxFiles
import PropertyList

/// The way of changes to the disk.
///
/// 1. The lock: a file of its own in `managed-preferences/locks` beside the preference files, so that it survives the
///    rename of what it guards and is the same for every process of the user.
/// 2. The file is read again, under the lock, and the changes are merged into it key by key: what other processes set
///    stays.
/// 3. A file that is no property list is moved aside, and reported; one that can't be read stops the write.
/// 4. Temporary file, `fsync`, rename, `fsync` of the directory; mode and owner stay as they were.
extension DomainFile {
  struct Writing {
    var values: [String: PropertyListValue]
    var version: FileMetadata?
    /// A damaged file that was moved, values that no file can hold: told once.
    var remarks: [PreferencesFault] = []
  }

  /// Brings `changes` to the disk.
  /// - Parameter lockTimeout: seconds to wait for another process.
  func write(_ changes: DomainChanges, lockTimeout: Double) throws(FileError) -> Writing {
    try refuseForeignHome()
    try Directory.createAll(directory, mode: 0o700)
    let locks = FilePath.join(directory, "managed-preferences/locks")
    try Directory.createAll(locks, mode: 0o700)
    let lock = try FileLock.exclusive(FilePath.join(locks, "\(name).lock"), timeout: lockTimeout)
    defer { extendLifetime(lock) }

    var reading = read()
    var remarks: [PreferencesFault] = []
    if let fault = reading.fault {
      // Only what was read whole may be moved: an error on the way says nothing about the contents.
      guard fault.kind == .damaged else { throw FileError("read", path: path, errno: readErrno()) }
      remarks.append(try moveAside(fault))
      reading.version = nil
    }
    var merged = changes.applied(to: reading.values)
    if merged == reading.values, reading.version != nil || merged.isEmpty {
      return Writing(values: merged, version: reading.version, remarks: remarks)
    }
    let bytes = encode(&merged, changed: changes.values.keys, &remarks)
    try replace(with: bytes, keeping: reading.version)
    return Writing(values: merged, version: try FileMetadata.of(path), remarks: remarks)
  }

  /// A value that the format can't hold (a date in the year 20000, 600 levels) is left out and reported: it must not keep
  /// the other keys from the disk.
  private func encode(
    _ values: inout [String: PropertyListValue], changed: some Sequence<String>, _ remarks: inout [PreferencesFault]
  ) -> [UInt8] {
    if let bytes = try? PropertyListCoding.encode(.dictionary(values), as: .binary) { return bytes }
    for key in Set(changed).sorted() {
      guard let value = values[key] else { continue }
      do throws(PropertyListError) {
        _ = try PropertyListCoding.encode(.dictionary([key: value]), as: .binary)
      } catch {
        values[key] = nil
        remarks.append(PreferencesFault(.unwritable, path: path, message: "the value of '\(key)' is lost: \(error)"))
      }
    }
    // What was read from a file can be written to one.
    return (try? PropertyListCoding.encode(.dictionary(values), as: .binary))!
  }

  private func replace(with bytes: [UInt8], keeping old: FileMetadata?) throws(FileError) {
    // A link that the user placed (a folder of settings under version control, say) stays; its target is replaced.
    let target = old == nil ? path : realPath()
    var owner: AtomicReplacement.Owner?
    if let old {
      // A file made read-only says "leave me alone", although a rename would get past it.
      if access(target, W_OK) != 0 { throw FileError("write", path: path, errno: .current) }
      if old.userID != ProcessIdentity.effectiveUserID || old.groupID != getegid() {
        owner = AtomicReplacement.Owner(userID: old.userID, groupID: old.groupID)
      }
    }
    try AtomicReplacement.write(bytes, to: target, mode: old?.permissions ?? 0o600, owner: owner)
  }

  private func realPath() -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private func readErrno() -> Errno {
    do throws(FileError) {
      _ = try WholeFile.read(path, limit: DecodingLimits.default.maximumBytes)
      return .wouldBlock
    } catch {
      return error.errno
    }
  }

  private func moveAside(_ fault: PreferencesFault) throws(FileError) -> PreferencesFault {
    let aside = "\(path).damaged-\(WallClock.unixMilliseconds())"
    try Directory.rename(path, to: aside)
    return PreferencesFault(.movedAside, path: path, message: "\(fault.message); kept as \(aside)")
  }

  /// Root with somebody else's home must not leave files of root's there.
  private func refuseForeignHome() throws(FileError) {
    guard ProcessIdentity.effectiveUserID == 0 else { return }
    var nearest = directory
    while true {
      if let metadata = try? FileMetadata.of(nearest) {
        if metadata.userID == 0 { return }
        throw FileError("write as root in another user's directory", path: nearest, errno: .notPermitted)
      }
      let parent = FilePath.parent(of: nearest)
      if parent == nearest { return }
      nearest = parent
    }
  }
}
