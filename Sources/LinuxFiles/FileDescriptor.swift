import Glibc

/// How a file is opened. All descriptors are close-on-exec; none becomes the controlling terminal.
public struct OpenFlags: OptionSet, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }

  public static let readOnly = OpenFlags([])
  public static let writeOnly = OpenFlags(rawValue: O_WRONLY)
  public static let readWrite = OpenFlags(rawValue: O_RDWR)
  public static let create = OpenFlags(rawValue: O_CREAT)
  public static let exclusive = OpenFlags(rawValue: O_EXCL)
  public static let truncate = OpenFlags(rawValue: O_TRUNC)
  public static let append = OpenFlags(rawValue: O_APPEND)
  /// A symbolic link as the last component is an error (`Errno.tooManySymbolicLinks`).
  public static let noFollow = OpenFlags(rawValue: O_NOFOLLOW)
  public static let directory = OpenFlags(rawValue: O_DIRECTORY)
  /// A named pipe or device is opened without waiting for its other end, so that a check of its type can refuse it.
  public static let nonBlocking = OpenFlags(rawValue: O_NONBLOCK)
}

/// An open file, closed when its owner goes.
public struct FileDescriptor: ~Copyable {
  public let rawValue: Int32

  /// Takes over a descriptor that something else opened.
  ///
  /// A program that was started without standard streams gets their numbers for what it opens first. Such a file gets
  /// another number: what is said on standard error must not end up in somebody's preferences.
  public init(owning rawValue: Int32) {
    if (STDIN_FILENO...STDERR_FILENO).contains(rawValue) {
      let moved = fcntl(rawValue, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
      if moved >= 0 {
        close(rawValue)
        self.rawValue = moved
        return
      }
    }
    self.rawValue = rawValue
  }

  deinit { close(rawValue) }

  public static func open(
    _ path: String, _ flags: OpenFlags = .readOnly, mode: UInt32 = 0o600
  ) throws(FileError) -> FileDescriptor {
    do throws(Errno) {
      return FileDescriptor(
        owning: try retryingOnInterrupt { Glibc.open(path, flags.rawValue | O_CLOEXEC | O_NOCTTY, mode) })
    } catch {
      let found = error == .noDevice ? (try? FileMetadata.of(path))?.otherThanFile : nil
      throw FileError("open", path: path, errno: error, found: found)
    }
  }

  /// Opens a name below this directory.
  public func open(
    at name: String, _ flags: OpenFlags = .readOnly, mode: UInt32 = 0o600
  ) throws(FileError) -> FileDescriptor {
    do throws(Errno) {
      return FileDescriptor(
        owning: try retryingOnInterrupt { openat(rawValue, name, flags.rawValue | O_CLOEXEC | O_NOCTTY, mode) })
    } catch {
      throw FileError("open", path: name, errno: error)
    }
  }

  public func metadata() throws(Errno) -> FileMetadata {
    var status = stat()
    _ = try retryingOnInterrupt { fstat(rawValue, &status) }
    return FileMetadata(status)
  }

  /// Reads from the present offset to the end.
  ///
  /// The bytes are a private copy: what happens to the file afterwards does not touch them. A file that grows beyond
  /// `limit` while it is read is `Errno.fileTooLarge`.
  public func readToEnd(limit: Int = .max) throws(Errno) -> [UInt8] {
    let expected = min(Int(try metadata().size), limit)
    var bytes = [UInt8](unsafeUninitializedCapacity: max(expected + 1, 512)) { _, count in count = 0 }
    var chunk = max(expected + 1, 512)
    while true {
      let got = try readAppending(to: &bytes, atMost: chunk)
      if got == 0 { return bytes }
      if bytes.count > limit { throw .fileTooLarge }
      chunk = bytes.count > expected ? max(bytes.count, 4096) : max(expected - bytes.count + 1, 512)
    }
  }

  private func readAppending(to bytes: inout [UInt8], atMost count: Int) throws(Errno) -> Int {
    let start = bytes.count
    // The first round reads straight into the reserved room; later rounds are rare.
    var failure: Errno?
    if start == 0 {
      bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        Self.populate(UnsafeMutableRawBufferPointer(buffer))
        do throws(Errno) {
          filled = try retryingOnInterrupt { Glibc.read(rawValue, buffer.baseAddress, count) }
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
      return bytes.count
    }
    // As a rule only the end is left: growing for it would double the memory of every file that is read.
    let next = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(Errno) {
        filled = try retryingOnInterrupt { Glibc.read(rawValue, buffer.baseAddress, count) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    bytes += next
    return next.count
  }

  /// Fills memory from an offset of the file on; fewer bytes where the file ends before.
  public func read(into memory: UnsafeMutableRawBufferPointer, at offset: Int) throws(Errno) -> Int {
    var done = 0
    while done < memory.count {
      let got = try retryingOnInterrupt {
        pread(rawValue, memory.baseAddress.unsafelyUnwrapped + done, memory.count - done, off_t(offset + done))
      }
      if got == 0 { break }
      done += got
    }
    return done
  }

  /// Has the kernel make the pages of fresh memory at once: one call instead of a fault for each page, which would take
  /// longer than reading into them. Kernels before 5.14 can't, and go on as ever.
  private static func populate(_ memory: UnsafeMutableRawBufferPointer) {
    let page = 4096
    guard memory.count >= 32 * page, let start = memory.baseAddress else { return }
    let first = (UInt(bitPattern: start) &+ UInt(page - 1)) & ~UInt(page - 1)
    let length = (UInt(bitPattern: start) &+ UInt(memory.count) &- first) & ~UInt(page - 1)
    let populateWrite: Int32 = 23  // MADV_POPULATE_WRITE
    _ = madvise(UnsafeMutableRawPointer(bitPattern: first), Int(length), populateWrite)
  }

  /// Writes everything, however many calls that takes.
  public func write(_ bytes: [UInt8]) throws(Errno) {
    var done = 0
    while done < bytes.count {
      done += try retryingOnInterrupt {
        bytes.withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress! + done, $0.count - done) }
      }
    }
  }

  /// Waits until contents and metadata are on the disk.
  public func synchronize() throws(Errno) { _ = try retryingOnInterrupt { fsync(rawValue) } }

  public func setMode(_ mode: UInt32) throws(Errno) { _ = try retryingOnInterrupt { fchmod(rawValue, mode) } }

  public func setOwner(user: UInt32, group: UInt32) throws(Errno) {
    _ = try retryingOnInterrupt { fchown(rawValue, user, group) }
  }
}

/// What the file system says of a file.
public struct FileMetadata: Hashable, Sendable {
  public let device: UInt64
  public let inode: UInt64
  public let size: Int64
  /// Type and permission bits, as `st_mode`.
  public let mode: UInt32
  public let userID: UInt32
  public let groupID: UInt32
  public let linkCount: UInt64
  public let modificationNanoseconds: Int64
  public let changeNanoseconds: Int64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    mode = status.st_mode
    userID = status.st_uid
    groupID = status.st_gid
    linkCount = UInt64(status.st_nlink)
    modificationNanoseconds = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    changeNanoseconds = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
  }

  /// - Parameter followingLinks: whether a symbolic link as the last component stands for its target.
  public static func of(_ path: String, followingLinks: Bool = true) throws(FileError) -> FileMetadata {
    var status = stat()
    do throws(Errno) {
      _ = try retryingOnInterrupt {
        fstatat(AT_FDCWD, path, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW)
      }
    } catch {
      throw FileError("inspect", path: path, errno: error)
    }
    return FileMetadata(status)
  }

  public var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
  public var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
  public var isSymbolicLink: Bool { mode & S_IFMT == S_IFLNK }
  public var isCharacterDevice: Bool { mode & S_IFMT == S_IFCHR }
  public var isPipe: Bool { mode & S_IFMT == S_IFIFO }
  /// What it is, for people, where it is no regular file; a link counts as what it leads to, where it was followed.
  public var otherThanFile: String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "a directory"
    case S_IFIFO: "a pipe"
    case S_IFSOCK: "a socket"
    case S_IFCHR, S_IFBLK: "a device"
    case S_IFLNK: "a symbolic link"
    default: "something else"
    }
  }
  /// The nine permission bits and set-id, sticky.
  public var permissions: UInt32 { mode & 0o7777 }
  public var isWritableByGroupOrOthers: Bool { mode & 0o022 != 0 }

  /// Whether `other` is the same file with the same contents, as far as metadata can tell; what polling compares.
  public func isSameVersion(as other: FileMetadata) -> Bool {
    device == other.device && inode == other.inode && size == other.size
      && modificationNanoseconds == other.modificationNanoseconds && changeNanoseconds == other.changeNanoseconds
  }
}
