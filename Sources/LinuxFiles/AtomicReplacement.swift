import Glibc

/// Replacing a file whole: a reader sees the old contents or the new, and a crash leaves one of the two.
///
/// The new contents go to a temporary file beside the old one, are brought to the disk (`fsync`), take the name by
/// `rename`, and the directory is brought to the disk as well. On any error the temporary file is removed and the old
/// contents stay.
public enum AtomicReplacement {
  public struct Owner: Sendable, Hashable {
    public var userID: UInt32
    public var groupID: UInt32
    public init(userID: UInt32, groupID: UInt32) {
      self.userID = userID
      self.groupID = groupID
    }
  }

  /// - Parameters:
  ///   - rest: what follows the bytes in the file, so that a header and large contents need not be joined in memory.
  ///   - mode: the permission bits of the new file, whatever the process's mask.
  ///   - owner: nil leaves it to the process.
  ///   - durable: false skips both `fsync`, for files that may be lost in a power cut.
  /// - Returns: the metadata of the file that was written, which another may have replaced since.
  @discardableResult
  public static func write(
    _ bytes: [UInt8], followedBy rest: [UInt8] = [], to path: String, mode: UInt32, owner: Owner? = nil,
    durable: Bool = true
  ) throws(FileError) -> FileMetadata {
    let parent: OpenDirectory
    do throws(FileError) { parent = try OpenDirectory(FilePath.parent(of: path)) } catch {
      throw FileError("open", path: path, errno: error.errno)
    }
    return try write(
      bytes, followedBy: rest, to: FilePath.name(of: path), in: parent, mode: mode, owner: owner, durable: durable)
  }

  /// The same in a directory that is open.
  /// - Parameter name: one component. A symbolic link of this name is replaced itself.
  @discardableResult
  public static func write(
    _ bytes: [UInt8], followedBy rest: [UInt8] = [], to name: String, in directory: borrowing OpenDirectory,
    mode: UInt32, owner: Owner? = nil, durable: Bool = true
  ) throws(FileError) -> FileMetadata {
    let new = try TemporaryFile.create(for: name, in: directory)
    let (path, temporary) = (FilePath.join(directory.path, name), FilePath.join(directory.path, new.name))
    let metadata: FileMetadata
    do throws(FileError) {
      try step("set the owner of", temporary) { () throws(Errno) in
        if let owner { try new.file.setOwner(user: owner.userID, group: owner.groupID) }
      }
      try step("set the mode of", temporary) { () throws(Errno) in try new.file.setMode(mode) }
      try step("write", temporary) { () throws(Errno) in
        try new.file.write(bytes)
        try new.file.write(rest)
      }
      if durable { try step("synchronize", temporary) { () throws(Errno) in try new.file.synchronize() } }
      do throws(FileError) { try directory.rename(new.name, to: name) } catch {
        throw FileError("replace", path: path, errno: error.errno)
      }
      // After the rename, which changes it.
      metadata = try step("inspect", path) { () throws(Errno) in try new.file.metadata() }
    } catch {
      try? directory.remove(new.name)
      throw error
    }
    if durable { try directory.synchronize() }
    return metadata
  }

  private static func step<R>(
    _ operation: String, _ path: String, _ body: () throws(Errno) -> R
  ) throws(FileError) -> R {
    do throws(Errno) { return try body() } catch { throw FileError(operation, path: path, errno: error) }
  }
}

/// A new file beside the one that it will replace.
///
/// Temporary names begin with a dot and end with `.tmp`, so that listings of ours pass over them.
struct TemporaryFile: ~Copyable {
  let name: String
  let file: FileDescriptor

  static func create(for name: String, in directory: borrowing OpenDirectory) throws(FileError) -> TemporaryFile {
    while true {
      let unique = String(UInt64.random(in: .min ... .max), radix: 36)
      let temporary = ".\(String(decoding: name.utf8.prefix(120), as: UTF8.self)).\(unique).tmp"
      do throws(FileError) {
        return TemporaryFile(
          name: temporary, file: try directory.open(temporary, [.writeOnly, .create, .exclusive], mode: 0o600))
      } catch {
        if error.errno != .fileExists { throw error }
      }
    }
  }
}
