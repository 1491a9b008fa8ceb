/// What a boolean, an integer or a real getter makes of a stored string: the rules on raw UTF-8 bytes.
///
/// There is one copy of these rules. The getters of `PropertyListValue` and the fast path that reads strings in place
/// both come here, so a forced string and a user's string give the same answer. Nothing is allocated, except for reals.
public enum StringConversions {
  /// White space, then `Y y T t` first, or at most one sign, any number of zeros and a digit 1–9, is true; all else is
  /// false.
  ///
  /// So `YES`, `true`, `1`, `01`, `-1`, `1.5`, `12abc` and `tomato` are true; `NO`, `0`, `0.5`, `.5`, `--1`, `on`,
  /// `nil` and the empty string are false. (`NSString.boolValue` in swift-corelibs-foundation.)
  public static func boolean(utf8 bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = whiteSpace(bytes)
    guard index < bytes.count else { return false }
    switch bytes[index] {
    case UInt8(ascii: "Y"), UInt8(ascii: "y"), UInt8(ascii: "T"), UInt8(ascii: "t"): return true
    case UInt8(ascii: "+"), UInt8(ascii: "-"): index += 1
    default: break
    }
    while index < bytes.count, bytes[index] == UInt8(ascii: "0") { index += 1 }
    return index < bytes.count && 0x31...0x39 ~= bytes[index]
  }

  /// White space, at most one sign, and as many ASCII digits as follow, clamped to Int64; 0 without digits.
  public static func integer(utf8 bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = whiteSpace(bytes)
    var isNegative = false
    if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
      isNegative = bytes[index] == UInt8(ascii: "-")
      index += 1
    }
    var result = 0
    while index < bytes.count, 0x30...0x39 ~= bytes[index] {
      let digit = Int(bytes[index] - 0x30)
      let (product, tooLarge) = result.multipliedReportingOverflow(by: 10)
      let (sum, beyond) =
        isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if tooLarge || beyond { return isNegative ? .min : .max }
      result = sum
      index += 1
    }
    return result
  }

  /// White space and the longest decimal number that follows (`1e3` is 1000, `.5` is 0.5); 0 without one, which holds
  /// for `inf`, `nan` and hexadecimal too. A number beyond the range is ±∞.
  public static func double(utf8 bytes: UnsafeBufferPointer<UInt8>) -> Double {
    let rest = UnsafeBufferPointer(rebasing: bytes[whiteSpace(bytes)...])
    let count = RealText.decimalPrefix(rest)
    return count == 0 ? 0 : RealText.value(ofDecimal: UnsafeBufferPointer(rebasing: rest[..<count]))
  }

  /// How many bytes of white space and new lines come first: Unicode's, as `CharacterSet.whitespacesAndNewlines`.
  private static func whiteSpace(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09...0x0D: index += 1
      case 0xC2 where index + 1 < bytes.count && (bytes[index + 1] == 0x85 || bytes[index + 1] == 0xA0): index += 2
      case 0xE1...0xE3:
        guard index + 2 < bytes.count else { return index }
        switch (bytes[index], bytes[index + 1], bytes[index + 2]) {
        case (0xE1, 0x9A, 0x80), (0xE2, 0x80, 0x80...0x8B), (0xE2, 0x80, 0xA8), (0xE2, 0x80, 0xA9),
          (0xE2, 0x80, 0xAF), (0xE2, 0x81, 0x9F), (0xE3, 0x80, 0x80):
          index += 3
        default: return index
        }
      default: return index
      }
    }
    return index
  }
}
