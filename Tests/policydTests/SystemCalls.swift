import CommandSandbox
import Glibc
import LinuxFiles
import TestPrograms
import Testing

/// The system calls of one thread of an agent, followed from outside, and the agent killed right before one of them.
///
/// The law: what a crash leaves on the disk, or has said to others, changes only with calls that change files or talk. So to
/// be killed right before each of those, and after the last, is to be killed at every moment that differs from another.
/// `MANAGED_PREFERENCES_FULL_TESTS=1` takes the calls that change nothing as well.
enum SystemCalls {
  /// One call of a thread: the so-many-th of its name.
  struct Point: Hashable, CustomStringConvertible {
    let name: String
    let number: Int
    var description: String { "\(name) \(number)" }
  }

  static let changing = [
    "write", "writev", "pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate", "mkdir", "mkdirat", "rename",
    "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat", "chmod", "fchmod", "fchmodat", "chown",
    "fchown", "fchownat", "bind", "listen", "accept4", "sendto", "sendmsg", "recvfrom", "recvmsg", "openat",
  ]

  static var takesAll: Bool { EnvironmentVariables.nonEmpty("MANAGED_PREFERENCES_FULL_TESTS") == "1" }

  /// Not every machine has every call.
  private static func list(_ names: [String]) -> String { names.map { "?" + $0 }.joined(separator: ",") }

  /// Words that start a program and note its first thread's calls in a file.
  static func rehearsing(_ words: [String], into file: String) -> [String] {
    ["strace", "-D", "-q", "-s0", "-e", "signal=none", "-e", "trace=" + traced, "-o", file] + words
  }

  /// Words that start a program whose first thread does not survive a point.
  static func killing(_ words: [String], at point: Point) -> [String] {
    ["strace", "-D", "-o", "/dev/null"] + injection(point) + words
  }

  private static var traced: String { takesAll ? "all" : list(changing) }

  private static func injection(_ point: Point) -> [String] {
    ["-e", "trace=?\(point.name)", "-e", "inject=?\(point.name):signal=KILL:when=\(point.number)"]
  }

  /// What was noted of a process that has ended: the follower may be a moment behind.
  static func notes(in path: String) throws -> String {
    func text() throws -> String { String(decoding: try WholeFile.read(path).bytes, as: UTF8.self) }
    try wait(while: !text().hasSuffix("+++\n"))
    return try text()
  }

  /// The points that a rehearsal came by, in its order.
  static func points(in text: String) -> [Point] {
    var counts: [String: Int] = [:]
    var points: [Point] = []
    for line in text.split(separator: "\n") {
      guard let end = line.firstIndex(of: "(") else { continue }
      let name = String(line[..<end])
      counts[name, default: 0] += 1
      // What is only opened is there before.
      if !takesAll, name == "openat", !line.contains("O_CREAT") { continue }
      points.append(Point(name: name, number: counts[name] ?? 0))
    }
    return points
  }

  /// Somebody who follows one thread that runs already.
  final class Follower {
    private let program: StartedProgram
    private let notes: String

    /// - Parameters:
    ///   - point: where the thread's process is killed; nil: its calls are noted.
    ///   - notes: the file that the calls are noted in; beside it is what the follower itself says.
    init(of thread: Int32, killingAt point: Point?, notes: String) throws {
      self.notes = notes
      let options = point.map(injection) ?? ["-s0", "-e", "signal=none", "-e", "trace=" + traced]
      let words = ["strace", "-o", point == nil ? notes : "/dev/null"] + options + ["-p", "\(thread)"]
      program = try StartedProgram(words, errors: .file(notes + ".said"))
      wait(while: (try? WholeFile.read(notes + ".said").bytes)?.isEmpty != false)
    }

    /// Lets the thread go, if it is there still.
    func leave() -> String {
      program.signal(SIGINT)
      program.wait()
      return (try? WholeFile.read(notes).bytes).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
  }

  /// The agent's threads; the first one has the process's number.
  static func threads(of process: Int32) throws -> [Int32] {
    try Directory.names(in: "/proc/\(process)/task").compactMap { Int32($0) }
  }

  static let canBeFollowed: Bool = {
    guard let sandbox = try? Sandbox(named: "policyd") else { return false }
    let result = sandbox.execute(["strace", "-D", "-o", "/dev/null", "-e", "trace=?write", "true"])
    if result.exitCode != 0 {
      print("SKIPPED: no strace here, or it may not follow a program, so the agent is not killed at each system call")
    }
    return result.exitCode == 0
  }()
}
