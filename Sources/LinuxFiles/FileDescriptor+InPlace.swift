import CFileSystems
import Glibc

/// What files need that are appended to and never replaced: logs.
extension FileDescriptor {
  /// Writes all bytes at an offset, however many calls that takes; the file's position stays.
  public func write(_ bytes: [UInt8], at offset: Int) throws(Errno) {
    var done = 0
    while done < bytes.count {
      done += try retryingOnInterrupt {
        bytes.withUnsafeBytes {
          pwrite(rawValue, $0.baseAddress.unsafelyUnwrapped + done, $0.count - done, off_t(offset + done))
        }
      }
    }
  }

  /// Waits until the contents are on the disk, and of the metadata what is needed to read them (`fdatasync`).
  public func synchronizeContents() throws(Errno) { _ = try retryingOnInterrupt { fdatasync(rawValue) } }

  /// Cuts the file, or lengthens it with zeros.
  public func setSize(_ byteCount: Int) throws(Errno) {
    _ = try retryingOnInterrupt { ftruncate(rawValue, off_t(byteCount)) }
  }

  /// Takes blocks of the disk for a range of the file, which may lie beyond its end: the file keeps its size, and what is
  /// written there later finds its room (`fallocate` with `FALLOC_FL_KEEP_SIZE`).
  ///
  /// Some file systems don't offer it (`Errno.notSupported`).
  public func reserve(at offset: Int, count: Int) throws(Errno) {
    _ = try retryingOnInterrupt { fallocate(rawValue, FALLOCATE_KEEP_SIZE, off_t(offset), off_t(count)) }
  }
}
