import CTestPrograms
import Glibc
public import LinuxFiles
import Synchronization

/// A program that a test started: the only way in which tests start one (`GuardTests` holds that).
///
/// It has the descriptors named here and none that other tests have open at the time: a server that kept the writing end of a
/// stranger's pipe would keep that stranger from ever seeing the end of its input. It ends: one that is let go is killed, and
/// so is one that is waited for longer than `limit`, which the exit code shows.
public final class StartedProgram: Sendable {
  public enum Input: Sendable {
    case nothing
    case file(String)
    /// What `type` sends, until `endInput`.
    case typed
  }

  public enum Output: Sendable {
    case nothing
    /// Printed by the tests if it ends badly. Not that of the tests itself: what a program leaves behind could keep that open, and
    /// whoever reads what the tests print would wait for its end.
    case kept
    /// Made or emptied first.
    case file(String)
    /// Made if it is not there, and added to.
    case appended(String)
    /// What `line` and `printed` give.
    case read
  }

  /// How long anything is waited for, in seconds: many times what the slowest program takes, and no reason to wait for ever.
  public static let limit: Int32 = getenv("MANAGED_PREFERENCES_FULL_TESTS") == nil ? 300 : 4 * 3600

  public let process: Int32
  private let name: String
  private let streams: Mutex<Streams>
  /// Its exit code, once it was waited for.
  private let exitCode = Mutex<Int32?>(nil)

  private struct Streams {
    var input: Int32
    var output: Int32
    /// An anonymous file with what it says on standard error.
    var kept: Int32
    var printed: [UInt8] = []
    /// How much of that `line` has given.
    var given = 0
  }

  /// - Parameters:
  ///   - words: the program and its arguments; a program without a slash is looked for in the PATH that it gets.
  ///   - environment: all that it gets; nil is the environment of the tests.
  ///   - folder: where it works; nil is where the tests do.
  ///   - errors: its standard error; `.read` makes it one stream with what else is read.
  ///   - descriptor: what it gets as its descriptor 3, if anything.
  /// - Throws: where there is no such program, or a file can't be opened.
  public init(
    _ words: [String], environment: [String: String]? = nil, in folder: String? = nil, input: Input = .nothing,
    output: Output = .nothing, errors: Output = .kept, handing descriptor: Int32? = nil
  ) throws(Errno) {
    name = words.joined(separator: " ")
    // Ours, closed here once the program has its own.
    var own: [Int32] = []
    var (typing, reading, kept): (Int32, Int32, Int32) = (-1, -1, -1)
    defer { for descriptor in own { close(descriptor) } }
    func open(_ path: String, _ flags: Int32) throws(Errno) -> Int32 {
      let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw Errno.current }
      own.append(descriptor)
      return descriptor
    }
    func channel() throws(Errno) -> (ours: Int32, theirs: Int32) {
      var ends: [Int32] = [-1, -1]
      guard test_program_channel(&ends) == 0 else { throw Errno.current }
      own.append(ends[1])
      return (ends[0], ends[1])
    }
    var outcome: Result<pid_t, Errno> = .failure(Errno(rawValue: EINVAL))
    do throws(Errno) {
      var descriptors: [Int32] = []
      switch input {
      case .nothing: descriptors.append(try open("/dev/null", O_RDONLY))
      case .file(let path): descriptors.append(try open(path, O_RDONLY))
      case .typed:
        let ends = try channel()
        typing = ends.ours
        descriptors.append(ends.theirs)
      }
      var read: Int32?
      for stream in [output, errors] {
        switch stream {
        case .nothing: descriptors.append(try open("/dev/null", O_WRONLY))
        case .kept:
          if kept < 0 { kept = test_program_kept() }
          guard kept >= 0 else { throw Errno.current }
          descriptors.append(kept)
        case .file(let path): descriptors.append(try open(path, O_WRONLY | O_CREAT | O_TRUNC))
        case .appended(let path): descriptors.append(try open(path, O_WRONLY | O_CREAT | O_APPEND))
        case .read:
          if read == nil {
            let ends = try channel()
            reading = ends.ours
            read = ends.theirs
          }
          descriptors.append(read ?? -1)
        }
      }
      descriptors.append(descriptor ?? -1)
      outcome = .success(try Self.start(words, environment, folder, descriptors))
    } catch {
      outcome = .failure(error)
    }
    switch outcome {
    case .success(let child):
      process = child
      streams = Mutex(Streams(input: typing, output: reading, kept: kept))
    case .failure(let error):
      for descriptor in [typing, reading, kept] where descriptor >= 0 { close(descriptor) }
      throw error
    }
  }

  private static func start(
    _ words: [String], _ environment: [String: String]?, _ folder: String?, _ descriptors: [Int32]
  ) throws(Errno) -> pid_t {
    let path = environment.map { $0["PATH"] ?? "/usr/bin:/bin" } ?? getenv("PATH").map { String(cString: $0) } ?? ""
    var program = words[0]
    if !program.utf8.contains(UInt8(ascii: "/")) {
      let places = path.split(separator: ":").map { "\($0)/\(words[0])" }
      guard let found = places.first(where: { access($0, X_OK) == 0 }) else { throw Errno(rawValue: ENOENT) }
      program = found
    }
    var arguments = words.map { strdup($0) } + [nil]
    var variables = (environment ?? [:]).sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }
    var child = pid_t()
    let error =
      environment == nil
      ? test_program_start(&child, program, &arguments, environ, folder, descriptors)
      : test_program_start(&child, program, &arguments, &variables, folder, descriptors)
    guard error == 0 else { throw Errno(rawValue: error) }
    return child
  }

  deinit {
    if exitCode.withLock({ $0 }) == nil {
      kill(process, SIGKILL)
      wait()
    }
    streams.withLock { streams in
      for descriptor in [streams.input, streams.output, streams.kept] where descriptor >= 0 { close(descriptor) }
    }
  }

  // MARK: Its end

  public func signal(_ number: Int32) { kill(process, number) }

  /// Waits for its end; kills it where that does not come.
  /// - Returns: its exit code; minus the number of the signal that ended it.
  @discardableResult
  public func wait() -> Int32 {
    exitCode.withLock { exitCode in
      if let exitCode { return exitCode }
      var status: Int32 = 0
      if test_program_wait(process, Self.limit * 1000, &status) == 0 {
        print("killed, since it does not end: \(name)")
        kill(process, SIGKILL)
        _ = test_program_wait(process, -1, &status)
      }
      let code = status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
      let said = streams.withLock { Self.contents(of: $0.kept) }
      if code != 0, !said.isEmpty { print("\(name): \(code)\n\(said)") }
      exitCode = code
      return code
    }
  }

  private static func contents(of file: Int32) -> String {
    guard file >= 0 else { return "" }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    return String(decoding: bytes[..<max(0, pread(file, &bytes, bytes.count, 0))], as: UTF8.self)
  }

  /// Waits for its end on no thread of Swift's own: there are as few as processors, and other tests need them.
  public func end() async -> Int32 {
    await withCheckedContinuation { ended in
      if !BackgroundThread.start({ ended.resume(returning: self.wait()) }) { ended.resume(returning: wait()) }
    }
  }

  /// One that ended counts, whether it was waited for or not.
  public var isRunning: Bool {
    exitCode.withLock { exitCode in
      guard exitCode == nil else { return false }
      var information = siginfo_t()
      return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0 && information.si_signo == 0
    }
  }

  // MARK: What it is told, and says

  public func type(_ text: String) {
    let bytes = Array(text.utf8)
    streams.withLock { streams in
      var done = 0
      while done < bytes.count {
        let count = bytes[done...].withUnsafeBytes {
          send(streams.input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EINTR { continue }
        // One that ended reads no more.
        if count <= 0 { return }
        done += count
      }
    }
  }

  public func endInput() {
    streams.withLock { streams in
      if streams.input >= 0 { close(streams.input) }
      streams.input = -1
    }
  }

  /// Its next line, without the end of the line; nil at the end of its output, and where none comes for long.
  public func line() -> String? {
    streams.withLock { streams in
      while true {
        let rest = streams.printed[streams.given...]
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          streams.given = end + 1
          return line
        }
        if !Self.receive(&streams, milliseconds: Self.limit * 1000) { return nil }
      }
    }
  }

  /// All that it printed until now.
  public var printed: String {
    streams.withLock { streams in
      while Self.receive(&streams, milliseconds: 0) {}
      return String(decoding: streams.printed, as: UTF8.self)
    }
  }

  public var lines: [String] { printed.split(separator: "\n").map(String.init) }

  /// All that it printed, once there is no more.
  public func all() -> String {
    streams.withLock { streams in
      while Self.receive(&streams, milliseconds: Self.limit * 1000) {}
      return String(decoding: streams.printed, as: UTF8.self)
    }
  }

  /// - Returns: false at the end, and where nothing comes in this time.
  private static func receive(_ streams: inout Streams, milliseconds: Int32) -> Bool {
    var waiting = pollfd(fd: streams.output, events: Int16(POLLIN), revents: 0)
    while true {
      let ready = poll(&waiting, 1, milliseconds)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return false }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(streams.output, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      streams.printed += bytes[..<count]
      return true
    }
  }
}
