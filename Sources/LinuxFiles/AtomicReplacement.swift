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

  /// Removes what writers of a file that were killed on the way have left beside it.
  ///
  /// Only what nobody can be writing any more: for whoever holds the lock under which the file is written; files of our own user
  /// that have the very form of this file's temporary names and were last written more than `age` seconds ago, since writers
  /// without the lock may exist. Errors are passed over: the next writer tries again.
  /// - Complexity: O(entries of the directory).
  public static func removeLeftovers(
    of name: String, in directory: borrowing OpenDirectory, olderThan age: Int64 = 60
  ) {
    // A longer name is cut short in its temporary name, which another file's may be as well.
    guard name.utf8.count <= TemporaryFile.longestName, let names = try? directory.names() else { return }
    let now = WallClock.unixMilliseconds()
    for found in names where TemporaryFile.isName(found, for: name) {
      guard let metadata = try? directory.metadata(of: found), metadata.isRegularFile,
        metadata.userID == ProcessIdentity.effectiveUserID,
        now - metadata.modificationNanoseconds / 1_000_000 > age * 1000
      else { continue }
      try? directory.remove(found)
    }
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

  /// Of a file's name, how many bytes the temporary name has.
  static let longestName = 120

  /// Whether `found` is a temporary name of the file `name`, which is not too long: `.NAME.LETTERS.tmp`.
  static func isName(_ found: String, for name: String) -> Bool {
    let (prefix, suffix) = (Array(".\(name).".utf8), Array(".tmp".utf8))
    let bytes = Array(found.utf8)
    guard bytes.count > prefix.count + suffix.count, bytes.starts(with: prefix),
      bytes.suffix(suffix.count).elementsEqual(suffix)
    else { return false }
    return bytes[prefix.count..<(bytes.count - suffix.count)].allSatisfy {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
    }
  }

  static func create(for name: String, in directory: borrowing OpenDirectory) throws(FileError) -> TemporaryFile {
    while true {
      let unique = String(UInt64.random(in: .min ... .max), radix: 36)
      let temporary = ".\(String(decoding: name.utf8.prefix(longestName), as: UTF8.self)).\(unique).tmp"
      do throws(FileError) {
        return TemporaryFile(
          name: temporary, file: try directory.open(temporary, [.writeOnly, .create, .exclusive], mode: 0o600))
      } catch {
        if error.errno != .fileExists { throw error }
      }
    }
  }
}
