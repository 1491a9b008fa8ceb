import CommandLineKit
import Glibc
import LinuxFiles

/// Standard streams are all that a contained program gets open from outside, and the caller chose them.
enum StandardStreamCheck {
  /// A stream that is closed is opened on nothing, lest a file of ours take its number. One that is a folder is refused: from
  /// a folder every file below it can be opened, whatever the paths are.
  ///
  /// A file can be opened anew through `/proc/self/fd`, and then for whatever its permissions allow: the program gets it to read
  /// and to write. So one that holds preferences is refused, as in `--files`.
  static func run(_ places: PreferencePlaces) throws(CommandFailure) {
    for (descriptor, name) in [(Int32(0), "standard input"), (1, "standard output"), (2, "standard error")] {
      let flags = fcntl(descriptor, F_GETFL)
      if flags < 0 {
        _ = open("/dev/null", O_RDWR)
        continue
      }
      var status = stat()
      let isPath = flags & 0o10_000_000 != 0  // O_PATH
      if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        let path = SymbolicLink.target(of: "/proc/self/fd/\(descriptor)"), let why = places.refusal(of: path)
      {
        throw CommandFailure(
          .notPermitted,
          "\(name) can't be \(TerminalText.escape(path)), which a contained program could open anew and write: it "
            + TerminalText.escape(why))
      }
      guard !isPath, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
        throw CommandFailure(
          .notPermitted, "\(name) is a folder, and would lead a contained program to all that is in it")
      }
    }
  }
}
