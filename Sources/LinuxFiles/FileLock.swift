import Glibc

/// A lock between threads and processes, held until its owner goes.
///
/// It is `flock` on a file of its own, so it survives the rename of what it guards, binds two threads of one process
/// (each opens the file anew), and falls with its holder, `SIGKILL` included: a forked child does not keep it. It works on
/// local file systems and, between machines, on NFS and SMB (Linux emulates `flock` there through byte-range locks of the
/// server); where locks are not available the error is loud (`Errno.noLocksAvailable`, `.notSupported`).
public struct FileLock: ~Copyable {
  private let file: FileDescriptor

  private init(_ file: consuming FileDescriptor) {
    ForkClosing.add(file.rawValue)
    self.file = file
  }

  /// Unlocks and does not only close: a program that was started meanwhile holds the same open file until it has come to its
  /// own code.
  deinit {
    ForkClosing.remove(file.rawValue)
    flock(file.rawValue, LOCK_UN)
  }

  /// Waits for the lock, at most `timeout` seconds (nil: for ever); then `Errno.timedOut`.
  /// - Parameter mode: of the lock file, where it has to be made.
  public static func exclusive(
    _ path: String, mode: UInt32 = 0o600, timeout: Double? = nil
  ) throws(FileError) -> FileLock {
    try wait(for: try FileDescriptor.open(path, [.readWrite, .create, .noFollow], mode: mode), path, timeout)
  }

  /// The same with a lock file in a directory that is open.
  /// - Parameter creating: whether the lock file is made where it is missing, or that is `noSuchFile`.
  public static func exclusive(
    _ name: String, in directory: borrowing OpenDirectory, mode: UInt32 = 0o600, creating: Bool = true,
    timeout: Double? = nil
  ) throws(FileError) -> FileLock {
    let file = try directory.open(
      name, creating ? [.readWrite, .create, .nonBlocking] : [.readWrite, .nonBlocking], mode: mode)
    return try wait(for: file, FilePath.join(directory.path, name), timeout)
  }

  /// The same on a directory, for which no lock file may be left. Network file systems do not offer it.
  public static func exclusive(directory path: String, timeout: Double? = nil) throws(FileError) -> FileLock {
    try wait(for: try FileDescriptor.open(path, [.directory]), path, timeout)
  }

  /// A lock that any number can hold at once, and that keeps an exclusive one away; on a directory.
  public static func shared(directory path: String, timeout: Double? = nil) throws(FileError) -> FileLock {
    try wait(for: try FileDescriptor.open(path, [.directory]), path, timeout, LOCK_SH)
  }

  private static func wait(
    for file: consuming FileDescriptor, _ path: String, _ timeout: Double?, _ kind: Int32 = LOCK_EX
  ) throws(FileError) -> FileLock {
    let deadline = timeout.map { WallClock.monotonicSeconds() + $0 }
    do throws(Errno) {
      if deadline == nil {
        _ = try retryingOnInterrupt { flock(file.rawValue, kind) }
      } else {
        while true {
          do throws(Errno) {
            _ = try retryingOnInterrupt { flock(file.rawValue, kind | LOCK_NB) }
            break
          } catch {
            if error != .wouldBlock { throw error }
            if WallClock.monotonicSeconds() >= deadline! { throw .timedOut }
            usleep(2_000)
          }
        }
      }
    } catch {
      throw FileError("lock", path: path, errno: error)
    }
    return FileLock(file)
  }
}
