public import LinuxFiles

/// A change that the log is about to make on the disk: one system call, or a replacement that is atomic in itself.
public struct LogOperation: Sendable, Hashable {
  public enum Change: Sendable, Hashable {
    case makeDirectory, create, write, synchronize, truncate, rename, remove, reserve
    /// The disk takes what was written: durable with the next `synchronize` of anything.
    case writeBack
  }

  public let change: Change
  public let path: String
  /// Of a write: how many bytes, and where.
  public let byteCount: Int
  public let offset: Int
  /// Of a wait for two files, the second; of a replacement by rename, the file that takes the place where it has a name.
  public let other: String?
}

/// Told before each change: tests break off there, or have it fail.
public struct LogOperations: Sendable {
  public var willPerform: @Sendable (LogOperation) throws(Errno) -> Void

  public init(willPerform: @escaping @Sendable (LogOperation) throws(Errno) -> Void) {
    self.willPerform = willPerform
  }

  /// The system, unobserved.
  public static let system = LogOperations { (_) throws(Errno) in }

  @discardableResult
  func perform<R>(
    _ change: LogOperation.Change, _ path: String, with other: String? = nil, byteCount: Int = 0, offset: Int = 0,
    _ body: () throws(Errno) -> R
  ) throws(AuditLogError) -> R {
    do throws(Errno) {
      try willPerform(LogOperation(change: change, path: path, byteCount: byteCount, offset: offset, other: other))
      return try body()
    } catch {
      throw AuditLogError(FileError(Self.verb(change), path: path, errno: error))
    }
  }

  @discardableResult
  func performing<R>(
    _ change: LogOperation.Change, _ path: String, from other: String? = nil, byteCount: Int = 0,
    _ body: () throws(FileError) -> R
  ) throws(AuditLogError) -> R {
    do throws(Errno) {
      try willPerform(LogOperation(change: change, path: path, byteCount: byteCount, offset: 0, other: other))
    } catch {
      throw AuditLogError(FileError(Self.verb(change), path: path, errno: error))
    }
    do throws(FileError) { return try body() } catch { throw AuditLogError(error) }
  }

  private static func verb(_ change: LogOperation.Change) -> String {
    switch change {
    case .makeDirectory: "create directory"
    case .create: "create"
    case .write: "write"
    case .synchronize: "synchronize"
    case .writeBack: "write back"
    case .truncate: "cut"
    case .rename: "rename"
    case .remove: "remove"
    case .reserve: "reserve room for"
    }
  }
}
