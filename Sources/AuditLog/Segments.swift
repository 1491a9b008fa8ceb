import LinuxFiles

/// The names of a log's files.
struct SegmentName: Hashable, Comparable {
  /// The number of the first record, which the name gives.
  let first: UInt64

  static let prefix = "audit-"
  static let suffix = ".jsonl"
  static let personalSuffix = ".personal"

  /// Twelve digits at least, so that listings are in order.
  var stem: String {
    let digits = String(first)
    return Self.prefix + String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
  }

  var segment: String { stem + Self.suffix }
  var personal: String { stem + Self.personalSuffix }
  var torn: String { stem + ".torn" }
  /// What a crash cut off and no record tells of yet.
  var tornUntold: String { stem + ".torn-untold" }

  init(first: UInt64) { self.first = first }

  /// nil for every other name.
  init?(_ name: String) {
    guard name.hasPrefix(Self.prefix), name.hasSuffix(Self.suffix) else { return nil }
    let digits = name.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)
    guard let first = UInt64(digits), (1...LogLine.greatestSequence).contains(first),
      SegmentName(first: first).segment == name
    else { return nil }
    self.first = first
  }

  static func < (a: Self, b: Self) -> Bool { a.first < b.first }
}

extension AuditLogPlace {
  func path(_ name: String) -> String { FilePath.join(directory, name) }

  /// The segments that are there, by their numbers; none where there is no folder.
  func segments() throws(AuditLogError) -> [SegmentName] { Self.segments(among: try names()) }

  static func segments(among names: [String]) -> [SegmentName] { names.compactMap { SegmentName($0) }.sorted() }

  /// The names of all files in the log's folder; none where there is no folder.
  func names() throws(AuditLogError) -> [String] {
    do throws(FileError) { return try Directory.names(in: directory) } catch {
      if error.errno == .noSuchFile { return [] }
      throw AuditLogError(error)
    }
  }

  /// Opens a file of the log, which nobody else may have written.
  func open(_ path: String, _ flags: OpenFlags) throws(AuditLogError) -> FileDescriptor {
    let file = try openUnchecked(path, flags)
    let metadata: FileMetadata
    do throws(Errno) { metadata = try file.metadata() } catch {
      throw AuditLogError(FileError("inspect", path: path, errno: error))
    }
    try check(metadata, path)
    if let other = metadata.otherThanFile {
      throw AuditLogError(.notTrustworthy("it is \(other), no file"), path: path)
    }
    return file
  }

  private func openUnchecked(_ path: String, _ flags: OpenFlags) throws(AuditLogError) -> FileDescriptor {
    do throws(FileError) {
      return try FileDescriptor.open(path, flags.union([.noFollow, .nonBlocking]), mode: 0o640)
    } catch {
      if error.errno == .tooManySymbolicLinks {
        throw AuditLogError(.notTrustworthy("it is a symbolic link; a plain file is needed"), path: path)
      }
      throw AuditLogError(error)
    }
  }

  func checkDirectory() throws(AuditLogError) {
    let metadata: FileMetadata
    do throws(FileError) { metadata = try FileMetadata.of(directory, followingLinks: false) } catch {
      throw AuditLogError(error)
    }
    if !metadata.isDirectory {
      throw AuditLogError(.notTrustworthy("it is no folder"), path: directory)
    }
    try check(metadata, directory)
  }

  private func check(_ metadata: FileMetadata, _ path: String) throws(AuditLogError) {
    if !isTrustedOwner(metadata.userID) {
      throw AuditLogError(.notTrustworthy("it belongs to user \(metadata.userID); it must belong to root"), path: path)
    }
    if metadata.isWritableByGroupOrOthers {
      throw AuditLogError(
        .notTrustworthy("others may write it (mode \(String(metadata.permissions, radix: 8)))"), path: path)
    }
  }
}
