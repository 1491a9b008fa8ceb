import CommandLineKit
import LinuxFiles

/// Texts that anybody may have written, in HTML and XML.
///
/// Two steps: what is invisible or turns the reading direction is written as on a terminal (`\u{202e}`), so that no title can
/// disguise itself; then the five characters that mean something to a parser become references. The result may stand between
/// tags and in quoted attributes, and holds no character that XML 1.0 forbids.
enum Markup {
  static func escape(_ text: some StringProtocol) -> String {
    let visible = TerminalText.escape(text)
    // Most texts mean nothing to a parser: a fleet has half a million of them.
    if visible.utf8.allSatisfy({ $0 < 0x80 && !Self.isMarkup($0) }) { return visible }
    var escaped = ""
    escaped.reserveCapacity(visible.utf8.count + 8)
    for scalar in visible.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default:
        // U+FFFE and U+FFFF of every plane are no characters; XML has no way to write those of the first.
        if scalar.value & 0xFFFE == 0xFFFE {
          escaped += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          escaped.unicodeScalars.append(scalar)
        }
      }
    }
    return escaped
  }

  /// `"`, `&`, `'`, `<`, `>`.
  private static func isMarkup(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x26, 0x27, 0x3C, 0x3E: true
    default: false
    }
  }
}
