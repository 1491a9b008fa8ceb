/// Keys that are one key although their bytes differ: `é` is one code point or two.
///
/// Dictionaries of strings, in files as in memory, take them for one; tables compare bytes. So that no spelling gets past a
/// forced key, tables hold each key in one spelling: the one in which this process put it into a table first. A read finds
/// that spelling by its bytes alone, as it finds ASCII; only one that finds nothing asks whether there is another.
///
/// ASCII keys have no other spelling here: the three characters that Unicode calls equal to an ASCII one (the Kelvin sign,
/// the Greek question mark and varia) are characters of their own.
enum KeySpelling {
  /// Guards `first`. Nothing else is locked while it is held.
  static let lock = EngineLock()
  nonisolated(unsafe) private static var first: [String: String] = [:]

  @inline(__always)
  static func isASCII(_ key: UnsafeRawPointer, _ count: Int) -> Bool {
    var bits: UInt64 = 0
    var offset = 0
    if count >= 8 {
      // The last word may overlap the one before it.
      bits = key.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      while offset &+ 8 < count {
        bits |= key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        offset &+= 8
      }
    } else {
      while offset < count {
        bits |= UInt64(key.load(fromByteOffset: offset, as: UInt8.self))
        offset &+= 1
      }
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  /// Gives `body` the spelling under which tables hold a key, from now on if not before.
  @inline(__always)
  static func withStored<R>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard let start = key.baseAddress, !isASCII(start, key.count) else { return body(key) }
    return withStoredSpelling(key, body)
  }

  @inline(never)
  private static func withStoredSpelling<R>(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    let key = String(decoding: key, as: UTF8.self)
    var stored = lock.withLock {
      if let stored = first[key] { return stored }
      first[key] = key
      return key
    }
    return stored.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// The spelling under which a table may hold a key that is not ASCII; nil where no table ever had it.
  static func known(_ key: UnsafeRawBufferPointer) -> String? {
    let key = String(decoding: key, as: UTF8.self)
    return lock.withLock { first[key] }
  }
}
