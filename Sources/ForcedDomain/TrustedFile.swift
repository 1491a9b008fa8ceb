public import LinuxFiles

/// Something about an installation that is not as it must be. Equal faults are one fault: it is reported once.
public struct DomainFault: Error, Sendable, Hashable, CustomStringConvertible {
  public let path: String
  public let message: String

  public init(path: String, message: String) {
    self.path = path
    self.message = message
  }

  public var description: String { "\(path): \(message)" }
}

/// Reads a file that binds only if nobody but root could have put it there.
///
/// The directory is opened first and the file below it, neither through a symbolic link, and what is checked are the
/// very files that were opened: so nothing can be exchanged between check and use.
public enum TrustedFile {
  public enum Failure: Error {
    /// "No such file", of the file itself or of its directory.
    case missing
    /// The process may not read it.
    case denied
    case fault(DomainFault)
  }

  /// - Parameter limit: bytes; a larger file is a fault.
  public static func read(
    _ name: String, in directory: String, of installation: Installation, limit: Int
  ) throws(Failure) -> (bytes: [UInt8], metadata: FileMetadata) {
    let file = try opened(name, in: directory, of: installation, limit: limit)
    do throws(Errno) {
      return (try file.descriptor.readToEnd(limit: limit), file.metadata)
    } catch {
      throw .fault(DomainFault(path: FilePath.join(directory, name), message: "can't be read: \(error)"))
    }
  }

  /// A file that binds, open, with what was checked of it.
  struct Opened: ~Copyable {
    let descriptor: FileDescriptor
    let metadata: FileMetadata
  }

  static func opened(
    _ name: String, in directory: String, of installation: Installation, limit: Int
  ) throws(Failure) -> Opened {
    let path = FilePath.join(directory, name)
    let folder = try open(directory) { () throws(FileError) in
      try FileDescriptor.open(directory, [.directory, .noFollow])
    }
    try check(try metadata(of: folder, directory), directory, installation, "directory")
    // Not blocking: a pipe in the file's place must not stop an application.
    let file = try open(path) { () throws(FileError) in try folder.open(at: name, [.noFollow, .nonBlocking]) }
    let metadata = try metadata(of: file, path)
    if let other = metadata.otherThanFile {
      throw .fault(DomainFault(path: path, message: "is \(other), not a file"))
    }
    try check(metadata, path, installation, "file")
    guard metadata.size <= Int64(limit) else {
      throw .fault(DomainFault(path: path, message: "has \(metadata.size) bytes; the limit is \(limit)"))
    }
    return Opened(descriptor: file, metadata: metadata)
  }

  private static func open(
    _ path: String, _ body: () throws(FileError) -> FileDescriptor
  ) throws(Failure) -> FileDescriptor {
    do throws(FileError) {
      return try body()
    } catch {
      switch error.errno {
      case .noSuchFile: throw .missing
      case .permissionDenied: throw .denied
      case .tooManySymbolicLinks, .notDirectory:
        throw .fault(DomainFault(path: path, message: "is a symbolic link, or no directory"))
      case .noDevice: throw .fault(DomainFault(path: path, message: "is a socket or a device, not a file"))
      default: throw .fault(DomainFault(path: path, message: "can't be opened: \(error.errno)"))
      }
    }
  }

  private static func metadata(
    of file: borrowing FileDescriptor, _ path: String
  ) throws(Failure) -> FileMetadata {
    do throws(Errno) {
      return try file.metadata()
    } catch {
      throw .fault(DomainFault(path: path, message: "can't be inspected: \(error)"))
    }
  }

  private static func check(
    _ metadata: FileMetadata, _ path: String, _ installation: Installation, _ what: String
  ) throws(Failure) {
    guard installation.isTrustedOwner(metadata.userID) else {
      throw .fault(DomainFault(path: path, message: "the \(what) belongs to user \(metadata.userID), not to root"))
    }
    guard !metadata.isWritableByGroupOrOthers else {
      throw .fault(DomainFault(path: path, message: "the \(what) can be written by others than root"))
    }
  }
}
