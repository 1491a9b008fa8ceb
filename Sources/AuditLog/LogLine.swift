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
    guard place > start, bytes[start] != UInt8(ascii: "0"), skip(",\"prev\":\""), let previous = digits() else {
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

  /// Whether 64 bytes are digits of ours, 32 at a time.
  @inline(__always)
  private static func areDigits(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Bool {
    for half in 0..<2 {
      let text = bytes.loadUnaligned(fromByteOffset: place + 32 * half, as: SIMD32<UInt8>.self)
      // What is not in a range wraps round to a large number.
      let number = (text &- UInt8(ascii: "0")) .< 10
      let letter = (text &- UInt8(ascii: "a")) .< 6
      if !all(number .| letter) { return false }
    }
    return true
  }

  /// Whether 64 digits stand for a digest.
  @inline(__always)
  static func digits(_ bytes: UnsafeRawBufferPointer, at place: Int, are digest: UnsafeRawBufferPointer) -> Bool {
    for half in 0..<2 {
      let text = bytes.loadUnaligned(fromByteOffset: place + 32 * half, as: SIMD32<UInt8>.self)
      // Letters have the bit of 0x40, and begin one above it.
      let values = (text & 15) &+ ((text &>> 6) &* 9)
      let read = (values.evenHalf &<< 4) | values.oddHalf
      if read != digest.loadUnaligned(fromByteOffset: 16 * half, as: SIMD16<UInt8>.self) { return false }
    }
    return true
  }
}
