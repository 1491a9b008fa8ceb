import Digests
import PropertyList

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
    func skip(_ text: StaticString) -> Bool {
      let count = text.utf8CodeUnitCount
      guard place + count <= bytes.count else { return false }
      for index in 0..<count where bytes[place + index] != text.utf8Start[index] { return false }
      place += count
      return true
    }
    func digits() -> Int? {
      guard place + 64 <= bytes.count else { return nil }
      for index in place..<place + 64 {
        switch bytes[index] {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
        default: return nil
        }
      }
      defer { place += 64 }
      return place
    }
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

  /// Whether 64 digits stand for a digest.
  static func digits(_ bytes: UnsafeRawBufferPointer, at place: Int, are digest: UnsafeRawBufferPointer) -> Bool {
    func value(_ digit: UInt8) -> UInt8 { digit < 0x3a ? digit - 0x30 : digit - 0x57 }
    for index in 0..<SHA256.byteCount
    where value(bytes[place + 2 * index]) << 4 | value(bytes[place + 2 * index + 1]) != digest[index] { return false }
    return true
  }
}

extension LogTip {
  /// The end of a chain that ends with this line; nil where it is no line of ours.
  init?(line: UnsafeRawBufferPointer) {
    guard let read = LogLine(line) else { return nil }
    self.init(
      sequence: read.sequence, hash: SHA256.digest(of: Array(line)),
      time: PropertyListDate(rfc3339: String(decoding: line[read.time], as: UTF8.self)))
  }
}
