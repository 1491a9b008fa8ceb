import Glibc
import LinuxFiles
import PropertyList

/// A preference file while we hold its lock: the way of changes to the disk.
///
/// 1. Root writes nothing into another user's home.
/// 2. The lock: a file of its own beside the preference files, so that it survives the rename of what it guards and is the
///    same for every process of the user. Where the file is a link, the lock of what it leads to (`lockBehindLink`).
/// 3. The file is read again, under the lock, and the changes are merged into what it holds: what other processes set
///    stays.
/// 4. A file that is no property list is moved aside, and reported; one that can't be read stops the write.
/// 5. Temporary file, `fsync`, rename, `fsync` of the directory; mode and owner stay as they were.
struct LockedPreferenceFile: ~Copyable {
  /// What a write left behind.
  struct Writing {
    var values: [String: PropertyListValue]
    var version: FileMetadata?
    /// A damaged file that was moved, values that no file can hold: told once.
    var remarks: [PreferencesFault] = []
  }

  private let file: PreferenceFile
  private let lock: FileLock
  private let reading: PreferenceFile.Reading

  /// What the file holds now; nothing, where it is damaged.
  var values: [String: PropertyListValue] { reading.values }

  /// Whether the file was read whole and is no property list.
  var isDamaged: Bool { reading.fault != nil }

  /// - Parameters:
  ///   - known: what was read or written before; it spares a reading where the file is still the same.
  ///   - timeout: seconds to wait for another process.
  /// - Throws: `.busy` when another process kept the lock for longer; else why the file may not be replaced.
  init(
    _ file: PreferenceFile, knowing known: PreferenceFile.Reading? = nil, timeout: Double
  ) throws(PreferencesFault) {
    var place = file.located()
    var lock = try Self.lock(place, timeout)
    // The domain may have moved while we waited: whoever moves it holds this lock.
    while file.located() != place {
      place = file.located()
      lock = try Self.lock(place, timeout)
    }
    let file = place
    let reading = known.flatMap { file.surelyHolds($0) ? $0 : nil } ?? file.read()
    // Only what was read whole may be replaced: an error on the way says nothing about the contents.
    if let fault = reading.fault, fault.kind != .damaged { throw fault }
    self.file = file
    self.lock = lock
    self.reading = reading
  }

  private static func lock(_ file: PreferenceFile, _ timeout: Double) throws(PreferencesFault) -> FileLock {
    do throws(FileError) {
      try file.refuseForeignHome()
      return try file.acquireLock(timeout: timeout)
    } catch {
      throw PreferencesFault(error.errno == .timedOut ? .busy : .unwritable, path: file.path, error)
    }
  }

  /// Marks edits that no store has taken yet, before the file has them (see `UnsentEdit`).
  /// - Parameter roamed: keys that roam, for the list of those that have (`PreferenceFile.roamedKeys`).
  func markUnsent(_ edits: [String: UnsentEdit], roamed: Set<String> = []) throws(PreferencesFault) {
    do throws(FileError) {
      if !roamed.isEmpty { try file.noteRoamed(roamed) }
      if !edits.isEmpty { try file.markUnsent(edits) }
    } catch {
      throw PreferencesFault(.unwritable, path: file.path, error)
    }
  }

  /// Puts `values` in the place of what the file holds; returns when they are on the disk.
  ///
  /// - Parameter keys: the keys whose values may be left out, and reported, where no file can hold them (a date in the year
  ///   20000, 600 levels): they must not keep the others from the disk. Elsewhere such a value is an error.
  /// - Parameter clearingLeftovers: whether temporary files of writers that were killed are removed too.
  consuming func replace(
    by values: [String: PropertyListValue], leavingOut keys: some Sequence<String> = [], clearingLeftovers: Bool = true
  ) throws(PreferencesFault) -> Writing {
    var writing = Writing(values: values, version: reading.version)
    if reading.fault == nil, values == reading.values, reading.version != nil || values.isEmpty { return writing }
    let bytes = try encode(&writing, leavingOut: keys)
    do throws(FileError) {
      if let fault = reading.fault {
        writing.remarks.append(try moveAside(fault))
        writing.version = nil
        if writing.values.isEmpty { return writing }
      }
      writing.version = try file.replace(with: bytes, keeping: writing.version, clearingLeftovers)
      return writing
    } catch {
      throw PreferencesFault(.unwritable, path: file.path, error)
    }
  }

  private func encode(
    _ writing: inout Writing, leavingOut keys: some Sequence<String>
  ) throws(PreferencesFault) -> [UInt8] {
    if let bytes = try? PropertyListCoding.encode(.dictionary(writing.values), as: .binary) { return bytes }
    let mayGo = Set(keys)
    for (key, value) in writing.values.sorted(by: { $0.key < $1.key }) {
      do throws(PropertyListError) {
        _ = try PropertyListCoding.encode(.dictionary([key: value]), as: .binary)
      } catch {
        guard mayGo.contains(key) else {
          throw PreferencesFault(
            .unwritable, path: file.path, message: "the value of '\(key)' can't be stored: \(error)")
        }
        writing.values[key] = nil
        writing.remarks.append(
          PreferencesFault(.unwritable, path: file.path, message: "the value of '\(key)' is lost: \(error)"))
      }
    }
    return try encode(&writing, leavingOutTheLargestOf: mayGo)
  }

  /// Values of which each could be stored, and not all together: the file would be larger than what we read.
  private func encode(
    _ writing: inout Writing, leavingOutTheLargestOf keys: Set<String>
  ) throws(PreferencesFault) -> [UInt8] {
    func size(_ key: String) -> Int {
      guard let value = writing.values[key] else { return 0 }
      return (try? PropertyListCoding.encode(.dictionary([key: value]), as: .binary).count) ?? 0
    }
    var largestLast = keys.map { ($0, size($0)) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
    while true {
      do throws(PropertyListError) {
        return try PropertyListCoding.encode(.dictionary(writing.values), as: .binary)
      } catch {
        guard let key = largestLast.popLast() else {
          throw PreferencesFault(.unwritable, path: file.path, message: "the values can't be stored together: \(error)")
        }
        writing.values[key] = nil
        writing.remarks.append(
          PreferencesFault(
            .unwritable, path: file.path,
            message: "the value of '\(key)' is lost, the domain would be too large: \(error)"))
      }
    }
  }

  private func moveAside(_ fault: PreferencesFault) throws(FileError) -> PreferencesFault {
    let aside = FilePath.name(file.name, ending: ".damaged-\(WallClock.unixMilliseconds())")
    try file.openDirectory().rename(file.name, to: aside)
    return PreferencesFault(
      .movedAside, path: file.path,
      message: "\(fault.message); kept as \(FilePath.join(file.directory, aside))")
  }
}

extension PreferenceFile {
  /// The lock of a file that somebody has written; nil where nobody ever has: then there is no lock file, and none is made.
  func existingLock(timeout: Double) throws(FileError) -> FileLock? {
    if case .file(let locks, let name) = lockBehindLink ?? lock,
      (try? FileMetadata.of(FilePath.join(locks, name), followingLinks: false)) == nil
    {
      return nil
    }
    return try acquireLock(timeout: timeout)
  }

  fileprivate func acquireLock(timeout: Double) throws(FileError) -> FileLock {
    switch lockBehindLink ?? lock {
    case .file(let locks, let name):
      // Files for any user are for any user to read.
      _ = try openDirectory(creating: trust == nil ? 0o700 : 0o755)
      if let anchor {
        let directory = try OpenDirectory(locks, below: anchor, creating: 0o700)
        return try FileLock.exclusive(name, in: directory, timeout: timeout)
      }
      try Directory.createAll(locks, mode: 0o700)
      return try FileLock.exclusive(FilePath.join(locks, name), timeout: timeout)
    case .directory(let directory): return try FileLock.exclusive(directory: directory, timeout: timeout)
    }
  }

  /// - Returns: what the new file looks like. Not of the path: a program that takes no lock may have replaced it since.
  fileprivate func replace(
    with bytes: [UInt8], keeping old: FileMetadata?, _ clearsLeftovers: Bool
  ) throws(FileError) -> FileMetadata {
    var owner: AtomicReplacement.Owner?
    if let old, old.userID != ProcessIdentity.effectiveUserID || old.groupID != getegid() {
      owner = AtomicReplacement.Owner(userID: old.userID, groupID: old.groupID)
    }
    let mode = old?.permissions ?? (trust == nil ? 0o600 : 0o644)
    // A file made read-only says "leave me alone", although a rename would get past it.
    if anchor != nil {
      let directory = try openDirectory()
      if old != nil { try directory.checkWritable(name) }
      if clearsLeftovers { AtomicReplacement.removeLeftovers(of: name, in: directory) }
      return try AtomicReplacement.write(bytes, to: name, in: directory, mode: mode, owner: owner)
    }
    // A link that the user placed (a folder of settings under version control, say) stays; its target is replaced.
    let target = old == nil ? path : SymbolicLink.resolved(path) ?? path
    if old != nil, access(target, W_OK) != 0 { throw FileError("write", path: path, errno: .current) }
    if clearsLeftovers, let directory = try? OpenDirectory(FilePath.parent(of: target)) {
      AtomicReplacement.removeLeftovers(of: FilePath.name(of: target), in: directory)
    }
    return try AtomicReplacement.write(bytes, to: target, mode: mode, owner: owner)
  }

  /// Root leaves no file in somebody else's home (`ForeignDirectory`). (What holds for any user is root's own.)
  func refuseForeignHome() throws(FileError) {
    guard ProcessIdentity.effectiveUserID == 0, trust == nil else { return }
    // A link that she left in a folder for everybody, which would lead root's pen wherever she likes.
    if let link = try? FileMetadata.of(path, followingLinks: false), link.isSymbolicLink,
      !ForeignDirectory.isRoots(link.userID)
    {
      throw FileError("write as root through another user's link", path: path, errno: .notPermitted)
    }
    // As written and as it leads through links, that of the file itself included, any of which may be hers.
    let file = SymbolicLink.resolved(path).map { FilePath.parent(of: $0) }
    for start in [directory, SymbolicLink.resolved(directory), file].compactMap({ $0 }) {
      try ForeignDirectory.refuse(start)
    }
  }
}
