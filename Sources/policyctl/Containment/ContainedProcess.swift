import CProcesses
import Glibc
import LinuxFiles

/// The processes of a run, as bubblewrap and the kernel tell them.
///
/// `policyctl` starts bubblewrap, which makes the namespaces, starts in them a process that is their first (number 1), and
/// waits. That one starts the application and ends with its exit code, and all others with it.
struct ContainedProcess {
  /// bubblewrap's own process, our child.
  let bubblewrap: pid_t
  /// The first process of the namespace; nil until bubblewrap has told.
  private(set) var first: pid_t?
  /// Whether the application was started: bubblewrap tells its exit code only then.
  private(set) var toldExit = false
  private var text: [UInt8] = []
  private var found: pid_t?

  init(bubblewrap: pid_t) { self.bubblewrap = bubblewrap }

  /// Reads what bubblewrap has written (`--json-status-fd`).
  /// - Returns: whether there may be more.
  mutating func readStatus(_ descriptor: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 512)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count <= 0 { return count < 0 && (errno == EAGAIN || errno == EINTR) }
      text += buffer[..<count]
      if first == nil { first = number(after: "\"child-pid\":") }
      if number(after: "\"exit-code\":") != nil { toldExit = true }
    }
  }

  private func number(after key: String) -> pid_t? {
    let key = Array(key.utf8)
    guard text.count > key.count else { return nil }
    for start in 0..<(text.count - key.count) where text[start..<(start + key.count)].elementsEqual(key) {
      let digits = text[(start + key.count)...].drop { $0 == 0x20 }.prefix { (0x30...0x39).contains($0) }
      // Its last digit may still be to come.
      if digits.endIndex == text.endIndex { return nil }
      return pid_t(String(decoding: digits, as: UTF8.self))
    }
    return nil
  }

  /// The application: the oldest child of the namespace's first process. nil before it is there.
  ///
  /// Found among all processes, since not every kernel lists a process's children; asked for only when a signal comes.
  mutating func application() -> (process: pid_t, group: pid_t, state: UInt8)? {
    guard let first else { return nil }
    if let found, let (parent, group, state, _) = inspect(found), parent == first { return (found, group, state) }
    var oldest: (process: pid_t, group: pid_t, state: UInt8, started: UInt64)?
    for name in (try? Directory.names(in: "/proc")) ?? [] {
      guard let process = pid_t(name), let (parent, group, state, started) = inspect(process), parent == first
      else { continue }
      if let oldest, (oldest.started, oldest.process) < (started, process) { continue }
      oldest = (process, group, state, started)
    }
    found = oldest?.process
    return oldest.map { ($0.process, $0.group, $0.state) }
  }

  private func inspect(_ process: pid_t) -> (parent: pid_t, group: pid_t, state: UInt8, started: UInt64)? {
    var parent = pid_t()
    var group = pid_t()
    var state = CChar()
    var started = UInt64()
    guard process_inspect(process, &parent, &group, &state, &started) else { return nil }
    return (parent, group, UInt8(bitPattern: state), started)
  }

  /// Kills what bubblewrap started before it could tell: our children, since bubblewrap itself is gone.
  func killOrphans() {
    for name in (try? Directory.names(in: "/proc")) ?? [] {
      guard let process = pid_t(name), let (parent, _, _, _) = inspect(process), parent == getpid() else { continue }
      kill(process, SIGKILL)
    }
  }
}
