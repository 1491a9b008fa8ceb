import CFileSystems
import Glibc

/// What files need that are appended to and never replaced: logs.
extension FileDescriptor {
  /// Writes all bytes at an offset, however many calls that takes; the file's position stays.
  public func write(_ bytes: [UInt8], at offset: Int) throws(Errno) {
    var failure: Errno?
    bytes.withUnsafeBytes { memory in
      do throws(Errno) { try write(memory, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// The same from memory.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Errno) {
    var done = 0
    while done < bytes.count {
      done += try retryingOnInterrupt {
        pwrite(rawValue, bytes.baseAddress.unsafelyUnwrapped + done, bytes.count - done, off_t(offset + done))
      }
    }
  }

  /// Waits until the contents are on the disk, and of the metadata what is needed to read them (`fdatasync`).
  public func synchronizeContents() throws(Errno) { _ = try retryingOnInterrupt { fdatasync(rawValue) } }

  /// Has the system begin to write a range to the disk, in place, and waits for none of it (`sync_file_range`): what the disk
  /// has then is not durable before something else makes it so. A count of 0 means to the end.
  public func beginWriteBack(at offset: Int = 0, count: Int = 0) throws(Errno) {
    try writeBack(offset, count, WRITE_BACK_BEGIN)
  }

  /// Waits until the disk has taken what was to be written back of a range. It is durable when the disk next empties its
  /// own memory, which every `synchronizeContents` on the same disk makes it do.
  public func finishWriteBack(at offset: Int = 0, count: Int = 0) throws(Errno) {
    try writeBack(offset, count, WRITE_BACK_FINISH)
  }

  /// Where the system does not offer it, nothing was promised.
  private func writeBack(_ offset: Int, _ count: Int, _ flags: UInt32) throws(Errno) {
    do throws(Errno) {
      _ = try retryingOnInterrupt { sync_file_range(rawValue, off_t(offset), off_t(count), flags) }
    } catch {
      if error.rawValue != ENOSYS, error != .invalidArgument, error != .notSupported { throw error }
    }
  }

  /// Waits until the contents of two files are on the disk, both at once.
  ///
  /// Two waits, one after the other, make the disk empty its memory twice, which is most of what they cost; two at once are
  /// answered together.
  ///
  /// - Throws: what either fails with; then nothing is known of either.
  public static func synchronizeContents(
    of first: borrowing FileDescriptor, and second: borrowing FileDescriptor
  ) throws(Errno) {
    // On its way before the thread is, so that both get into one transaction of the file system.
    try first.beginWriteBack()
    let wait = Wait(for: first.rawValue)
    let beside = ThreadBeside { wait.run() }
    var failure: Errno?
    do throws(Errno) { try second.synchronizeContents() } catch { failure = error }
    beside.wait()
    if let failure = failure ?? wait.failure { throw failure }
  }

  /// One `fdatasync` for another thread; its outcome is read when that thread is done.
  private final class Wait: @unchecked Sendable {
    let file: Int32
    private(set) var failure: Errno?

    init(for file: Int32) { self.file = file }

    func run() {
      do throws(Errno) { _ = try retryingOnInterrupt { fdatasync(file) } } catch { failure = error }
    }
  }

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
