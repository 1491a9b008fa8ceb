/// The text form of data under `!!binary` (RFC 4648, standard alphabet; white space anywhere is passed over).
enum Base64 {
  /// The bytes, or nil for text that is no base64: a foreign character, missing padding, bits that mean nothing.
  static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    var digits = 0
    var padding = 0
    for byte in text {
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: "="):
        padding += 1
        guard digits >= 2, padding + digits <= 4 else { return nil }
        continue
      default: break
      }
      guard padding == 0, let digit = value(of: byte) else { return nil }
      bits = bits << 6 | digit
      digits += 1
      if digits == 4 {
        result.append(UInt8(truncatingIfNeeded: bits >> 16))
        result.append(UInt8(truncatingIfNeeded: bits >> 8))
        result.append(UInt8(truncatingIfNeeded: bits))
        bits = 0
        digits = 0
      }
    }
    switch digits {
    case 0: return padding == 0 ? result : nil
    case 2 where padding == 2 && bits & 0xF == 0: result.append(UInt8(truncatingIfNeeded: bits >> 4))
    case 3 where padding == 1 && bits & 0x3 == 0:
      result.append(UInt8(truncatingIfNeeded: bits >> 10))
      result.append(UInt8(truncatingIfNeeded: bits >> 2))
    default: return nil
    }
    return result
  }

  private static func value(of byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - 0x41)
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - 0x61 + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - 0x30 + 52)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
