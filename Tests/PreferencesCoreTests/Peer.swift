import Glibc
import LinuxFiles
import Testing

/// A `PreferencesPeer` at work: another process, spoken to by lines. Killed when it is let go.
final class Peer: @unchecked Sendable {
  let process: pid_t
  /// Its standard output, for `poll`.
  let output: Int32
  private var input: Int32
  private var unread: [UInt8] = []
  private var status: Int32?

  /// Built beside the tests.
  static let program = FilePath.join(
    FilePath.parent(of: ProcessIdentity.executablePath() ?? ""), "PreferencesPeer")

  convenience init(_ verb: String, _ fixture: Fixture, _ arguments: String...) {
    self.init([Self.program, verb, fixture.directory] + arguments)
  }

  init(_ words: [String]) {
    let (down, up) = (Self.makePipe(), Self.makePipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, down.read, 0)
    posix_spawn_file_actions_adddup2(&actions, up.write, 1)
    var texts: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var process: pid_t = 0
    // Whatever the program that runs the tests does with signals.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let code = posix_spawn(&process, words[0], &actions, &attributes, &texts, environ)
    precondition(code == 0, "cannot run \(words[0]): \(Errno(rawValue: code))")
    for text in texts { free(text) }
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
    close(down.read)
    close(up.write)
    self.process = process
    input = down.write
    output = up.read
  }

  deinit {
    if status == nil {
      kill(process, SIGKILL)
      _ = wait()
    }
    close(output)
    if input >= 0 { close(input) }
  }

  /// Closed in every other child from the beginning, which `pipe` does not offer.
  private static func makePipe() -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    precondition(socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (ends[0], ends[1])
  }

  /// Its next line; nil at the end of its output, and after many seconds.
  func line() -> String? {
    var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      if poll(&waiting, 1, 60_000) <= 0 { return nil }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &bytes, bytes.count)
      if count <= 0 { return nil }
      unread += bytes[..<count]
    }
  }

  func endInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  enum End: Equatable {
    case code(Int32)
    case signal(Int32)
  }

  /// How it ended; waits for it.
  func wait() -> End {
    var status = self.status ?? 0
    if self.status == nil {
      while waitpid(process, &status, 0) < 0 && errno == EINTR {}
      self.status = status
    }
    return status & 0x7F == 0 ? .code((status >> 8) & 0xFF) : .signal(status & 0x7F)
  }
}
