import Glibc
public import LinuxFiles
import PropertyList
import Synchronization

/// Keeps events in one bounded file of the user until something collects them.
///
/// The file is `events-ORIGIN.jsonl` (`SpoolOrigin`) in `$XDG_STATE_HOME/managed-preferences` (else `~/.local/state/…`), mode
/// 0600, one event a line. It grows to `Limits.bytes` or `Limits.events`, whichever comes first; later events are counted in its last line
/// (`events.dropped`). Whoever collects removes or truncates the file under `events-ORIGIN.lock`.
///
/// `send` only appends to a queue in memory (`Limits.queue` events; what does not fit is counted); a background thread,
/// started by the first event, writes. A normal exit writes what is queued, waiting at most half a second for the lock.
/// A forked child does not write its parent's events. A process of root never writes below a directory that belongs to
/// somebody else: it takes root's own home instead.
public final class AuditSpool: AuditEventSink, QueuedSink {
  public struct Limits: Sendable, Hashable {
    public var bytes: Int
    public var events: Int
    public var queue: Int

    public init(bytes: Int = 1 << 20, events: Int = 4096, queue: Int = 512) {
      self.bytes = bytes
      self.events = events
      self.queue = queue
    }
  }

  public let limits: Limits
  private let origin: SpoolOrigin
  private let stated: String?
  private let home: String?
  /// Events that reached no file, since the process began.
  private let lost = Atomic<UInt64>(0)
  private let complained = Atomic<Bool>(false)

  /// - Parameters:
  ///   - origin: the host and the installation that the events are about.
  ///   - directory: nil means the user's, as found when the first event is written.
  ///   - home: whose `.local/state` comes before the user's, if any does.
  public init(of origin: SpoolOrigin, directory: String? = nil, home: String? = nil, limits: Limits = Limits()) {
    self.origin = origin
    self.home = home
    stated = directory
    self.limits = limits
  }

  public var dropped: UInt64 { lost.load(ordering: .relaxed) }

  public func send(_ event: AuditEvent) {
    if !SpoolQueue.shared.enqueue(event, for: self) { lost.add(1, ordering: .relaxed) }
  }

  /// Writes what is queued on the calling thread, and waits for what the background thread is writing.
  public func flush() { SpoolQueue.shared.drain() }

  var queueLimit: Int { limits.queue }

  /// Appends events to the file; what does not reach it is counted.
  func write(_ events: [AuditEvent], patience: Double) {
    do throws(FileError) {
      let directory = if let stated { stated } else { try Self.userDirectory(home: home) }
      try SpoolFile(directory: directory, origin: origin, limits: limits).append(events, lockTimeout: patience)
    } catch {
      lost.add(UInt64(events.count), ordering: .relaxed)
      if !complained.exchange(true, ordering: .relaxed) {
        StandardStreams.writeErrorLine("managed-preferences: audit events are lost: \(error)")
      }
    }
  }

  /// The user's directory for state, made where it is missing.
  /// - Parameter other: a home that comes first.
  public static func userDirectory(home other: String? = nil) throws(FileError) -> String {
    var candidates: [String] = []
    if let other { candidates.append(FilePath.join(other, ".local/state")) }
    if let state = EnvironmentVariables.nonEmpty("XDG_STATE_HOME"), state.hasPrefix("/") { candidates.append(state) }
    if let home = EnvironmentVariables.nonEmpty("HOME"), home.hasPrefix("/") {
      candidates.append(FilePath.join(home, ".local/state"))
    }
    do throws(Errno) {
      if let account = try UserDatabase.user(id: ProcessIdentity.effectiveUserID) {
        candidates.append(FilePath.join(account.homeDirectory, ".local/state"))
      }
    } catch {
      if candidates.isEmpty { throw FileError("find the home directory of", path: "the user", errno: error) }
    }
    for candidate in candidates where SpoolFile.mayWrite(below: candidate) {
      return FilePath.join(candidate, "managed-preferences")
    }
    throw FileError("write events below", path: candidates.first ?? "~", errno: .notPermitted)
  }
}
