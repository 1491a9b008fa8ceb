import PropertyList

/// The records of a file's bytes, read in place. Everything here relies on `Validation` and checks nothing again.
struct DomainView {
  let bytes: UnsafeRawBufferPointer
  let layout: Layout

  @inline(__always)
  func word4(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: bytes.baseAddress.unsafelyUnwrapped.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always)
  func word8(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.baseAddress.unsafelyUnwrapped.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  func byte(_ offset: Int) -> UInt8 {
    bytes.baseAddress.unsafelyUnwrapped.load(fromByteOffset: offset, as: UInt8.self)
  }

  @inline(__always)
  func slice(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.baseAddress.unsafelyUnwrapped + offset, count: count)
  }

  func section(_ table: Table) -> UnsafeRawBufferPointer { slice(table.offset, table.count) }

  /// Field `field` (in words of 4 bytes) of record `index`.
  ///
  /// Offsets lie far below 2⁶³, whatever a file says (32 bits times a record's size), so nothing here can overflow.
  @inline(__always)
  func field(_ table: Table, _ index: Int, stride: Int, _ field: Int) -> Int {
    Int(word4(table.offset &+ index &* stride &+ field &* 4))
  }

  /// Where record `index` ends in a list whose records store only their ends; where the next one starts.
  @inline(__always)
  func end(_ table: Table, _ index: Int, stride: Int, _ field: Int) -> Int {
    index < 0 ? 0 : self.field(table, index, stride: stride, field)
  }

  // MARK: Texts

  func text(_ number: Int) -> UnsafeRawBufferPointer {
    let start = end(layout.textEnds, number - 1, stride: 4, 0)
    let end = field(layout.textEnds, number, stride: 4, 0)
    return slice(layout.texts.offset + start, end - start)
  }

  func string(_ number: Int) -> String { String(decoding: text(number), as: UTF8.self) }

  /// Text 0 stands for "none".
  func optionalString(_ number: Int) -> String? { number == 0 ? nil : string(number) }

  // MARK: Domains and keys

  func keyRange(ofDomain index: Int) -> Range<Int> {
    end(
      layout.domains, index - 1, stride: Layout.Stride.domain, 1)..<end(
        layout.domains, index, stride: Layout.Stride.domain, 1)
  }

  func domainName(_ index: Int) -> UnsafeRawBufferPointer {
    text(field(layout.domains, index, stride: Layout.Stride.domain, 0))
  }

  /// - Complexity: O(log domains).
  func domainIndex(named name: UnsafeRawBufferPointer) -> Int? {
    var low = 0
    var high = layout.domains.count
    while low < high {
      let middle = (low + high) / 2
      let order = domainName(middle).compared(with: name)
      if order == 0 { return middle }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  @inline(__always)
  func keyName(_ index: Int) -> UnsafeRawBufferPointer {
    let start = end(layout.keys, index - 1, stride: Layout.Stride.key, 0)
    let end = field(layout.keys, index, stride: Layout.Stride.key, 0)
    return slice(layout.keyNames.offset + start, end - start)
  }

  @inline(__always)
  func entryRange(ofKey index: Int, _ section: PolicySection) -> Range<Int> {
    let forcedEnd = field(layout.keys, index, stride: Layout.Stride.key, 1)
    switch section {
    case .forced: return end(layout.keys, index - 1, stride: Layout.Stride.key, 2)..<forcedEnd
    case .recommended: return forcedEnd..<field(layout.keys, index, stride: Layout.Stride.key, 2)
    }
  }

  /// - Complexity: O(length of the name), through the index.
  func keyIndex(domain: Int, name: UnsafeRawBufferPointer) -> Int? {
    let mask = layout.index.count - 1
    let keys = keyRange(ofDomain: domain)
    var slot = Int(truncatingIfNeeded: ByteHash.hash(name, seed: UInt64(domain))) & mask
    while true {
      let stored = Int(word4(layout.index.offset + slot * 4))
      if stored == 0 { return nil }
      if keys.contains(stored - 1), keyName(stored - 1).compared(with: name) == 0 { return stored - 1 }
      slot = (slot + 1) & mask
    }
  }

  // MARK: Entries

  @inline(__always)
  func entry(_ index: Int) -> EntryRecord {
    let at = layout.entries.offset &+ index &* Layout.Stride.entry
    let small = word8(at &+ 24)
    return EntryRecord(
      priority: Int64(bitPattern: word8(at)), bits: word8(at &+ 8), condition: word4(at &+ 16),
      profile: word4(at &+ 20),
      section: UInt8(truncatingIfNeeded: small), action: UInt8(truncatingIfNeeded: small >> 8),
      precision: UInt8(truncatingIfNeeded: small >> 16), tag: UInt8(truncatingIfNeeded: small >> 24),
      key: UInt32(truncatingIfNeeded: small >> 32))
  }

  func storedValue(_ entry: EntryRecord) -> StoredValue? {
    switch entry.tag {
    case Format.Tag.none: nil
    case Format.Tag.string:
      StoredValue(tag: entry.tag, bits: entry.bits, bytes: slice(layout.strings.offset + entry.start, entry.count))
    case Format.Tag.data, Format.Tag.array, Format.Tag.dictionary:
      StoredValue(tag: entry.tag, bits: entry.bits, bytes: slice(layout.values.offset + entry.start, entry.count))
    default: StoredValue(tag: entry.tag, bits: entry.bits, bytes: nil)
    }
  }
}

/// The 32 bytes of an entry, taken apart.
struct EntryRecord {
  var priority: Int64
  /// A scalar's bits; for a string, data or a container: offset in its section, and length in the upper half.
  var bits: UInt64
  var condition: UInt32
  var profile: UInt32
  var section: UInt8
  var action: UInt8
  /// `Rank.precision`.
  var precision: UInt8
  var tag: UInt8
  /// The number of the entry's key in a writer; always 0 in a file, where entries stand key by key.
  var key: UInt32 = 0

  var start: Int { Int(UInt32(truncatingIfNeeded: bits)) }
  var count: Int { Int(bits >> 32) }

  var rank: Rank {
    Rank(
      priority: priority, isOverride: precision & 16 != 0, hostClass: HostClass(rawValue: precision >> 2 & 3) ?? .none,
      userClass: UserClass(rawValue: precision & 3) ?? .none)
  }

  /// Whether this entry may stand before the other one: its rank is no smaller.
  @inline(__always)
  func precedesOrEquals(_ other: EntryRecord) -> Bool {
    priority != other.priority ? priority > other.priority : precision >= other.precision
  }
}
