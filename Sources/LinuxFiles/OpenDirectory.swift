import Glibc

/// A directory held open: what is done in it is done there, whatever is renamed, or becomes a link, on the way to it.
///
/// Names are single components; a symbolic link under such a name is never followed.
public struct OpenDirectory: ~Copyable {
  public let descriptor: FileDescriptor
  /// How it was reached; for messages.
  public let path: String

  private init(_ descriptor: consuming FileDescriptor, _ path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a directory by its path, through links as everywhere.
  public init(_ path: String) throws(FileError) {
    self.init(try FileDescriptor.open(path.isEmpty ? "." : path, [.directory]), path)
  }

  /// Opens a directory at or below another, without following any link on the way from there.
  ///
  /// - Parameters:
  ///   - path: `anchor`, or `anchor` with components behind it.
  ///   - anchor: a directory that only trusted programs can exchange; links on the way to it are followed.
  ///   - mode: of the directories below `anchor` that are made where they are missing; nil makes none.
  /// - Throws: `notDirectory` where something else has a directory's name, a link among others.
  public init(_ path: String, below anchor: String, creating mode: UInt32? = nil) throws(FileError) {
    precondition(path == anchor || path.hasPrefix(anchor + "/"), "\(path) is not below \(anchor)")
    var reached = OpenDirectory(try FileDescriptor.open(anchor, [.directory, .noFollow]), anchor)
    for name in path.dropFirst(anchor.count).split(separator: "/") {
      reached = try reached.directory(String(name), creating: mode)
    }
    self = reached
  }

  /// Opens a directory in this one.
  public func directory(_ name: String, creating mode: UInt32? = nil) throws(FileError) -> OpenDirectory {
    let path = FilePath.join(self.path, name)
    if let mode, mkdirat(descriptor.rawValue, name, mode) != 0, Errno.current != .fileExists {
      throw FileError("create directory", path: path, errno: .current)
    }
    do throws(FileError) {
      return OpenDirectory(try descriptor.open(at: name, [.directory, .noFollow]), path)
    } catch {
      // Both are said of a link.
      throw FileError("open", path: path, errno: error.errno == .tooManySymbolicLinks ? .notDirectory : error.errno)
    }
  }

  /// Opens a file; a link is `Errno.tooManySymbolicLinks`.
  public func open(
    _ name: String, _ flags: OpenFlags = .readOnly, mode: UInt32 = 0o600
  ) throws(FileError) -> FileDescriptor {
    do throws(FileError) {
      return try descriptor.open(at: name, flags.union(.noFollow), mode: mode)
    } catch {
      throw FileError(error.operation, path: FilePath.join(path, name), errno: error.errno)
    }
  }

  /// Of the entry itself, be it a link.
  public func metadata(of name: String) throws(FileError) -> FileMetadata {
    var status = stat()
    if fstatat(descriptor.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) != 0 { throw failure("inspect", name) }
    return FileMetadata(status)
  }

  /// Whether the effective ids may write a file, as the system's permissions say.
  public func checkWritable(_ name: String) throws(FileError) {
    if faccessat(descriptor.rawValue, name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0 {
      throw failure("write", name)
    }
  }

  public func rename(_ old: String, to new: String) throws(FileError) {
    let number = descriptor.rawValue
    if renameat(number, old, number, new) != 0 { throw failure("rename", old) }
  }

  /// Removes a file, never a directory.
  public func remove(_ name: String) throws(FileError) {
    if unlinkat(descriptor.rawValue, name, 0) != 0 { throw failure("remove", name) }
  }

  /// The names in it, sorted by their bytes, without `.` and `..`.
  /// - Parameter passedOver: as in `Directory.names`.
  public func names(passedOver: ((String) -> Void)? = nil) throws(FileError) -> [String] {
    // Opened anew, since a stream owns its descriptor and its place in the directory.
    let number = openat(descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0, let stream = fdopendir(number) else { throw failure("list", ".") }
    return try Directory.names(of: stream, path, passedOver)
  }

  /// Removes everything in it, and no more: no link in it is followed, also one that appears meanwhile.
  ///
  /// Whoever filled it may have meant to hinder this. Names are taken as bytes, folders without permissions are given some, and
  /// a folder in a folder is moved up before it is emptied, so that no depth takes descriptors or memory.
  public func removeContents() throws(FileError) {
    while true {
      let names = try rawNames()
      if names.isEmpty { return }
      for name in names { try removeEntry(name) }
    }
  }

  private func removeEntry(_ name: [CChar]) throws(FileError) {
    let number = descriptor.rawValue
    if unlinkat(number, name, 0) == 0 { return }
    let error = Errno.current
    if error == .noSuchFile { return }
    guard error == .isDirectory || error == .notPermitted || error == .permissionDenied else {
      throw failure("remove", name, error)
    }
    var below = openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if below < 0 || faccessat(below, ".", W_OK | X_OK, AT_EACCESS) != 0 {
      if below >= 0 { close(below) }
      // Of the entry itself: where it is a link by now, opening it fails.
      fchmodat(number, name, 0o700, 0)
      below = openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
    guard below >= 0 else { throw failure("remove", name, .current) }
    let folder = OpenDirectory(FileDescriptor(owning: below), path)
    below = folder.descriptor.rawValue
    for inner in try folder.rawNames() where unlinkat(below, inner, 0) != 0 {
      let moved = ".\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
      // A folder whose own permissions keep it from being moved is given some.
      if renameat(below, inner, number, moved) != 0 {
        fchmodat(below, inner, 0o700, 0)
        if renameat(below, inner, number, moved) != 0 { throw failure("remove", inner, .current) }
      }
    }
    if unlinkat(number, name, AT_REMOVEDIR) != 0, Errno.current != .noSuchFile, Errno.current != .directoryNotEmpty {
      throw failure("remove", name, .current)
    }
  }

  /// The names in it as they are, without `.` and `..`.
  private func rawNames() throws(FileError) -> [[CChar]] {
    let number = openat(descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0, let stream = fdopendir(number) else { throw failure("list", ".") }
    defer { closedir(stream) }
    var names: [[CChar]] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
        }
      }
      let dot = CChar(bitPattern: UInt8(ascii: "."))
      if name != [dot, 0], name != [dot, dot, 0] { names.append(name) }
    }
    return names
  }

  private func failure(_ operation: String, _ name: [CChar], _ error: Errno) -> FileError {
    FileError(operation, path: FilePath.join(path, ByteText.escaped(name)), errno: error)
  }

  /// Brings the directory's entries to the disk.
  public func synchronize() throws(FileError) {
    do throws(Errno) { try descriptor.synchronize() } catch {
      // Some file systems (network, FUSE) do not offer it for directories.
      if error != .invalidArgument && error != .notSupported {
        throw FileError("synchronize", path: path, errno: error)
      }
    }
  }

  private func failure(_ operation: String, _ name: String) -> FileError {
    FileError(operation, path: FilePath.join(path, name), errno: .current)
  }
}
