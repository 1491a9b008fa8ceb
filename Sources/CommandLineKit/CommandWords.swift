import LinuxFiles

/// The command line as the kernel passed it on.
public enum CommandWords {
  /// The words behind the command's name.
  ///
  /// They are UTF-8, as all names, keys and values are. A word that is not (a file of another locale, a paste) would become
  /// another word, with U+FFFD in it: another key would be written, another file made.
  /// - Throws: a usage error that names the word by its bytes; nothing was done yet.
  public static func ofThisProcess() throws(CommandFailure) -> [String] {
    var words: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let bytes = CommandLine.unsafeArgv[index] else { break }
      guard let word = ByteText.text(bytes) else {
        throw CommandFailure(
          .usage, "the word '\(ByteText.escaped(bytes))' is not UTF-8; names, keys and values are. Nothing was done")
      }
      words.append(word)
    }
    return words
  }
}
