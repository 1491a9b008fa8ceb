public import LinuxFiles

/// Where an audit log is, whose files count, and how large they become.
///
/// The log's folder holds the segments (`audit-000000000001.jsonl`, named by their first record's number), beside each the
/// personal parts of its records (`audit-000000000001.personal`), and what was cut off after a crash
/// (`audit-000000000001.torn`). The anchor lies elsewhere, with stricter permissions.
public struct AuditLogPlace: Sendable {
  /// The folder of the segments; 0750.
  public var directory: String
  /// The anchor's file; 0600.
  public var anchor: String
  /// The name that the host is enrolled under; nil where it is not known.
  public var host: String?
  /// The group that may read the segments; nil for root alone.
  public var auditors: UInt32?
  /// Whether files of this user count as written by us.
  public var isTrustedOwner: @Sendable (UInt32) -> Bool
  public var limits: AuditLogLimits

  public init(
    directory: String, anchor: String, host: String?, auditors: UInt32? = nil, limits: AuditLogLimits = .init(),
    isTrustedOwner: @escaping @Sendable (UInt32) -> Bool
  ) {
    self.directory = directory
    self.anchor = anchor
    self.host = host
    self.auditors = auditors
    self.limits = limits
    self.isTrustedOwner = isTrustedOwner
  }

  /// Where an uninstallation leaves the anchor: with the log, so that both can be taken into use again together.
  public var anchorLeftBehind: String { FilePath.join(directory, "anchor") }

  /// The lock of the one writer, in the log's folder, where only root can hold it.
  var lock: String { FilePath.join(directory, "lock") }
}

/// How large segments and records become, and how much of the disk is kept for administrative records.
public struct AuditLogLimits: Sendable, Hashable {
  /// A segment that has this many bytes gets no more records.
  public var segmentBytes: Int
  /// A segment whose first record is this many seconds old gets no more records.
  public var segmentSeconds: Double
  /// Blocks that stay taken behind a segment's end, in bytes: administrative records go there when the disk is full.
  public var reserveBytes: Int
  /// A text in a record's fields that is longer is cut, in bytes of UTF-8; its length and digest are kept.
  public var textBytes: Int

  public init(
    segmentBytes: Int = 8 << 20, segmentSeconds: Double = 30 * 86_400, reserveBytes: Int = 256 << 10,
    textBytes: Int = 1024
  ) {
    self.segmentBytes = segmentBytes
    self.segmentSeconds = segmentSeconds
    self.reserveBytes = reserveBytes
    self.textBytes = textBytes
  }

  /// No line of a log is longer, in bytes; what is longer was not written by us.
  static let lineBytes = 1 << 20
  /// The fields of a record that take more as they are written are left out, in bytes: programs tell who did what, and a user
  /// must not fill the disk with a few packets.
  static let fieldsBytes = 32 << 10
}

/// Why a log could not be written or read.
public struct AuditLogError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    /// A system call failed.
    case file(FileError)
    /// The folder or a file of the log belongs to the wrong user, can be written by others, or is a link.
    case notTrustworthy(String)
    /// There is no room on the disk, and none left in the reserve.
    case full
    /// Another writer has held the lock for too long.
    case busy
  }

  public let reason: Reason
  public let path: String

  public init(_ reason: Reason, path: String) {
    self.reason = reason
    self.path = path
  }

  init(_ error: FileError) {
    switch error.errno {
    case .noSpace, .quotaExceeded: self.init(.full, path: error.path)
    case .timedOut: self.init(.busy, path: error.path)
    default: self.init(.file(error), path: error.path)
    }
  }

  public var description: String {
    switch reason {
    case .file(let error): error.description
    case .notTrustworthy(let why): "\(path): \(why)"
    case .full: "\(path): there is no room left on the disk, nor in the reserve"
    case .busy: "\(path): another process has been writing for too long"
    }
  }
}
