import Glibc

/// Whether bytes are well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
///
/// - Complexity: O(bytes), 64 at a time through ASCII; allocates nothing.
func isWellFormedUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
  let count = bytes.count
  var at = 0
  while at < count {
    if count &- at >= 64, bytes.isASCII64(at) {
      at &+= 64
      continue
    }
    if count - at >= 8 {
      if bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
        at += 8
        continue
      }
    }
    let lead = bytes[at]
    if lead < 0x80 {
      at += 1
      continue
    }
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return false
    }
    guard count - at >= length, second.contains(bytes[at + 1]) else { return false }
    for index in 2..<max(2, length) where bytes[at + index] & 0xC0 != 0x80 { return false }
    at += length
  }
  return true
}

extension UnsafeRawBufferPointer {
  /// Whether 64 bytes, which are there, are all ASCII.
  @inline(__always)
  fileprivate func isASCII64(_ offset: Int) -> Bool {
    let start = baseAddress.unsafelyUnwrapped + offset
    @inline(__always) func word(_ index: Int) -> UInt64 {
      start.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
    }
    let all = word(0) | word(1) | word(2) | word(3) | word(4) | word(5) | word(6) | word(7)
    return all & 0x8080_8080_8080_8080 == 0
  }

  /// Whether a cut at this offset does not split a character of well-formed UTF-8.
  ///
  /// - Precondition: the offset is none of those behind the end.
  @inline(__always)
  func isCharacterBoundary(_ offset: Int) -> Bool {
    offset == count || baseAddress.unsafelyUnwrapped.load(fromByteOffset: offset, as: UInt8.self) & 0xC0 != 0x80
  }

  /// Ascending order by unsigned bytes, a prefix first: negative, zero or positive.
  func compared(with other: UnsafeRawBufferPointer) -> Int {
    let common = Swift.min(count, other.count)
    if common > 0, let mine = baseAddress, let its = other.baseAddress {
      let order = memcmp(mine, its, common)
      if order != 0 { return Int(order) }
    }
    return count - other.count
  }
}

extension String {
  /// Equality byte by byte: Swift's own holds different spellings of one character for the same.
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool { utf8.elementsEqual(other) }
}
