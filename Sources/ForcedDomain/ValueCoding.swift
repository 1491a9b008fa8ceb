import PropertyList

/// The bytes of a value inside the `values` section, the annex and other containers.
///
/// A tag, then: string and data: 32-bit length, bytes. Integer, real, date: 8 bytes. Boolean: 1 byte. Array and
/// dictionary: 32-bit length of what follows, 32-bit count, elements, for a dictionary key (32-bit length, bytes) and
/// value in turn, keys in ascending byte order. One value has one form, so equality is a comparison of bytes.
enum ValueCoding {
  /// - Returns: whether the value is nested no deeper than the format allows.
  static func append(_ value: PropertyListValue, to bytes: inout [UInt8], depth: Int = 0) -> Bool {
    switch value {
    case .string(let text):
      var text = text
      bytes.append(Format.Tag.string)
      text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &bytes) }
    case .integer(let integer):
      bytes.append(tag(of: integer))
      append(integer.bitPattern, to: &bytes)
    case .real(let real):
      bytes.append(Format.Tag.real)
      append(real.bitPattern, to: &bytes)
    case .boolean(let boolean):
      bytes.append(Format.Tag.boolean)
      bytes.append(boolean ? 1 : 0)
    case .date(let date):
      bytes.append(Format.Tag.date)
      append(date.secondsSinceReferenceDate.bitPattern, to: &bytes)
    case .data(let data):
      bytes.append(Format.Tag.data)
      data.withUnsafeBytes { append($0, to: &bytes) }
    case .array(let elements):
      guard depth < Format.maximumDepth else { return false }
      bytes.append(Format.Tag.array)
      return appendBody(count: elements.count, to: &bytes) { bytes in
        for element in elements { guard append(element, to: &bytes, depth: depth + 1) else { return false } }
        return true
      }
    case .dictionary(let members):
      guard depth < Format.maximumDepth else { return false }
      bytes.append(Format.Tag.dictionary)
      let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      return appendBody(count: sorted.count, to: &bytes) { bytes in
        for (key, value) in sorted {
          var key = key
          key.withUTF8 { append(UnsafeRawBufferPointer($0), to: &bytes) }
          guard append(value, to: &bytes, depth: depth + 1) else { return false }
        }
        return true
      }
    }
    return true
  }

  static func tag(of integer: PropertyListInteger) -> UInt8 {
    integer.int64 == nil ? Format.Tag.largeInteger : Format.Tag.integer
  }

  private static func appendBody(
    count: Int, to bytes: inout [UInt8], _ body: (inout [UInt8]) -> Bool
  ) -> Bool {
    let start = bytes.count
    bytes.append(contentsOf: [0, 0, 0, 0])
    append(UInt32(clamping: count), to: &bytes)
    guard body(&bytes) else { return false }
    // Clamped lengths belong to values that the writer's size limit refuses.
    let length = UInt32(clamping: bytes.count - start - 4)
    for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (UInt32(index) * 8)) }
    return true
  }

  private static func append(_ content: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    append(UInt32(clamping: content.count), to: &bytes)
    bytes.append(contentsOf: content)
  }

  private static func append<Word: FixedWidthInteger>(_ word: Word, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }
}

/// Reads coded values out of validated bytes; the caller vouches for them.
struct ValueDecoder {
  let bytes: UnsafeRawBufferPointer
  var at: Int

  init(_ bytes: UnsafeRawBufferPointer, at: Int = 0) {
    self.bytes = bytes
    self.at = at
  }

  mutating func next() -> PropertyListValue {
    let tag = byte()
    switch tag {
    case Format.Tag.integer: return .integer(PropertyListInteger(Int64(bitPattern: word8())))
    case Format.Tag.largeInteger: return .integer(PropertyListInteger(word8()))
    case Format.Tag.real: return .real(Double(bitPattern: word8()))
    case Format.Tag.boolean: return .boolean(byte() != 0)
    case Format.Tag.date:
      return .date(PropertyListDate(secondsSinceReferenceDate: Double(bitPattern: word8())))
    case Format.Tag.string: return .string(String(decoding: content(), as: UTF8.self))
    case Format.Tag.data: return .data([UInt8](content()))
    case Format.Tag.array:
      let count = header()
      var elements: [PropertyListValue] = []
      elements.reserveCapacity(count)
      for _ in 0..<count { elements.append(next()) }
      return .array(elements)
    default:
      let count = header()
      var members: [String: PropertyListValue] = [:]
      members.reserveCapacity(count)
      for _ in 0..<count {
        let key = String(decoding: content(), as: UTF8.self)
        members[key] = next()
      }
      return .dictionary(members)
    }
  }

  /// Steps over the tag, length and count of a container.
  mutating func containerHeader() -> Int {
    at += 1
    return header()
  }

  /// The coded bytes of the next value.
  mutating func nextCoded() -> UnsafeRawBufferPointer {
    let start = at
    let tag = bytes[at]
    switch tag {
    case Format.Tag.boolean: at += 2
    case Format.Tag.integer, Format.Tag.largeInteger, Format.Tag.real, Format.Tag.date: at += 9
    default:
      at += 1
      at += 4 + word4At(at)
    }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<at])
  }

  /// Length-prefixed bytes: a string, data, or a key of a dictionary.
  mutating func content() -> UnsafeRawBufferPointer {
    let count = word4At(at)
    at += 4 + count
    return UnsafeRawBufferPointer(rebasing: bytes[(at - count)..<at])
  }

  private mutating func header() -> Int {
    let count = word4At(at + 4)
    at += 8
    return count
  }

  private mutating func byte() -> UInt8 {
    at += 1
    return bytes[at - 1]
  }

  private mutating func word8() -> UInt64 {
    at += 8
    return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at - 8, as: UInt64.self))
  }

  private func word4At(_ offset: Int) -> Int {
    Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}
