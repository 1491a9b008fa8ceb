import Glibc
import LinuxFiles
import Testing

/// Standard error is where a library speaks in somebody else's program: it may be anything, and what is said may hold anything.
@Suite struct StandardStreamsTests {
  @Test func aLineIsEscapedWhole() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StandardStreams.writeErrorLine("no host \"\u{1b}[2J\u{9b}x\": line\nnext\u{202e}")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text == #"no host "\u{1b}[2J\u{9b}x": line\nnext\u{202e}"# + "\n")
  }

  /// `2>/dev/full`, `2>&-`, and a pipe whose reader went away.
  @Test func noMessageEndsTheProgram() async {
    await #expect(processExitsWith: .success) {
      let full = open("/dev/full", O_WRONLY)
      dup2(full, STDERR_FILENO)
      StandardStreams.writeErrorLine("a message")
      var ends: [Int32] = [-1, -1]
      signal(SIGPIPE, SIG_DFL)
      guard full >= 0, pipe(&ends) == 0, close(ends[0]) == 0 else { exit(1) }
      dup2(ends[1], STDERR_FILENO)
      StandardStreams.writeErrorLine("a message")
      // None is left for the program, whose own mask is as before.
      var waiting = sigset_t()
      var mask = sigset_t()
      sigpending(&waiting)
      pthread_sigmask(SIG_SETMASK, nil, &mask)
      if sigismember(&waiting, SIGPIPE) != 0 || sigismember(&mask, SIGPIPE) != 0 { exit(2) }
      close(STDERR_FILENO)
      StandardStreams.writeErrorLine("a message")
    }
  }

  /// A program without standard error would give its number to the next file, and messages would be written into that.
  @Test func noFileTakesTheNumberOfAStandardStream() async throws {
    let folder = TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder("file") as String] in
      close(STDIN_FILENO)
      close(STDERR_FILENO)
      let file = try FileDescriptor.open(path, [.writeOnly, .create])
      StandardStreams.writeErrorLine("a message")
      let flags = fcntl(file.rawValue, F_GETFD)
      if file.rawValue <= STDERR_FILENO || flags & FD_CLOEXEC == 0 { exit(1) }
    }
    #expect(try WholeFile.read(folder("file")).bytes == [])
  }
}
