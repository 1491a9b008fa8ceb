import Glibc
import LinuxFiles
import TestPrograms
import Testing

/// `AuditPeer` as a process.
struct Peer {
  let program: StartedProgram
  private let output: String

  static let executable = FilePath.parent(of: SymbolicLink.target(of: "/proc/self/exe") ?? "") + "/AuditPeer"

  /// Starts one that works on a log.
  /// - Parameter runner: what runs it, with its arguments; none: nobody but the kernel.
  init(_ log: TestLog, under runner: [String] = [], _ words: [String]) throws {
    output = log.path + "/out-\(UInt64.random(in: .min ... .max))"
    program = try StartedProgram(
      runner + [Self.executable, log.directory, log.anchor] + words, output: .file(output), errors: .nothing)
  }

  init(_ log: TestLog, _ words: String...) throws { try self.init(log, words) }

  /// Waits for its end.
  /// - Returns: its exit code; minus the number of the signal that ended it.
  func wait() -> Int32 { program.wait() }

  /// Gives it a moment, and fails the test where it has ended.
  func goesOn() throws {
    try #require(program.isRunning)
    usleep(5000)
  }

  /// The numbers that it printed: what it was told is durable.
  func numbers() throws -> [UInt64] {
    String(decoding: try WholeFile.read(output).bytes, as: UTF8.self).split(separator: "\n").compactMap { UInt64($0) }
  }
}
