import Glibc

/// The order of keys in everything that is written: by UTF-8 bytes, as `memcmp` sees them.
///
/// Swift's own order of strings compares normalised text, which is neither stable between spellings nor cheap.
enum KeyOrder {
  /// The members of a dictionary, sorted.
  ///
  /// - Complexity: O(*n* log *n*), with one copy of all keys' bytes.
  static func sorted(
    _ dictionary: [String: PropertyListValue]
  ) -> [(key: String, value: PropertyListValue)] {
    struct Entry {
      var prefix: UInt64
      var start: Int
      var count: Int
      var member: Int
    }
    if dictionary.count < 2 { return dictionary.map { (key: $0.key, value: $0.value) } }
    let members = Array(dictionary)
    var bytes: [UInt8] = []
    var entries: [Entry] = []
    entries.reserveCapacity(members.count)
    for (index, member) in members.enumerated() {
      let start = bytes.count
      bytes.append(contentsOf: member.key.utf8)
      var prefix: UInt64 = 0
      for position in 0..<8 {
        prefix = prefix << 8 | (start + position < bytes.count ? UInt64(bytes[start + position]) : 0)
      }
      entries.append(Entry(prefix: prefix, start: start, count: bytes.count - start, member: index))
    }
    bytes.withUnsafeBufferPointer { bytes in
      entries.sort { a, b in
        if a.prefix != b.prefix { return a.prefix < b.prefix }
        guard let base = bytes.baseAddress else { return false }
        let order = memcmp(base + a.start, base + b.start, min(a.count, b.count))
        return order != 0 ? order < 0 : a.count < b.count
      }
    }
    return entries.map { (key: members[$0.member].key, value: members[$0.member].value) }
  }
}

extension Sequence<String> {
  /// These texts in the order of everything that is written: by their UTF-8 bytes.
  ///
  /// - Complexity: O(*n* log *n*) comparisons.
  public func sortedByBytes() -> [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}
