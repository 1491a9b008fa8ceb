/// Writes Apple's binary property lists (`bplist00`).
///
/// Objects stand in the order in which they are met: a container, then for a dictionary its keys and its values.
/// Equal scalars are written once; containers are not shared. That is the order and the sharing that CPython's
/// `plistlib` takes over from Apple's files.
struct BinaryEncoder {
  private enum Object {
    case scalar(PropertyListValue)
    case uid(UInt32)
    /// `count` references from `start` on.
    case array(start: Int, count: Int)
    /// `count` references to keys from `start` on, then as many to values.
    case dictionary(start: Int, count: Int)
  }

  private var objects: [Object] = []
  private var references: [Int] = []
  private var scalars = ScalarTable()
  private var output: [UInt8] = Array("bplist00".utf8)

  /// The file for a value that `EncodableCheck` has passed.
  static func encode(_ value: PropertyListValue) -> [UInt8] {
    var encoder = BinaryEncoder()
    _ = encoder.add(value)
    encoder.write()
    return encoder.output
  }

  /// Gives a value, and all that it contains, numbers.
  private mutating func add(_ value: PropertyListValue) -> Int {
    switch value {
    case .array(let elements):
      let number = objects.count
      let start = references.count
      objects.append(.array(start: start, count: elements.count))
      references.append(contentsOf: repeatElement(0, count: elements.count))
      for (index, element) in elements.enumerated() { references[start + index] = add(element) }
      return number
    case .dictionary(let members):
      let number = objects.count
      if let uid = KeyedArchiveUID.number(members) {
        objects.append(.uid(uid))
        return number
      }
      let start = references.count
      objects.append(.dictionary(start: start, count: members.count))
      references.append(contentsOf: repeatElement(0, count: 2 * members.count))
      let sorted = KeyOrder.sorted(members)
      for (index, member) in sorted.enumerated() { references[start + index] = add(.string(member.key)) }
      for (index, member) in sorted.enumerated() { references[start + sorted.count + index] = add(member.value) }
      return number
    default:
      let next = objects.count
      let number = scalars.number(of: value, next: next)
      if number == next { objects.append(.scalar(value)) }
      return number
    }
  }

  private mutating func write() {
    let referenceSize = Self.size(UInt64(objects.count))
    var offsets: [Int] = []
    offsets.reserveCapacity(objects.count)
    for object in objects {
      offsets.append(output.count)
      switch object {
      case .scalar(let value): writeScalar(value)
      case .uid(let number):
        let size = Self.size(UInt64(number))
        output.append(0x80 | UInt8(size - 1))
        append(UInt64(number), size: size)
      case .array(let start, let count):
        writeMarker(0xA0, count: count)
        for reference in references[start..<(start + count)] { append(UInt64(reference), size: referenceSize) }
      case .dictionary(let start, let count):
        writeMarker(0xD0, count: count)
        for reference in references[start..<(start + 2 * count)] { append(UInt64(reference), size: referenceSize) }
      }
    }
    let table = output.count
    let offsetSize = Self.size(UInt64(table))
    for offset in offsets { append(UInt64(offset), size: offsetSize) }
    output.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
    append(UInt64(objects.count), size: 8)
    append(0, size: 8)
    append(UInt64(table), size: 8)
  }

  private mutating func writeScalar(_ value: PropertyListValue) {
    switch value {
    case .boolean(let flag): output.append(flag ? 0x09 : 0x08)
    case .integer(let number): writeInteger(number)
    case .real(let number):
      output.append(0x23)
      append(number.bitPattern, size: 8)
    case .date(let date):
      output.append(0x33)
      append(date.secondsSinceReferenceDate.bitPattern, size: 8)
    case .data(let bytes):
      writeMarker(0x40, count: bytes.count)
      output.append(contentsOf: bytes)
    case .string(let text): writeString(text)
    case .array, .dictionary: preconditionFailure("a container is not a scalar")
    }
  }

  private mutating func writeString(_ text: String) {
    let utf8 = text.utf8
    if utf8.allSatisfy({ $0 < 0x80 }) {
      writeMarker(0x50, count: utf8.count)
      output.append(contentsOf: utf8)
    } else {
      let utf16 = text.utf16
      writeMarker(0x60, count: utf16.count)
      for unit in utf16 { append(UInt64(unit), size: 2) }
    }
  }

  private mutating func writeInteger(_ number: PropertyListInteger) {
    if number.isNegative {
      output.append(0x13)
      append(number.bitPattern, size: 8)
    } else if number.bitPattern > UInt64(Int64.max) {
      output.append(0x14)
      append(0, size: 8)
      append(number.bitPattern, size: 8)
    } else {
      let size = Self.size(number.bitPattern)
      output.append(0x10 | UInt8(size.trailingZeroBitCount))
      append(number.bitPattern, size: size)
    }
  }

  private mutating func writeMarker(_ kind: UInt8, count: Int) {
    if count < 15 {
      output.append(kind | UInt8(count))
    } else {
      output.append(kind | 0x0F)
      writeInteger(PropertyListInteger(count))
    }
  }

  private mutating func append(_ number: UInt64, size: Int) {
    var shift = 8 * size
    while shift > 0 {
      shift -= 8
      output.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  /// The smallest of 1, 2, 4 and 8 bytes that holds the number.
  private static func size(_ number: UInt64) -> Int {
    number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
  }
}
