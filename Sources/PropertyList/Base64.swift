/// Data as text (RFC 4648, section 4).
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The values of the alphabet's bytes; 0xFF for all others.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0xFF, count: 256)
    for (value, byte) in alphabet.enumerated() { table[Int(byte)] = UInt8(value) }
    return table
  }()

  static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    var group: UInt32 = 0
    var filled = 0
    for byte in bytes {
      group = group << 8 | UInt32(byte)
      filled += 1
      if filled == 3 {
        for shift in [18, 12, 6, 0] as [UInt32] { result.append(alphabet[Int(group >> shift & 0x3F)]) }
        group = 0
        filled = 0
      }
    }
    if filled > 0 {
      group <<= UInt32(8 * (3 - filled))
      for shift in [18, 12, 6, 0].prefix(filled + 1) as ArraySlice<UInt32> {
        result.append(alphabet[Int(group >> shift & 0x3F)])
      }
      for _ in filled..<3 { result.append(UInt8(ascii: "=")) }
    }
    return result
  }

  /// The data, nil unless the text is well-formed: ASCII white space anywhere, padded to a multiple of four, and no
  /// bits beside the data.
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    var filled = 0
    var padding = 0
    for byte in text {
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: "="):
        padding += 1
        guard filled + padding <= 4, filled >= 2 else { return nil }
      default:
        let value = values[Int(byte)]
        guard value != 0xFF, padding == 0 else { return nil }
        group = group << 6 | UInt32(value)
        filled += 1
        if filled == 4 {
          result.append(UInt8(truncatingIfNeeded: group >> 16))
          result.append(UInt8(truncatingIfNeeded: group >> 8))
          result.append(UInt8(truncatingIfNeeded: group))
          group = 0
          filled = 0
        }
      }
    }
    switch (filled, padding) {
    case (0, 0): return result
    case (2, 2):
      guard group & 0x0F == 0 else { return nil }
      result.append(UInt8(truncatingIfNeeded: group >> 4))
    case (3, 1):
      guard group & 0x03 == 0 else { return nil }
      result.append(UInt8(truncatingIfNeeded: group >> 10))
      result.append(UInt8(truncatingIfNeeded: group >> 2))
    default: return nil
    }
    return result
  }
}
