/// A fast hash of bytes, in the manner of wyhash: two multiplications for a key of usual length.
///
/// Not seeded, so results don't depend on the process; tables that use it compare the bytes on every hit.
enum ByteHash {
  @inline(__always)
  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// The hash of the bytes with ASCII letters folded together; other bytes may fold together as well.
  @inline(__always)
  static func foldingCase(_ bytes: UnsafeRawBufferPointer) -> UInt64 { hash(bytes, fold: 0x2020_2020_2020_2020) }

  @inline(__always)
  static func exact(_ bytes: UnsafeRawBufferPointer) -> UInt64 { hash(bytes, fold: 0) }

  @inline(__always)
  private static func hash(_ bytes: UnsafeRawBufferPointer, fold: UInt64) -> UInt64 {
    let k0: UInt64 = 0xA076_1D64_78BD_642F
    let k1: UInt64 = 0xE703_7ED1_A0B4_28DB
    var seed = k0
    let count = bytes.count
    var a: UInt64 = 0
    var b: UInt64 = 0
    if count >= 16 {
      var index = 0
      while index + 16 < count {
        seed = mix(word(bytes, index, fold) ^ k1, word(bytes, index + 8, fold) ^ seed)
        index += 16
      }
      a = word(bytes, count - 16, fold)
      b = word(bytes, count - 8, fold)
    } else if count >= 8 {
      a = word(bytes, 0, fold)
      b = word(bytes, count - 8, fold)
    } else {
      for index in 0..<count { a = a << 8 | UInt64(bytes[index]) | (fold & 0x20) }
    }
    return mix(k1 ^ UInt64(count), mix(a ^ k1, b ^ seed))
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ fold: UInt64) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) | fold
  }
}
