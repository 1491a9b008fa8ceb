/// Reading one file whole.
public enum WholeFile {
  /// Reads a regular file into private memory, together with the metadata of the very file that was read.
  ///
  /// - Parameters:
  ///   - limit: bytes; a larger file is `Errno.fileTooLarge`.
  ///   - followingLinks: whether the last component may be a symbolic link.
  public static func read(
    _ path: String, limit: Int = 1 << 30, followingLinks: Bool = true
  ) throws(FileError) -> (bytes: [UInt8], metadata: FileMetadata) {
    let flags: OpenFlags = followingLinks ? [.nonBlocking] : [.nonBlocking, .noFollow]
    return try read(try FileDescriptor.open(path, flags), path, limit)
  }

  /// The same in a directory that is open; a symbolic link is `Errno.tooManySymbolicLinks`.
  public static func read(
    _ name: String, in directory: borrowing OpenDirectory, limit: Int = 1 << 30
  ) throws(FileError) -> (bytes: [UInt8], metadata: FileMetadata) {
    try read(try directory.open(name, [.nonBlocking]), FilePath.join(directory.path, name), limit)
  }

  private static func read(
    _ file: consuming FileDescriptor, _ path: String, _ limit: Int
  ) throws(FileError) -> (bytes: [UInt8], metadata: FileMetadata) {
    do throws(Errno) {
      let metadata = try file.metadata()
      if metadata.isDirectory { throw .isDirectory }
      if !metadata.isRegularFile { throw .invalidArgument }
      if metadata.size > Int64(limit) { throw .fileTooLarge }
      return (try file.readToEnd(limit: limit), metadata)
    } catch {
      throw FileError("read", path: path, errno: error, found: (try? file.metadata())?.otherThanFile)
    }
  }
}
