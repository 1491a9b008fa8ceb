/// The hash of keys: wyhash over their UTF-8 bytes, the same arithmetic as the C table that reads are measured against.
///
/// The seed is the process's own, drawn at random, so that no file can be written to make keys collide.
enum KeyHash {
  static let seed = UInt64.random(in: .min ... .max)

  /// The bit that every hash has, so that 0 can mark an empty slot; the position comes from the low bits.
  static let used: UInt64 = 1 << 63

  private static let secret: UInt64 = 0xe703_7ed1_a0b4_28db

  @inline(__always) private static func read8(_ p: UnsafeRawPointer) -> UInt64 { p.loadUnaligned(as: UInt64.self) }
  @inline(__always) private static func read4(_ p: UnsafeRawPointer) -> UInt64 {
    UInt64(p.loadUnaligned(as: UInt32.self))
  }
  @inline(__always) private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.low ^ product.high
  }

  @inline(__always)
  static func hash(_ start: UnsafeRawPointer, _ count: Int, seed: UInt64) -> UInt64 {
    var p = start
    var seed = seed
    let a: UInt64
    let b: UInt64
    if count <= 16 {
      if count >= 8 {
        a = read8(p)
        b = read8(p + (count &- 8))
      } else if count >= 4 {
        a = read4(p)
        b = read4(p + (count &- 4))
      } else if count > 0 {
        let first = UInt64(p.load(as: UInt8.self))
        let middle = UInt64(p.load(fromByteOffset: count >> 1, as: UInt8.self))
        a = first << 16 | middle << 8 | UInt64(p.load(fromByteOffset: count &- 1, as: UInt8.self))
        b = 0
      } else {
        a = 0
        b = 0
      }
    } else {
      var left = count
      while left > 16 {
        seed = mix(read8(p) ^ secret, read8(p + 8) ^ seed)
        left &-= 16
        p += 16
      }
      a = read8(p + (left &- 16))
      b = read8(p + (left &- 8))
    }
    return mix(secret ^ UInt64(truncatingIfNeeded: count), mix(a ^ secret, b ^ seed)) | used
  }

  /// The hash under which this process's tables hold a key.
  static func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
    guard let start = key.baseAddress else { return used }
    return hash(start, key.count, seed: seed)
  }

  /// Whether two runs of the same length are equal; by words, without a call, and up to 32 bytes without a loop.
  @inline(__always)
  static func equal(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Bool {
    if count > 16 {
      var offset = 0
      while offset &+ 32 < count {
        if (read8(a + offset) ^ read8(b + offset)) | (read8(a + offset + 8) ^ read8(b + offset + 8)) != 0 {
          return false
        }
        offset &+= 16
      }
      // The last 32 bytes or fewer, but more than 16: two words from either end, which may overlap.
      let end = count &- 16
      return (read8(a + offset) ^ read8(b + offset)) | (read8(a + offset + 8) ^ read8(b + offset + 8))
        | (read8(a + end) ^ read8(b + end)) | (read8(a + end + 8) ^ read8(b + end + 8)) == 0
    }
    if count >= 8 {
      let end = count &- 8
      return (read8(a) ^ read8(b)) | (read8(a + end) ^ read8(b + end)) == 0
    }
    if count >= 4 {
      let end = count &- 4
      return (read4(a) ^ read4(b)) | (read4(a + end) ^ read4(b + end)) == 0
    }
    var offset = 0
    while offset < count {
      if a.load(fromByteOffset: offset, as: UInt8.self) != b.load(fromByteOffset: offset, as: UInt8.self) {
        return false
      }
      offset &+= 1
    }
    return true
  }
}
