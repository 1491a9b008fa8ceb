public import LinuxFiles

/// Something about the stores of a search list that is not as it should be, as long as it lasts.
public struct PreferencesFault: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Kind: String, Sendable, Hashable {
    /// The forced domain of this installed host can't be read, and no older generation is there: every key counts as
    /// forced, and only registered values answer.
    case policyUnavailable = "policy-unavailable"
    /// A generation of the forced domain can't be read; an older one stays in force.
    case policyDamaged = "policy-damaged"
    /// A preference file is there but can't be read.
    case unreadable
    /// A preference file for any user is passed over: somebody else than root could have put it there.
    case untrusted
    /// A preference file was read whole and is no property list.
    case damaged
    /// A preference file can't be written; a search list keeps the changes in memory.
    case unwritable
    /// Another process has kept a preference file locked for as long as was waited.
    case busy
    /// A damaged file was moved aside to make room for a sound one.
    case movedAside = "moved-aside"
    /// The synced store of keys that roam can't be opened, or does not take a value; it stays on this machine.
    case notRoaming = "not-roaming"
  }

  public let kind: Kind
  public let path: String
  public let message: String
  /// What the system said, where it was a system call that failed.
  public let errno: Errno?
  /// Whether a directory, a pipe, a socket or a device is in the file's place.
  public let isNoFile: Bool

  public init(_ kind: Kind, path: String, message: String, errno: Errno? = nil, isNoFile: Bool = false) {
    self.kind = kind
    self.path = path
    self.message = message
    self.errno = errno
    self.isNoFile = isNoFile
  }

  init(_ kind: Kind, path: String, _ error: FileError) {
    self.init(kind, path: path, message: "\(error)", errno: error.errno, isNoFile: error.found != nil)
  }

  public var description: String { "\(path): \(message)" }
}
