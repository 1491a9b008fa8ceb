import LinuxFiles

/// Standard output. A reader that went away or a full disk is an error like any other.
public enum Output {
  public static func print(_ text: String) throws(CommandFailure) { try print(Array(text.utf8)) }

  /// Says what a command has done and what stays done. Where that can't be written, the failure says it, a line each: who sees
  /// nothing but an error would take it that nothing was done.
  ///
  /// - Parameter bytes: another form of the text, which is written in its place.
  public static func printDone(_ text: String, as bytes: [UInt8]? = nil) throws(CommandFailure) {
    do {
      try StandardStreams.writeOutput(bytes ?? Array(text.utf8))
    } catch {
      var failure = CommandFailure(
        .inputOutput, "cannot write to standard output: \(error); all the same, this was done:")
      failure.further = text.split(separator: "\n").map(String.init)
      throw failure
    }
  }

  public static func print(_ bytes: [UInt8]) throws(CommandFailure) {
    do {
      try StandardStreams.writeOutput(bytes)
    } catch {
      throw CommandFailure(.inputOutput, "cannot write to standard output: \(error)")
    }
  }
}
