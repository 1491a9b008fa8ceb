/// Text that comes from outside (policies, files, arguments, keys, machines) and goes to a terminal: nothing in it may move
/// the cursor, change colours or turn the reading direction.
public enum TerminalText {
  /// The text with control characters (C0, C1, DEL), line and paragraph separators, invisible format characters and
  /// bidirectional controls written as `\u{…}`, new line and tab as `\n` and `\t`.
  ///
  /// - Complexity: O(n); text of printable ASCII is returned as it is.
  public static func escape(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return String(text) }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": escaped += "\\n"
      case "\t": escaped += "\\t"
      case "\r": escaped += "\\r"
      default:
        if isHarmful(scalar) {
          escaped += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          escaped.unicodeScalars.append(scalar)
        }
      }
    }
    return escaped
  }

  /// Whether a scalar is one of those.
  public static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0: true
    case 0x00ad, 0x061c, 0x180e, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff: true
    case 0xfff9...0xfffb, 0xe0000...0xe007f: true
    default: false
    }
  }
}
