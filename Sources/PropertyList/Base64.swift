/// Data as text (RFC 4648, section 4).
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The values of the alphabet's bytes; 0xFF for all others.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0xFF, count: 256)
    for (value, byte) in alphabet.enumerated() { table[Int(byte)] = UInt8(value) }
    return table
  }()

  static func encode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let count = min(3, bytes.endIndex - start)
      var group = UInt32(bytes[start]) << 16
      if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
      if count > 2 { group |= UInt32(bytes[start + 2]) }
      result.append(alphabet[Int(group >> 18)])
      result.append(alphabet[Int(group >> 12 & 0x3F)])
      result.append(count > 1 ? alphabet[Int(group >> 6 & 0x3F)] : UInt8(ascii: "="))
      result.append(count > 2 ? alphabet[Int(group & 0x3F)] : UInt8(ascii: "="))
      start += count
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
