import Glibc

/// Standard output and error, unbuffered by us: one call writes one piece of text whole.
public enum StandardStreams {
  public static func writeOutput(_ text: String) throws(Errno) { try write(text, to: STDOUT_FILENO) }
  public static func writeOutput(_ bytes: [UInt8]) throws(Errno) { try write(bytes, to: STDOUT_FILENO) }
  /// Writes to standard error as it stands: colours, sources with marks below. What comes from outside has been escaped
  /// (`TerminalText`); a plain message goes through `writeErrorLine`, which does that.
  ///
  /// Nothing can be done about an error there, so nothing comes of one: a full disk, a closed descriptor, a reader that went
  /// away never end the program, or an application would end for a message of its library.
  public static func writeError(_ text: String) {
    HeldSignal.withHeld(SIGPIPE) { try? write(text, to: STDERR_FILENO) }
  }

  /// One line of standard error. Everything in it is escaped, whoever wrote it: no key, path or name of a host moves the
  /// cursor of who reads it, or begins a line of its own.
  public static func writeErrorLine(_ text: String) { writeError(TerminalText.escape(text) + "\n") }

  /// Everything that standard input has, to its end.
  /// - Parameter limit: bytes; more is `Errno.fileTooLarge`.
  public static func readInput(limit: Int) throws(FileError) -> [UInt8] {
    do throws(Errno) {
      // A copy, since what is read from is closed afterwards.
      return try FileDescriptor(owning: try retryingOnInterrupt { dup(STDIN_FILENO) }).readToEnd(limit: limit)
    } catch {
      throw FileError("read", path: "standard input", errno: error)
    }
  }

  public static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  public static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }
  public static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  private static func write(_ text: String, to descriptor: Int32) throws(Errno) {
    try write(Array(text.utf8), to: descriptor)
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Errno) {
    var done = 0
    while done < bytes.count {
      done += try retryingOnInterrupt {
        bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
      }
    }
  }
}
