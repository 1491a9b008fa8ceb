import Glibc

/// Whose the events of a spool are: one installation, on one host.
///
/// The law: a home may be shared, by hosts through a file server and by the installations of one host. So each has a file of
/// its own in the spool's folder, under a lock of its own; each line in it says again whose it is; and an agent takes in
/// what is of its own host and installation, and leaves alone everything else. The file's name carries a short digest of
/// the root, which tells files apart; the line carries the root itself, which decides.
public struct SpoolOrigin: Hashable, Sendable {
  /// What stands for the machine: 32 hexadecimal digits (`HostIdentifier`).
  public let host: String
  /// Of the installation, with links resolved; empty for the system's.
  public let root: String

  /// - Parameter root: as whoever asks names it.
  public init(host: String, root: String) {
    self.host = host
    self.root = root.isEmpty ? "" : Self.resolved(root)
  }

  /// As the lines of a spool say it: the host, and behind it the root.
  public var text: String { host + root }

  /// What the names of its files begin with.
  public var stem: String {
    guard !root.isEmpty else { return "\(SpoolName.old)-\(host)" }
    // FNV-1a.
    let digest = root.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let digits = String(digest, radix: 16)
    return "\(SpoolName.old)-\(host)-\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)"
  }

  /// The same for every name that a folder has; the name itself where it can't be looked up.
  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// The names of a spool's files.
public struct SpoolName: Hashable, Sendable {
  /// What names began with before a spool said whose it is.
  public static let old = "events"

  public let stem: String
  public init(stem: String) { self.stem = stem }

  public var file: String { stem + ".jsonl" }
  public var lock: String { stem + ".lock" }
  /// The file while an agent takes it in.
  public var taken: String { stem + ".taken.jsonl" }
  /// While it is taken in for the second time, since the agent was ended during the first.
  public var retaken: String { stem + ".retaken.jsonl" }
  /// What was not taken in: the first, the second, and so on.
  public func aside(_ number: Int) -> String { stem + (number == 1 ? ".aside.jsonl" : ".aside-\(number).jsonl") }
}
