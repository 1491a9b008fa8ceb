import Glibc

/// Reals as decimal text, independent of the process's locale.
public enum RealText {
  /// Reads the whole text as a number: decimal, or one of `inf`, `-inf` and `nan` as they are written here; nil for
  /// anything else, and for a decimal number beyond the range.
  public static func parse(_ text: String) -> Double? {
    // Longer ones are not asked: comparing strings that are not ASCII can take long.
    switch text.utf8.count <= 4 ? text : "" {
    case "inf": .infinity
    case "-inf": -.infinity
    case "nan": .nan
    default: strict(text)
    }
  }

  /// The shortest text that reads back as the same number: `2.0`, `0.1`, `1e+20`, `inf`, `-inf`, `nan`, `-0.0`.
  static func shortest(_ number: Double) -> String {
    number.isNaN ? "nan" : number.description
  }

  /// The text that the `string` getter gives.
  ///
  /// As `shortest`, except that a number that is exactly a Float prints as the Float, when the Float's text has at
  /// most 7 significant digits where the Double's needs 14 or more: a stored `Float(3.7)` is `3.7`, not
  /// `3.700000047683716`.
  static func preferred(_ number: Double) -> String {
    let text = shortest(number)
    guard number.isFinite, significantDigits(text) >= 14 else { return text }
    let single = Float(number)
    guard Double(single) == number, single.isFinite else { return text }
    let short = single.description
    return significantDigits(short) <= 7 ? short : text
  }

  private static func significantDigits(_ text: String) -> Int {
    let mantissa = text.utf8.prefix { $0 != UInt8(ascii: "e") }.filter { 0x30...0x39 ~= $0 }
    guard let first = mantissa.firstIndex(where: { $0 != 0x30 }), let last = mantissa.lastIndex(where: { $0 != 0x30 })
    else { return 1 }
    return last - first + 1
  }

  /// How many of the bytes, from the first on, are a decimal number: an optional sign, digits with at most one point
  /// among or beside them, and an optional exponent. 0 when they do not start with one.
  static func decimalPrefix(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = 0
    if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") { index += 1 }
    let whole = digits(bytes, from: index)
    index += whole
    var fraction = 0
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      fraction = digits(bytes, from: index + 1)
      if whole + fraction > 0 { index += 1 + fraction }
    }
    guard whole + fraction > 0 else { return 0 }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      var exponent = index + 1
      if exponent < bytes.count, bytes[exponent] == UInt8(ascii: "-") || bytes[exponent] == UInt8(ascii: "+") {
        exponent += 1
      }
      let count = digits(bytes, from: exponent)
      if count > 0 { index = exponent + count }
    }
    return index
  }

  private static func digits(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count, 0x30...0x39 ~= bytes[index] { index += 1 }
    return index - start
  }

  /// The number that a decimal text stands for, rounded correctly; ±∞ beyond the range.
  ///
  /// - Precondition: `decimalPrefix` covers all of it.
  static func value(ofDecimal bytes: UnsafeBufferPointer<UInt8>) -> Double {
    // Swift's own conversion refuses nothing that `decimalPrefix` passes, but says nil for what overflows.
    let text = String(decoding: bytes, as: UTF8.self)
    if let number = Double(text) { return number }
    return bytes.first == UInt8(ascii: "-") ? -.infinity : .infinity
  }

  /// Reads the whole text as a decimal number, in a format's strict way: nil when it is not one, or too large.
  static func strict(_ text: some StringProtocol) -> Double? {
    var text = String(text)
    return text.withUTF8 { bytes in
      guard !bytes.isEmpty, decimalPrefix(bytes) == bytes.count else { return nil }
      let number = value(ofDecimal: bytes)
      return number.isFinite ? number : nil
    }
  }
}
