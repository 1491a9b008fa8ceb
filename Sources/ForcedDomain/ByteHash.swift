/// The 64-bit hash of the file format: wyhash, final version 4.2 (public domain, Wang Yi), over little-endian words.
///
/// It finds keys in the index and detects damage; it proves nothing against who may write the file. It is part of the
/// format: another result is another format.
public enum ByteHash {
  @usableFromInline static let secret0: UInt64 = 0x2d35_8dcc_aa6c_78a5
  @usableFromInline static let secret1: UInt64 = 0x8bb8_4b93_962e_acc9
  @usableFromInline static let secret2: UInt64 = 0x4b33_a62e_d433_d4a3
  @usableFromInline static let secret3: UInt64 = 0x4d5a_2da5_1de1_aa47

  /// - Complexity: O(bytes), some 10 GB/s for long inputs.
  @inlinable
  public static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    guard let start = bytes.baseAddress else { return finish(0, 0, seed: seeded(seed), count: 0) }
    let count = bytes.count
    var seed = seeded(seed)
    if count <= 16 {
      if count >= 4 {
        let middle = (count >> 3) << 2
        let a = word4(start) << 32 | word4(start + middle)
        let b = word4(start + (count - 4)) << 32 | word4(start + (count - 4 - middle))
        return finish(a, b, seed: seed, count: count)
      }
      guard count > 0 else { return finish(0, 0, seed: seed, count: 0) }
      let a = UInt64(bytes[0]) << 16 | UInt64(bytes[count >> 1]) << 8 | UInt64(bytes[count - 1])
      return finish(a, 0, seed: seed, count: count)
    }
    var at = start
    var left = count
    if left > 48 {
      var lanes = Lanes(seeded: seed)
      repeat {
        lanes.absorb(at)
        at += 48
        left -= 48
      } while left > 48
      seed = lanes.seed
    }
    return finish(tail: at, left, seed: seed, count: count)
  }

  /// The end of an input of more than 16 bytes: `left` bytes, at most 48, behind whole blocks.
  @inlinable @inline(__always)
  static func finish(tail: UnsafeRawPointer, _ left: Int, seed: UInt64, count: Int) -> UInt64 {
    var (at, left, seed) = (tail, left, seed)
    while left > 16 {
      seed = mix(word8(at) ^ secret1, word8(at + 8) ^ seed)
      at += 16
      left -= 16
    }
    return finish(word8(at + (left - 16)), word8(at + (left - 8)), seed: seed, count: count)
  }

  /// The state of a long input's hash between blocks of 48 bytes.
  @usableFromInline struct Lanes: Equatable {
    @usableFromInline var first: UInt64
    @usableFromInline var second: UInt64
    @usableFromInline var third: UInt64

    @inlinable @inline(__always)
    init(seeded seed: UInt64) { (first, second, third) = (seed, seed, seed) }

    @inlinable @inline(__always)
    mutating func absorb(_ block: UnsafeRawPointer) {
      first = mix(word8(block) ^ secret1, word8(block + 8) ^ first)
      second = mix(word8(block + 16) ^ secret2, word8(block + 24) ^ second)
      third = mix(word8(block + 32) ^ secret3, word8(block + 40) ^ third)
    }

    @inlinable @inline(__always)
    var seed: UInt64 { first ^ second ^ third }
  }

  @inlinable @inline(__always)
  static func seeded(_ seed: UInt64) -> UInt64 { seed ^ mix(seed ^ secret0, secret1) }

  @inlinable @inline(__always)
  static func finish(_ a: UInt64, _ b: UInt64, seed: UInt64, count: Int) -> UInt64 {
    let product = (a ^ secret1).multipliedFullWidth(by: b ^ seed)
    return mix(product.low ^ secret0 ^ UInt64(truncatingIfNeeded: count), product.high ^ secret1)
  }

  @inlinable @inline(__always)
  static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.low ^ product.high
  }

  @inlinable @inline(__always)
  static func word8(_ at: UnsafeRawPointer) -> UInt64 { UInt64(littleEndian: at.loadUnaligned(as: UInt64.self)) }

  @inlinable @inline(__always)
  static func word4(_ at: UnsafeRawPointer) -> UInt64 {
    UInt64(UInt32(littleEndian: at.loadUnaligned(as: UInt32.self)))
  }
}
