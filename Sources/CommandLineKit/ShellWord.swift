import LinuxFiles

/// Commands that a message tells the reader to type.
public enum ShellWord {
  /// The word as a shell reads it back: bare where that is safe, else in single quotes; a word with characters that could
  /// act on a terminal as `$'…'` with those escaped.
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
    if word.unicodeScalars.contains(where: TerminalText.isHarmful) { return escaped(word) }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  private static func escaped(_ word: String) -> String {
    var text = "$'"
    for scalar in word.unicodeScalars {
      switch scalar {
      case "'", "\\": text += "\\\(scalar)"
      case "\n": text += "\\n"
      case _ where TerminalText.isHarmful(scalar):
        for byte in String(scalar).utf8 { text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }

  /// A command line of several words.
  public static func join(_ words: [String]) -> String { words.map(quote).joined(separator: " ") }
}
