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
    let new = try TemporaryFile.create(beside: path)
    let temporary = new.path
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
      try step("replace", path) { () throws(Errno) in _ = try retryingOnInterrupt { rename(temporary, path) } }
      // After the rename, which changes it.
      metadata = try step("inspect", path) { () throws(Errno) in try new.file.metadata() }
    } catch {
      unlink(temporary)
      throw error
    }
    if durable { try Directory.synchronize(FilePath.parent(of: path)) }
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
private struct TemporaryFile: ~Copyable {
  let path: String
  let file: FileDescriptor

  static func create(beside path: String) throws(FileError) -> TemporaryFile {
    let parent = FilePath.parent(of: path)
    let name = FilePath.name(of: path)
    while true {
      let unique = String(UInt64.random(in: .min ... .max), radix: 36)
      let temporary = FilePath.join(parent, ".\(String(decoding: name.utf8.prefix(120), as: UTF8.self)).\(unique).tmp")
      do throws(FileError) {
        return TemporaryFile(
          path: temporary,
          file: try FileDescriptor.open(temporary, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600))
      } catch {
        if error.errno != .fileExists { throw error }
      }
    }
  }
}
