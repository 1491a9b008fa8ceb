/// What plainly written text means: the core schema of YAML 1.2 (§10.3.2), as rule 3 takes it.
///
/// | text | kind |
/// |---|---|
/// | nothing, `~`, `null` `Null` `NULL` | null |
/// | `true` `True` `TRUE` `false` `False` `FALSE` | boolean |
/// | `[-+]?[0-9]+`, `0o[0-7]+`, `0x[0-9a-fA-F]+` | integer; a leading zero never means octal |
/// | `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, `[-+]?\.inf`, `\.nan` | real |
/// | anything else | string |
///
/// `yes no on off y n` are strings; dates and data come by tag alone.
enum PlainScalar {
  struct Resolution {
    var kind: NodeTree.Kind
    var flags: NodeTree.NodeFlags = []
  }

  /// - Complexity: O(1) for most strings (their first byte tells), O(length) at worst.
  @inline(__always)
  static func resolve(_ text: UnsafeRawBufferPointer) -> Resolution {
    guard let first = text.first else { return Resolution(kind: .null) }
    switch first {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
      return number(text)
    case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "n"),
      UInt8(ascii: "N"), UInt8(ascii: "~"), UInt8(ascii: "y"), UInt8(ascii: "Y"), UInt8(ascii: "o"), UInt8(ascii: "O"):
      return text.count <= 5 ? word(text) : Resolution(kind: .string)
    default:
      return Resolution(kind: .string)
    }
  }

  private static func word(_ text: UnsafeRawBufferPointer) -> Resolution {
    switch String(decoding: text, as: UTF8.self) {
    case "~", "null", "Null", "NULL": Resolution(kind: .null)
    case "true", "True", "TRUE", "false", "False", "FALSE": Resolution(kind: .boolean)
    case "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF":
      Resolution(kind: .string, flags: .ambiguousBoolean)
    default: Resolution(kind: .string)
    }
  }

  @inline(__always)
  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  private static func number(_ text: UnsafeRawBufferPointer) -> Resolution {
    let string = Resolution(kind: .string)
    var index = 0
    if text[0] == 0x2B || text[0] == 0x2D { index = 1 }
    guard index < text.count else { return string }
    if text[0] == 0x30 && text.count > 2 && (text[1] == 0x6F || text[1] == 0x78) { return prefixed(text) }
    let digitsStart = index
    while index < text.count && isDigit(text[index]) { index += 1 }
    let digits = index - digitsStart
    let leadingZero: NodeTree.NodeFlags = digits > 1 && text[digitsStart] == 0x30 ? .leadingZero : []
    if index == text.count {
      let outOfRange: NodeTree.NodeFlags = digits > 18 && !integer(text).fits ? .outOfRange : []
      return Resolution(kind: .integer, flags: leadingZero.union(outOfRange))
    }
    var fraction = 0
    if text[index] == 0x2E {
      if digits == 0 && isWord(text, index) { return Resolution(kind: .real) }
      index += 1
      let start = index
      while index < text.count && isDigit(text[index]) { index += 1 }
      fraction = index - start
    }
    guard digits + fraction > 0 else { return string }
    if index == text.count {
      var flags = leadingZero
      // 2.0 keeps its text when it is written again; 1.10 and 1.00 don't.
      if fraction > 1 && text[index - 1] == 0x30 { flags.insert(.trailingZero) }
      if digits > 300 && !real(text).isFinite { flags.insert(.outOfRange) }
      return Resolution(kind: .real, flags: flags)
    }
    guard text[index] == 0x65 || text[index] == 0x45 else { return string }
    index += 1
    if index < text.count && (text[index] == 0x2B || text[index] == 0x2D) { index += 1 }
    let exponentStart = index
    while index < text.count && isDigit(text[index]) { index += 1 }
    guard index > exponentStart && index == text.count else { return string }
    return Resolution(kind: .real, flags: real(text).isFinite ? leadingZero : leadingZero.union(.outOfRange))
  }

  /// `.inf` after an optional sign, or `.nan` alone.
  private static func isWord(_ text: UnsafeRawBufferPointer, _ index: Int) -> Bool {
    guard text.count - index == 4 else { return false }
    switch String(decoding: text[index...], as: UTF8.self) {
    case ".inf", ".Inf", ".INF": return true
    case ".nan", ".NaN", ".NAN": return index == 0
    default: return false
    }
  }

  private static func prefixed(_ text: UnsafeRawBufferPointer) -> Resolution {
    let octal = text[1] == 0x6F
    for byte in text[2...] {
      let isFine =
        octal
        ? byte >= 0x30 && byte <= 0x37
        : isDigit(byte) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x66)
      guard isFine else { return Resolution(kind: .string) }
    }
    var flags: NodeTree.NodeFlags = octal ? .leadingZero : []
    if !integer(text).fits { flags.insert(.outOfRange) }
    return Resolution(kind: .integer, flags: flags)
  }

  /// The value of text that resolves to an integer, clamped to Int64, and whether it fits.
  static func integer(_ text: UnsafeRawBufferPointer) -> (value: Int64, fits: Bool) {
    var index = 0
    var radix: UInt64 = 10
    let isNegative = text.first == 0x2D
    if isNegative || text.first == 0x2B { index = 1 }
    if text.count > 2 && text[0] == 0x30 && (text[1] == 0x6F || text[1] == 0x78) {
      radix = text[1] == 0x6F ? 8 : 16
      index = 2
    }
    let bound = UInt64(Int64.max) + (isNegative ? 1 : 0)
    var magnitude: UInt64 = 0
    while index < text.count {
      let byte = text[index]
      let digit = isDigit(byte) ? UInt64(byte - 0x30) : UInt64(byte | 0x20) &- 0x61 &+ 10
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: radix)
      let (sum, carried) = product.addingReportingOverflow(digit)
      if overflow || carried || sum > bound { return (isNegative ? .min : .max, false) }
      magnitude = sum
      index += 1
    }
    return (isNegative ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(magnitude), true)
  }

  /// The value of text that resolves to a real (or an integer), correctly rounded, the same in every locale.
  static func real(_ text: UnsafeRawBufferPointer) -> Double {
    var bytes = String(decoding: text, as: UTF8.self)
    let isNegative = bytes.hasPrefix("-")
    if isNegative || bytes.hasPrefix("+") { bytes.removeFirst() }
    switch bytes {
    case ".inf", ".Inf", ".INF": return isNegative ? -.infinity : .infinity
    case ".nan", ".NaN", ".NAN": return .nan
    default: break
    }
    if bytes.hasPrefix(".") { bytes = "0" + bytes }
    bytes = bytes.replacingPointAtEnd
    let magnitude = Double(bytes) ?? .infinity
    return isNegative ? -magnitude : magnitude
  }
}

extension String {
  // `5.` and `5.e3` are reals of the core schema that Double's parser does not take.
  fileprivate var replacingPointAtEnd: String {
    guard let point = firstIndex(of: ".") else { return self }
    let after = index(after: point)
    if after == endIndex { return self + "0" }
    return self[after] == "e" || self[after] == "E" ? self[...point] + "0" + self[after...] : self
  }
}
