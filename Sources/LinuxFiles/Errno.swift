import Glibc

/// A system error number, with the C library's words for it.
public struct Errno: Error, Hashable, Sendable, RawRepresentable, CustomStringConvertible {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The calling thread's `errno`, read right after a call that failed.
  public static var current: Errno { Errno(rawValue: errno) }

  public static let noSuchFile = Errno(rawValue: ENOENT)
  public static let permissionDenied = Errno(rawValue: EACCES)
  public static let notPermitted = Errno(rawValue: EPERM)
  public static let fileExists = Errno(rawValue: EEXIST)
  public static let notDirectory = Errno(rawValue: ENOTDIR)
  public static let isDirectory = Errno(rawValue: EISDIR)
  /// What opening with `O_NOFOLLOW` answers for a symbolic link.
  public static let tooManySymbolicLinks = Errno(rawValue: ELOOP)
  public static let wouldBlock = Errno(rawValue: EWOULDBLOCK)
  public static let noSpace = Errno(rawValue: ENOSPC)
  public static let quotaExceeded = Errno(rawValue: EDQUOT)
  public static let readOnlyFileSystem = Errno(rawValue: EROFS)
  public static let noLocksAvailable = Errno(rawValue: ENOLCK)
  public static let timedOut = Errno(rawValue: ETIMEDOUT)
  public static let fileTooLarge = Errno(rawValue: EFBIG)
  public static let directoryNotEmpty = Errno(rawValue: ENOTEMPTY)
  public static let notSupported = Errno(rawValue: EOPNOTSUPP)
  public static let invalidArgument = Errno(rawValue: EINVAL)
  public static let brokenPipe = Errno(rawValue: EPIPE)
  public static let addressInUse = Errno(rawValue: EADDRINUSE)
  /// What connecting answers where nobody listens.
  public static let connectionRefused = Errno(rawValue: ECONNREFUSED)
  /// What opening a socket answers, or a device behind which there is nothing.
  public static let noDevice = Errno(rawValue: ENXIO)

  public var description: String { String(cString: strerror(rawValue)) }
}

/// A system call that failed, with the path it concerned: "cannot open /etc/x: Permission denied".
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The operation as a verb: `open`, `read`, `rename` …
  public let operation: String
  public let path: String
  public let errno: Errno
  /// What was found in the place of a file: `a pipe`. nil where that is not what is wrong.
  public let found: String?

  public init(_ operation: String, path: String, errno: Errno, found: String? = nil) {
    self.operation = operation
    self.path = path
    self.errno = errno
    self.found = found
  }

  /// Why, without what and where.
  public var reason: String { found.map { "it is \($0), not a file" } ?? "\(errno)" }

  public var description: String { "cannot \(operation) \(path): \(reason)" }
}

/// Repeats a system call that a signal interrupted; -1 becomes the thread's error number.
func retryingOnInterrupt<Result: FixedWidthInteger>(_ call: () -> Result) throws(Errno) -> Result {
  while true {
    let result = call()
    if result != -1 { return result }
    let error = Errno.current
    if error.rawValue != EINTR { throw error }
  }
}
