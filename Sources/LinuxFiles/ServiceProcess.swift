import CSockets
import Glibc

/// The signals that stop a service or make it look anew, as a descriptor.
///
/// They are blocked for this thread and for those that it makes afterwards: to be opened before the first.
public struct ServiceSignals: ~Copyable {
  public enum Signal: Hashable, Sendable {
    /// SIGTERM or SIGINT.
    case stop
    /// SIGHUP.
    case lookAnew
  }

  /// For `poll`.
  public let descriptor: Int32

  public init() throws(Errno) {
    descriptor = signals_open()
    if descriptor < 0 { throw .current }
  }

  deinit { close(descriptor) }

  /// The next signal; nil for none.
  public func next() -> Signal? {
    switch signals_next(descriptor) {
    case 0: nil
    case SIGHUP: .lookAnew
    default: .stop
    }
  }
}

/// Wakes a thread that waits in `poll`.
public final class Wakeup: Sendable {
  /// Readable from `raise` to `clear`.
  public let descriptor: Int32

  public init() throws(Errno) {
    descriptor = wakeup_open()
    if descriptor < 0 { throw .current }
  }

  deinit { close(descriptor) }

  public func raise() { wakeup_raise(descriptor) }
  public func clear() { wakeup_clear(descriptor) }
}

/// What a service manager and a service say to each other (systemd's `sd_listen_fds` and `sd_notify`).
public enum ServiceManager {
  /// The descriptors that were handed over to this very process, 3 and following; empty where none were.
  public static func handedOver() -> Range<Int32> {
    guard let process = EnvironmentVariables.nonEmpty("LISTEN_PID"), Int32(process) == getpid(),
      let count = EnvironmentVariables.nonEmpty("LISTEN_FDS").flatMap({ Int32($0) }), (1...1024).contains(count)
    else { return 3..<3 }
    return 3..<(3 + count)
  }

  /// Says `READY=1`, `STOPPING=1` … to the manager, if there is one.
  public static func notify(_ text: String) {
    guard let path = EnvironmentVariables.nonEmpty("NOTIFY_SOCKET") else { return }
    _ = socket_notify(path, text)
  }
}

/// Rights and limits of this process.
public enum ProcessLimits {
  /// Allows as many open files as this process may have at most.
  /// - Returns: that number.
  public static func allowAllOpenFiles() -> Int { Int(clamping: files_allow_all()) }

  /// Runs `body` with the access to files that another user has: where root has no business of its own.
  ///
  /// It concerns the calling thread alone. Supplementary groups stay: there are those of this process.
  /// - Returns: nil where the kernel refuses; `body` did not run.
  public static func withFiles<R>(ofUser user: UInt32, group: UInt32, _ body: () -> R) -> R? {
    let own = (user: geteuid(), group: getegid())
    if user == own.user && group == own.group { return body() }
    defer { _ = files_as_user(own.user, own.group) }
    guard files_as_user(user, group) else { return nil }
    return body()
  }
}

extension WallClock {
  /// Whether the kernel's clock is said to be synchronised with another.
  public static func isSynchronized() -> Bool { clock_is_synchronized() }

  /// The random name of the present boot; nil where /proc is not there.
  public static func bootIdentifier() -> String? {
    guard let (bytes, _) = try? WholeFile.read("/proc/sys/kernel/random/boot_id", limit: 64) else { return nil }
    let text = bytes.prefix { $0 > UInt8(ascii: " ") }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }
}
