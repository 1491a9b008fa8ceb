/// A fast hash of bytes, in the manner of wyhash: two multiplications for a key of usual length.
///
/// Tables that use it compare the bytes on every hit.
enum ByteHash {
  @inline(__always)
  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// The hash of the bytes with A–Z as a–z.
  @inline(__always)
  static func foldingCase(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    hash(bytes, seed: seed, folding: true)
  }

  @inline(__always)
  static func exact(_ bytes: UnsafeRawBufferPointer) -> UInt64 { hash(bytes, seed: 0, folding: false) }

  @inline(__always)
  private static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64, folding: Bool) -> UInt64 {
    let k0: UInt64 = 0xA076_1D64_78BD_642F
    let k1: UInt64 = 0xE703_7ED1_A0B4_28DB
    var seed = seed ^ k0
    let count = bytes.count
    var a: UInt64 = 0
    var b: UInt64 = 0
    if count >= 16 {
      var index = 0
      while index + 16 < count {
        seed = mix(word(bytes, index, folding) ^ k1, word(bytes, index + 8, folding) ^ seed)
        index += 16
      }
      a = word(bytes, count - 16, folding)
      b = word(bytes, count - 8, folding)
    } else if count >= 8 {
      a = word(bytes, 0, folding)
      b = word(bytes, count - 8, folding)
    } else {
      for index in 0..<count { a = a << 8 | UInt64(bytes[index]) }
      if folding { a = folded(a) }
    }
    return mix(k1 ^ UInt64(count), mix(a ^ k1, b ^ seed))
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ folding: Bool) -> UInt64 {
    let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return folding ? folded(word) : word
  }

  /// Eight bytes at once: sets the case bit of those from A to Z.
  @inline(__always)
  private static func folded(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let low = word & (ones &* 0x7F)
    let aboveZ = low &+ ones &* (0x7F - 0x5A)
    let fromA = low &+ ones &* (0x80 - 0x41)
    return word | (fromA & ~aboveZ & ~word & (ones &* 0x80)) >> 2
  }
}
