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

  /// The same into memory, which must have room for two digits of each byte.
  public static func encode(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawPointer) {
    for index in 0..<bytes.count {
      text.storeBytes(of: digit(bytes[index] >> 4), toByteOffset: 2 * index, as: UInt8.self)
      text.storeBytes(of: digit(bytes[index] & 15), toByteOffset: 2 * index + 1, as: UInt8.self)
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
