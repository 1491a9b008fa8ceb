import Glibc

/// Notices, through inotify, that names in watched directories appear, vanish or are replaced.
///
/// Directories are watched, not files, since every file of ours is replaced by rename. A user's inotify instances are
/// limited (128 as a rule): `init` throws then, and the caller polls.
public struct FileWatch: ~Copyable {
  /// Becomes readable when something happened; for `poll`.
  public let descriptor: Int32

  public init() throws(Errno) {
    descriptor = try retryingOnInterrupt { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) }
  }

  deinit { close(descriptor) }

  /// - Parameter includingWrites: also tells of each write to a file there, for files that are written in place and stay
  ///   open, such as a database's.
  /// - Returns: the number that names this directory in `changes()`.
  public func add(directory path: String, includingWrites: Bool = false) throws(FileError) -> Int32 {
    var mask = UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF)
    if includingWrites { mask |= UInt32(IN_MODIFY) }
    do throws(Errno) {
      return try retryingOnInterrupt { inotify_add_watch(descriptor, path, mask | UInt32(IN_ONLYDIR)) }
    } catch {
      throw FileError("watch", path: path, errno: error)
    }
  }

  public func remove(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

  public struct Change: Hashable, Sendable {
    public let watch: Int32
    /// The name in the directory; empty for the directory itself.
    public let name: String
    /// The kernel's queue overflowed: anything may have changed.
    public let overflowed: Bool
  }

  /// What happened since the last call; never waits.
  public func changes() -> [Change] {
    var changes: [Change] = []
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count <= 0 { return }
        var offset = 0
        let header = MemoryLayout<inotify_event>.size
        while offset + header <= count {
          let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
          let nameBytes = UnsafeRawBufferPointer(
            rebasing: buffer[(offset + header)..<(offset + header + Int(event.len))])
          changes.append(
            Change(
              watch: event.wd, name: String(decoding: nameBytes.prefix { $0 != 0 }, as: UTF8.self),
              overflowed: event.mask & UInt32(IN_Q_OVERFLOW) != 0))
          offset += header + Int(event.len)
        }
      }
    }
    return changes
  }
}
