/// How many columns of a terminal a text takes.
public enum DisplayWidth {
  /// The sum over its scalars: 0 for combining marks and joiners, 2 for East Asian wide characters and emoji, else 1.
  ///
  /// - Complexity: O(n).
  public static func columns(_ text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
  }

  static func columns(of scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return 1 }
    switch value {
    case 0x200b...0x200f, 0x2060...0x2064, 0xfe00...0xfe0f, 0xfeff, 0xe0100...0xe01ef: return 0
    case 0x1100...0x115f, 0x231a...0x231b, 0x23e9...0x23ec, 0x2614...0x2615, 0x26a1, 0x2705, 0x274c, 0x2e80...0x303e,
      0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3,
      0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff,
      0x1f900...0x1f9ff, 0x1fa70...0x1faff, 0x20000...0x3fffd:
      return 2
    default:
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: return 0
      default: return 1
      }
    }
  }
}
