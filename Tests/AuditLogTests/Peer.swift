import Glibc
import LinuxFiles

/// `AuditPeer` as a process.
struct Peer {
  let process: pid_t
  let output: String

  static let executable: String = {
    let runner = SymbolicLink.target(of: "/proc/self/exe") ?? CommandLine.arguments[0]
    return FilePath.parent(of: runner) + "/AuditPeer"
  }()

  /// Starts one that works on a log.
  /// - Parameter runner: what runs it, with its arguments; none: nobody but the kernel.
  init(_ log: TestLog, under runner: [String] = [], _ words: [String]) throws {
    output = log.path + "/out-\(UInt64.random(in: .min ... .max))"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let command = runner + [Self.executable, log.directory, log.anchor] + words
    var arguments = command.map { strdup($0) } + [nil]
    defer { for pointer in arguments { free(pointer) } }
    var child = pid_t()
    let error = posix_spawnp(&child, command[0], &actions, nil, &arguments, environ)
    if error != 0 { throw Errno(rawValue: error) }
    process = child
  }

  init(_ log: TestLog, _ words: String...) throws { try self.init(log, words) }

  /// Waits for its end.
  /// - Returns: its exit status, or less than 0 for a signal.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
  }

  /// The numbers that it printed: what it was told is durable.
  func numbers() throws -> [UInt64] {
    String(decoding: try WholeFile.read(output).bytes, as: UTF8.self).split(separator: "\n").compactMap { UInt64($0) }
  }
}
