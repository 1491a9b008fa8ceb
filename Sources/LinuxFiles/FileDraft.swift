/// A file that is written piece by piece, and takes its name when it is whole: what `AtomicReplacement` is for contents that
/// are not kept in memory. A draft that is given up leaves nothing, and the old contents stay.
public final class FileDraft {
  private let directory: OpenDirectory
  private let temporary: TemporaryFile
  private let name: String
  private var isFinished = false

  /// - Parameter mode: the permission bits of the new file, whatever the process's mask.
  public init(for path: String, mode: UInt32) throws(FileError) {
    name = FilePath.name(of: path)
    do throws(FileError) { directory = try OpenDirectory(FilePath.parent(of: path)) } catch {
      throw FileError("open", path: path, errno: error.errno)
    }
    temporary = try TemporaryFile.create(for: name, in: directory)
    do throws(Errno) { try temporary.file.setMode(mode) } catch {
      try? directory.remove(temporary.name)
      throw FileError("set the mode of", path: path, errno: error)
    }
  }

  deinit { if !isFinished { try? directory.remove(temporary.name) } }

  private var temporaryPath: String { FilePath.join(directory.path, temporary.name) }

  /// Adds bytes at the end.
  public func write(_ bytes: [UInt8]) throws(FileError) {
    do throws(Errno) { try temporary.file.write(bytes) } catch {
      throw FileError("write", path: temporaryPath, errno: error)
    }
  }

  /// Brings everything to the disk and takes the name, in the place of what had it.
  public func finish() throws(FileError) {
    do throws(Errno) { try temporary.file.synchronize() } catch {
      throw FileError("synchronize", path: temporaryPath, errno: error)
    }
    do throws(FileError) { try directory.rename(temporary.name, to: name) } catch {
      throw FileError("replace", path: FilePath.join(directory.path, name), errno: error.errno)
    }
    isFinished = true
    try directory.synchronize()
  }
}
