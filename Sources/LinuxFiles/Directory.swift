import Glibc

/// Making, listing and synchronizing directories.
public enum Directory {
  /// Makes one directory; that it is already there is no error.
  /// - Returns: whether it was made by this call.
  @discardableResult
  public static func create(_ path: String, mode: UInt32 = 0o755) throws(FileError) -> Bool {
    if mkdir(path, mode) == 0 {
      chmod(path, mode)
      return true
    }
    let error = Errno.current
    if error == .fileExists, let metadata = try? FileMetadata.of(path), metadata.isDirectory { return false }
    throw FileError("create directory", path: path, errno: error)
  }

  /// Makes a directory and what is missing above it.
  /// - Returns: the directories that this call made, outermost first.
  @discardableResult
  public static func createAll(_ path: String, mode: UInt32 = 0o755) throws(FileError) -> [String] {
    if let metadata = try? FileMetadata.of(path), metadata.isDirectory { return [] }
    let parent = FilePath.parent(of: path)
    var made: [String] = []
    if parent != path && parent != "." { made = try createAll(parent, mode: mode) }
    if try create(path, mode: mode) { made.append(path) }
    return made
  }

  /// The names in a directory, sorted by their bytes, without `.` and `..`.
  ///
  /// - Parameter passedOver: told, with the bytes escaped, of each name that is not UTF-8 and that is left out. nil: such a
  ///   name is there with U+FFFD in it, and opening it fails.
  public static func names(
    in path: String, passedOver: ((String) -> Void)? = nil
  ) throws(FileError) -> [String] {
    guard let stream = opendir(path) else { throw FileError("list", path: path, errno: .current) }
    return try names(of: stream, path, passedOver)
  }

  /// Closes the stream.
  static func names(
    of stream: OpaquePointer, _ path: String, _ passedOver: ((String) -> Void)?
  ) throws(FileError) -> [String] {
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw FileError("list", path: path, errno: .current) }
        break
      }
      let name: String? = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { bytes in
          guard let passedOver else { return String(cString: bytes) }
          if let text = ByteText.text(bytes) { return text }
          passedOver(ByteText.escaped(bytes))
          return nil
        }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Brings a directory's entries (creations, renames, removals) to the disk.
  public static func synchronize(_ path: String) throws(FileError) {
    try OpenDirectory(path).synchronize()
  }

  public static func remove(_ path: String) throws(FileError) {
    if rmdir(path) != 0 { throw FileError("remove directory", path: path, errno: .current) }
  }

  /// Removes a file (never a directory).
  public static func removeFile(_ path: String) throws(FileError) {
    if unlink(path) != 0 { throw FileError("remove", path: path, errno: .current) }
  }

  public static func rename(_ old: String, to new: String) throws(FileError) {
    if Glibc.rename(old, new) != 0 { throw FileError("rename", path: old, errno: .current) }
  }

  /// Gives a file a second name in the same file system.
  public static func link(_ existing: String, to new: String) throws(FileError) {
    if Glibc.link(existing, new) != 0 { throw FileError("link", path: existing, errno: .current) }
  }

  /// Removes a tree without following any symbolic link in it, also one that appears meanwhile.
  public static func removeTree(_ path: String) throws(FileError) {
    let metadata: FileMetadata
    do throws(FileError) { metadata = try FileMetadata.of(path, followingLinks: false) } catch {
      if error.errno == .noSuchFile { return }
      throw error
    }
    guard metadata.isDirectory else { return try removeFile(path) }
    try OpenDirectory(path, below: path).removeContents()
    try remove(path)
  }
}
