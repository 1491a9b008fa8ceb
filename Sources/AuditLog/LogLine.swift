import Digests

/// The beginning of a line of the log, read by its bytes: what the chain needs, without reading the rest as JSON.
struct LogLine {
  var sequence: UInt64 = 0
  /// Where `prev`'s 64 digits begin, in the memory that was read.
  var previous: Int = 0
  /// Where `personal`'s digits begin; nil for records that have all in the line.
  var personal: Int?
  var time: Range<Int> = 0..<0
  var kind: Range<Int> = 0..<0
  /// Behind `kind`'s value.
  var rest: Int = 0

  /// What numbers end with that can still be counted on from.
  static let greatestSequence = UInt64(Int64.max) - 1

  /// Whether records of a kind excuse what is missing, or end an alarm.
  static func excuses(_ kind: some Sequence<UInt8>) -> Bool {
    ["audit.alarm", "audit.acknowledged", "audit.checkpoint", "audit.erased", "audit.set-aside"].contains {
      kind.elementsEqual($0.utf8)
    }
  }

  /// Reads a line, without its line end. nil: not a line of ours.
  ///
  /// - Complexity: O(beginning of the line).
  init?(_ bytes: UnsafeRawBufferPointer) {
    var place = 0
    @inline(__always)
    func skip(_ text: StaticString) -> Bool {
      let count = text.utf8CodeUnitCount
      guard place + count <= bytes.count else { return false }
      for index in 0..<count where bytes[place + index] != text.utf8Start[index] { return false }
      place += count
      return true
    }
    @inline(__always)
    func digits() -> Int? {
      guard place + 64 <= bytes.count, Self.areDigits(bytes, at: place) else { return nil }
      defer { place += 64 }
      return place
    }
    @inline(__always)
    func text() -> Range<Int>? {
      let start = place
      while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
        if bytes[place] == UInt8(ascii: "\\") || bytes[place] < 0x20 { return nil }
        place += 1
      }
      return place < bytes.count ? start..<place : nil
    }
    guard bytes.last == UInt8(ascii: "}"), skip("{\"seq\":") else { return nil }
    let start = place
    while place < bytes.count, bytes[place] >= UInt8(ascii: "0"), bytes[place] <= UInt8(ascii: "9") {
      let (scaled, overflow) = sequence.multipliedReportingOverflow(by: 10)
      let (sum, carry) = scaled.addingReportingOverflow(UInt64(bytes[place] - UInt8(ascii: "0")))
      if overflow || carry { return nil }
      sequence = sum
      place += 1
    }
    guard place > start, bytes[start] != UInt8(ascii: "0"), sequence <= Self.greatestSequence, skip(",\"prev\":\""),
      let previous = digits()
    else {
      return nil
    }
    self.previous = previous
    guard skip("\",\"") else { return nil }
    if skip("personal\":\"") {
      guard let personal = digits(), skip("\",\"") else { return nil }
      self.personal = personal
    }
    guard skip("time\":\""), let time = text(), skip("\",\"kind\":\""), let kind = text() else { return nil }
    self.time = time
    self.kind = kind
    rest = place + 1
  }

  /// Whether 64 bytes are digits of ours; eight at a time, as the bytes of a number.
  @inline(__always)
  private static func areDigits(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    var isGood = tops
    for part in 0..<8 {
      let text = bytes.loadUnaligned(fromByteOffset: place + 8 * part, as: UInt64.self)
      // What is added carries a byte's top bit where the byte is at least "0", beyond "9", at least "a", beyond "f".
      let plain = text & ~tops
      let isNumber = (plain &+ ones &* 0x50) & ~(plain &+ ones &* 0x46)
      let isLetter = (plain &+ ones &* 0x1F) & ~(plain &+ ones &* 0x19)
      isGood &= (isNumber | isLetter) & ~text
    }
    return isGood == tops
  }

  /// Whether 64 digits stand for a digest.
  @inline(__always)
  static func digits(_ bytes: UnsafeRawBufferPointer, at place: Int, are digest: UnsafeRawBufferPointer) -> Bool {
    Self.digest(bytes, at: place) == digest.loadUnaligned(as: SIMD4<UInt64>.self)
  }

  /// The digest that 64 digits stand for; eight digits, four bytes at a time.
  @inline(__always)
  static func digest(_ bytes: UnsafeRawBufferPointer, at place: Int) -> SIMD4<UInt64> {
    SIMD4(
      word(bytes, at: place), word(bytes, at: place + 16), word(bytes, at: place + 32), word(bytes, at: place + 48))
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
    (half(bytes, at: place) | half(bytes, at: place + 8) &<< 32).littleEndian
  }

  @inline(__always)
  private static func half(_ bytes: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let text = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    // Letters have the bit of 0x40, and begin one above it.
    let values = (text & (ones &* 15)) &+ ((text &>> 6) & ones) &* 9
    // Two values to a byte, then the bytes side by side.
    var read = ((values &<< 4) | (values &>> 8)) & 0x00FF_00FF_00FF_00FF
    read = (read | (read &>> 8)) & 0x0000_FFFF_0000_FFFF
    read = (read | (read &>> 16)) & 0xFFFF_FFFF
    return read
  }
}
