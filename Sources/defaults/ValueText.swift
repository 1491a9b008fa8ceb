import PropertyList

/// Why a word is no value of its type.
enum ValueFault: Error {
  case integer, real, boolean, date, data

  /// What stands after the type's flag in a message.
  var expectation: String {
    switch self {
    case .integer: "is a whole number from -9223372036854775808 to 18446744073709551615"
    case .real: "is a decimal number, inf, -inf or nan"
    case .boolean: "is true, false, yes, no, 1 or 0"
    case .date: "is a date with its offset (2026-11-30T07:00:00Z or '2026-11-30 07:00:00 +0000')"
    case .data: "is pairs of hexadecimal digits"
    }
  }
}

/// A word of the command line as a value. Nothing is guessed: macOS stores 0 for `-int junk`; here it is refused.
enum ValueText {
  /// - Parameter type: one of the flags: `-int`.
  static func value(_ word: String, type: String) throws(ValueFault) -> PropertyListValue {
    switch type {
    case "-int", "-integer":
      guard let number = PropertyListInteger(decimal: word) else { throw .integer }
      return .integer(number)
    case "-float":
      guard let number = RealText.parse(word) else { throw .real }
      return .real(number)
    case "-bool", "-boolean":
      switch word.lowercased() {
      case "true", "yes", "1": return .boolean(true)
      case "false", "no", "0": return .boolean(false)
      default: throw .boolean
      }
    case "-date":
      guard let date = PropertyListDate(rfc3339: word) ?? PropertyListDate(gnustep: word) else { throw .date }
      return .date(date)
    case "-data":
      guard let bytes = bytes(hexadecimal: word) else { throw .data }
      return .data(bytes)
    default: return .string(word)
    }
  }

  /// A word without a type: a property list where it begins like one (after white space, one of `{ ( < "`), else the
  /// string that it is, to the last space.
  static func text(_ word: String) throws(PropertyListError) -> PropertyListValue {
    switch word.utf8.first(where: { $0 != 0x20 && !(0x09...0x0D ~= $0) }) {
    case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: "\""):
      let bytes = Array(word.utf8)
      if PropertyListCoding.detectFormat(bytes) == .xml { return try xml(bytes) }
      return try PropertyListCoding.decode(bytes)
    default: return .string(word)
    }
  }

  /// XML, also without what is around the value: `<dict><key>k</key><true/></dict>`.
  private static func xml(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
    let start = Array(bytes.drop { $0 == 0x20 || 0x09...0x0D ~= $0 })
    if start.starts(with: "<?".utf8) || start.starts(with: "<!".utf8) || start.starts(with: "<plist".utf8) {
      return try PropertyListCoding.decode(start, as: .xml)
    }
    let opening = Array("<plist>".utf8)
    do throws(PropertyListError) {
      return try PropertyListCoding.decode(opening + start + Array("</plist>".utf8), as: .xml)
    } catch {
      guard case .line(1, let column) = error.position else { throw error }
      throw PropertyListError(error.reason, at: .line(1, column: max(1, column - opening.count)))
    }
  }

  private static func bytes(hexadecimal word: String) -> [UInt8]? {
    let digits = Array(word.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      guard let high = hexadecimalDigit(digits[start]), let low = hexadecimalDigit(digits[start + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
