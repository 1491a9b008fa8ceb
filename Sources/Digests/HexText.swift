/// Bytes as text: two lower-case digits each.
public enum HexText {
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digit(byte >> 4))
      text.append(digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The same into memory, which must have room for two digits of each byte; four bytes at a time.
  public static func encode(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawPointer) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var index = 0
    while index + 4 <= bytes.count {
      // The bytes apart, then the halves of each side by side, the high one first.
      var spread = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
      spread = (spread | (spread &<< 16)) & 0x0000_FFFF_0000_FFFF
      spread = (spread | (spread &<< 8)) & 0x00FF_00FF_00FF_00FF
      let values = ((spread &>> 4) & (ones &* 15)) | ((spread & 0x000F_000F_000F_000F) &<< 8)
      // Of what is ten or more, six more carries into the next half; letters stand 39 behind the digits.
      let letters = ((values &+ ones &* 6) &>> 4) & ones
      let digits = values &+ ones &* UInt64(UInt8(ascii: "0")) &+ letters &* 39
      text.storeBytes(of: digits.littleEndian, toByteOffset: 2 * index, as: UInt64.self)
      index += 4
    }
    while index < bytes.count {
      text.storeBytes(of: digit(bytes[index] >> 4), toByteOffset: 2 * index, as: UInt8.self)
      text.storeBytes(of: digit(bytes[index] & 15), toByteOffset: 2 * index + 1, as: UInt8.self)
      index += 1
    }
  }

  @inline(__always)
  private static func digit(_ value: UInt8) -> UInt8 {
    value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }

  /// The bytes of a text of lower-case digits; nil for every other text.
  public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    var high: UInt8?
    for digit in text {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }
}
