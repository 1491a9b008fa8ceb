/// Reads Apple's binary property lists (`bplist00`).
///
/// The layout: eight bytes of magic, the objects, a table with the offset of each object, and 32 bytes of trailer.
/// A file is hostile until shown otherwise: each offset, count and reference is checked before it is followed, and the
/// table must end where the trailer begins. Each object is decoded once, however often it is referred to; what it
/// stands for is counted each time.
///
/// A keyed archive's UID is the dictionary `{"CF$UID": n}`, as it is in XML.
struct BinaryDecoder {
  /// An object that has been decoded, and what it stands for when all sharing is expanded.
  private struct Decoded {
    var value: PropertyListValue
    var objects = 1
    var bytes = 0
    /// Levels of containers, this one included.
    var height = 0
  }

  private enum State {
    case unseen
    case open
    case done(Decoded)
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private let limits: DecodingLimits
  private let tableOffset: Int
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private var states: [State]
  /// References followed so far: bounds the work where many containers overlap.
  private var references = 0
  /// Bytes of strings and data taken in so far: bounds the memory where many of them overlap.
  private var taken = 0

  static func decode(_ bytes: [UInt8], limits: DecodingLimits) throws(PropertyListError) -> PropertyListValue {
    try bytes.withUnsafeBufferPointer { (buffer) throws(PropertyListError) -> PropertyListValue in
      var (decoder, top) = try open(buffer, limits: limits)
      return try decoder.object(top, depth: 0).value
    }
  }

  private init(
    bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, tableOffset: Int, offsetSize: Int, referenceSize: Int,
    objectCount: Int
  ) {
    self.bytes = bytes
    self.limits = limits
    self.tableOffset = tableOffset
    self.offsetSize = offsetSize
    self.referenceSize = referenceSize
    self.objectCount = objectCount
    states = Array(repeating: .unseen, count: objectCount)
  }

  /// Checks magic and trailer.
  private static func open(
    _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits
  ) throws(PropertyListError) -> (BinaryDecoder, top: Int) {
    guard !bytes.isEmpty else { throw PropertyListError(.empty, at: .offset(0)) }
    guard bytes.starts(with: "bplist00".utf8) else {
      throw PropertyListError(.corrupt("this is not a binary property list of version 00"), at: .offset(0))
    }
    let trailer = bytes.count - 32
    guard trailer >= 8 + 1 + 1 else {
      throw PropertyListError(.unexpectedEnd(in: "a binary property list"), at: .offset(bytes.count))
    }
    let offsetSize = Int(bytes[trailer + 6])
    let referenceSize = Int(bytes[trailer + 7])
    guard 1...8 ~= offsetSize else {
      throw PropertyListError(.corrupt("offsets of \(offsetSize) bytes do not exist"), at: .offset(trailer + 6))
    }
    guard 1...8 ~= referenceSize else {
      throw PropertyListError(.corrupt("references of \(referenceSize) bytes do not exist"), at: .offset(trailer + 7))
    }
    let count = number(bytes, at: trailer + 8, size: 8)
    let top = number(bytes, at: trailer + 16, size: 8)
    let table = number(bytes, at: trailer + 24, size: 8)
    guard count >= 1, count <= UInt64(trailer) / UInt64(offsetSize) else {
      throw PropertyListError(.corrupt("\(count) objects cannot be in this file"), at: .offset(trailer + 8))
    }
    guard top < count else {
      throw PropertyListError(.corrupt("the root object \(top) does not exist"), at: .offset(trailer + 16))
    }
    guard table > 8, table <= UInt64(trailer), UInt64(trailer) - table == count * UInt64(offsetSize) else {
      throw PropertyListError(
        .corrupt("the offset table does not fill the space up to the trailer"), at: .offset(trailer + 24))
    }
    let decoder = BinaryDecoder(
      bytes: bytes, limits: limits, tableOffset: Int(table), offsetSize: offsetSize, referenceSize: referenceSize,
      objectCount: Int(count))
    return (decoder, Int(top))
  }

  /// A big-endian number of `size` ≤ 8 bytes; the caller has checked that they exist.
  private static func number(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, size: Int) -> UInt64 {
    var result: UInt64 = 0
    for index in offset..<(offset + size) { result = result << 8 | UInt64(bytes[index]) }
    return result
  }

  private func fault(_ reason: PropertyListError.Reason, _ offset: Int) -> PropertyListError {
    PropertyListError(reason, at: .offset(offset))
  }

  /// Decodes the object with this number, or recalls it.
  private mutating func object(_ index: Int, depth: Int) throws(PropertyListError) -> Decoded {
    let entry = tableOffset + index * offsetSize
    switch states[index] {
    case .done(let decoded):
      if depth + decoded.height > limits.maximumDepth {
        throw fault(.tooDeep(limit: limits.maximumDepth), entry)
      }
      return decoded
    case .open: throw fault(.cycle, entry)
    case .unseen: break
    }
    let offset = Self.number(bytes, at: entry, size: offsetSize)
    guard offset >= 8, offset < UInt64(tableOffset) else {
      throw fault(.corrupt("object \(index) lies outside the file's objects"), entry)
    }
    states[index] = .open
    let decoded = try decode(at: Int(offset), depth: depth)
    states[index] = .done(decoded)
    return decoded
  }

  private mutating func decode(at offset: Int, depth: Int) throws(PropertyListError) -> Decoded {
    let marker = bytes[offset]
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0 where marker == 0x08: return Decoded(value: .boolean(false))
    case 0x0 where marker == 0x09: return Decoded(value: .boolean(true))
    case 0x0 where marker == 0x00: throw fault(.null, offset)
    case 0x1: return Decoded(value: .integer(try integer(at: offset)))
    case 0x2 where low == 2:
      try need(4, at: offset + 1)
      return Decoded(value: Self.real(Double(Float(bitPattern: UInt32(Self.number(bytes, at: offset + 1, size: 4))))))
    case 0x2 where low == 3:
      try need(8, at: offset + 1)
      return Decoded(value: Self.real(Double(bitPattern: Self.number(bytes, at: offset + 1, size: 8))))
    case 0x3 where low == 3:
      try need(8, at: offset + 1)
      let seconds = Double(bitPattern: Self.number(bytes, at: offset + 1, size: 8))
      let date = PropertyListDate(secondsSinceReferenceDate: seconds + 0.0)  // a date has no −0
      guard CalendarDate.isRepresentable(date) else { throw fault(.invalidDate(date.rfc3339), offset) }
      return Decoded(value: .date(date))
    case 0x4:
      let range = try content(at: offset, unit: 1)
      try take(range.count, at: offset)
      return Decoded(value: .data(Array(bytes[range])), bytes: range.count)
    case 0x5:
      let range = try content(at: offset, unit: 1)
      try take(range.count, at: offset)
      let text = bytes[range]
      guard let other = text.firstIndex(where: { $0 >= 0x80 }) else {
        return Decoded(
          value: .string(String(decoding: UnsafeBufferPointer(rebasing: text), as: UTF8.self)), bytes: range.count)
      }
      throw fault(.invalidEncoding("ASCII"), other)
    case 0x6:
      let range = try content(at: offset, unit: 2)
      try take(range.count, at: offset)
      guard let text = TextEncoding.utf16BigEndian(UnsafeBufferPointer(rebasing: bytes[range])) else {
        throw fault(.invalidEncoding("UTF-16"), offset)
      }
      return Decoded(value: .string(text), bytes: range.count)
    case 0x8:
      try enter(depth: depth, references: 2, at: offset)
      try need(low + 1, at: offset + 1)
      guard low < 8 else { throw fault(.corrupt("a UID of \(low + 1) bytes does not exist"), offset) }
      let number = Self.number(bytes, at: offset + 1, size: low + 1)
      guard number <= UInt64(KeyedArchiveUID.maximum) else {
        throw fault(.corrupt("the UID \(number) does not fit"), offset)
      }
      return Decoded(value: KeyedArchiveUID.dictionary(UInt32(number)), objects: 3, height: 1)
    case 0xA: return try array(at: offset, depth: depth)
    case 0xD: return try dictionary(at: offset, depth: depth)
    default:
      throw fault(.corrupt("an object of kind 0x\(hexadecimal(UInt32(marker), width: 2)) does not exist"), offset)
    }
  }

  /// There is one NaN, as in the text formats: equal values must be written alike.
  private static func real(_ number: Double) -> PropertyListValue { .real(number.isNaN ? .nan : number) }

  /// Integers have 1, 2 or 4 bytes without a sign, 8 with a sign, or 16 with a sign that must fit −2⁶³ … 2⁶⁴−1.
  private func integer(at offset: Int) throws(PropertyListError) -> PropertyListInteger {
    let exponent = Int(bytes[offset] & 0x0F)
    guard exponent <= 4 else { throw fault(.corrupt("an integer of 2^\(exponent) bytes does not exist"), offset) }
    let size = 1 << exponent
    try need(size, at: offset + 1)
    if size < 8 { return PropertyListInteger(Self.number(bytes, at: offset + 1, size: size)) }
    let low = Self.number(bytes, at: offset + 1 + size - 8, size: 8)
    if size == 8 { return PropertyListInteger(Int64(bitPattern: low)) }
    switch Self.number(bytes, at: offset + 1, size: 8) {
    case 0: return PropertyListInteger(low)
    case .max where low >> 63 == 1: return PropertyListInteger(Int64(bitPattern: low))
    case let high:
      let digits = "0x" + String(high, radix: 16) + "·2^64 + 0x" + String(low, radix: 16)
      throw fault(.integerOutOfRange(digits), offset)
    }
  }

  private mutating func array(at offset: Int, depth: Int) throws(PropertyListError) -> Decoded {
    let range = try content(at: offset, unit: referenceSize)
    let count = range.count / referenceSize
    try enter(depth: depth, references: count, at: offset)
    var elements: [PropertyListValue] = []
    elements.reserveCapacity(count)
    var result = Decoded(value: .boolean(false), height: 1)
    for position in stride(from: range.lowerBound, to: range.upperBound, by: referenceSize) {
      let element = try object(reference(at: position), depth: depth + 1)
      try add(element, to: &result, at: offset)
      elements.append(element.value)
    }
    result.value = .array(elements)
    return result
  }

  private mutating func dictionary(at offset: Int, depth: Int) throws(PropertyListError) -> Decoded {
    let range = try content(at: offset, unit: 2 * referenceSize)
    let count = range.count / (2 * referenceSize)
    try enter(depth: depth, references: 2 * count, at: offset)
    var members: [String: PropertyListValue] = [:]
    members.reserveCapacity(count)
    var result = Decoded(value: .boolean(false), height: 1)
    for position in stride(from: range.lowerBound, to: range.lowerBound + range.count / 2, by: referenceSize) {
      let key = try object(reference(at: position), depth: depth + 1)
      guard case .string(let name) = key.value else { throw fault(.keyNotString, position) }
      if let reason = KeyCheck.objection(name) { throw fault(reason, position) }
      let member = try object(reference(at: position + range.count / 2), depth: depth + 1)
      try add(key, to: &result, at: offset)
      try add(member, to: &result, at: offset)
      if members.updateValue(member.value, forKey: name) != nil { throw fault(.duplicateKey(name), position) }
    }
    result.value = .dictionary(members)
    return result
  }

  private mutating func enter(depth: Int, references count: Int, at offset: Int) throws(PropertyListError) {
    guard depth < limits.maximumDepth else { throw fault(.tooDeep(limit: limits.maximumDepth), offset) }
    references += count
    guard references < limits.maximumObjects else {
      throw fault(.tooManyObjects(limit: limits.maximumObjects), offset)
    }
  }

  /// Counts what a part stands for into its container.
  private func add(_ part: Decoded, to whole: inout Decoded, at offset: Int) throws(PropertyListError) {
    whole.objects += part.objects
    whole.bytes += part.bytes
    whole.height = max(whole.height, part.height + 1)
    guard whole.objects <= limits.maximumObjects else {
      throw fault(.tooManyObjects(limit: limits.maximumObjects), offset)
    }
    guard whole.bytes <= limits.maximumExpandedBytes else {
      throw fault(.expansionTooLarge(limit: limits.maximumExpandedBytes), offset)
    }
  }

  private mutating func take(_ count: Int, at offset: Int) throws(PropertyListError) {
    taken += count
    guard taken <= limits.maximumExpandedBytes else {
      throw fault(.expansionTooLarge(limit: limits.maximumExpandedBytes), offset)
    }
  }

  private func reference(at position: Int) throws(PropertyListError) -> Int {
    let reference = Self.number(bytes, at: position, size: referenceSize)
    guard reference < UInt64(objectCount) else {
      throw fault(.corrupt("a reference to object \(reference), which does not exist"), position)
    }
    return Int(reference)
  }

  /// The bytes after a marker with a count: the count stands in the marker's low half or, from 15, in an integer.
  private func content(at offset: Int, unit: Int) throws(PropertyListError) -> Range<Int> {
    var count = Int(bytes[offset] & 0x0F)
    var start = offset + 1
    if count == 0x0F {
      try need(1, at: start)
      guard bytes[start] >> 4 == 0x1 else { throw fault(.corrupt("a count that is not an integer"), start) }
      let large = try integer(at: start)
      guard let value = large.int64, value >= 0, value <= Int64(bytes.count) else {
        throw fault(.unexpectedEnd(in: "an object of \(large) elements"), offset)
      }
      count = Int(value)
      start += 1 + 1 << Int(bytes[start] & 0x0F)
    }
    guard count <= (tableOffset - start) / unit else {
      throw fault(.unexpectedEnd(in: "an object of \(count) elements"), offset)
    }
    return start..<(start + count * unit)
  }

  private func need(_ count: Int, at offset: Int) throws(PropertyListError) {
    guard tableOffset - offset >= count else { throw fault(.unexpectedEnd(in: "an object"), offset) }
  }
}
