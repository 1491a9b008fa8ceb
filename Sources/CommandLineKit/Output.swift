import LinuxFiles

/// Standard output. A reader that went away or a full disk is an error like any other.
public enum Output {
  public static func print(_ text: String) throws(CommandFailure) { try print(Array(text.utf8)) }

  public static func print(_ bytes: [UInt8]) throws(CommandFailure) {
    do {
      try StandardStreams.writeOutput(bytes)
    } catch {
      throw CommandFailure(.inputOutput, "cannot write to standard output: \(error)")
    }
  }
}
