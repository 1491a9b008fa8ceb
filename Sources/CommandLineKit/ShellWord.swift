/// Commands that a message tells the reader to type.
public enum ShellWord {
  /// The word as a POSIX shell reads it back: bare where that is safe, else in single quotes.
  public static func quote(_ word: String) -> String {
    let safe = word.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
      case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"),
        UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "+"), UInt8(ascii: "%"):
        true
      default: false
      }
    }
    if safe, !word.isEmpty { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// A command line of several words.
  public static func join(_ words: [String]) -> String { words.map(quote).joined(separator: " ") }
}
