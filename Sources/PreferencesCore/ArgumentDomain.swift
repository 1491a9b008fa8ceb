public import PropertyList

/// `NSArgumentDomain`: preferences given on the command line, for this process only.
public enum ArgumentDomain {
  /// Reads `-key value` pairs.
  ///
  /// A token that begins with `-`, followed by one that does not, is a pair; its key is the token without the first `-`.
  /// `--` alone ends the pairs; a key without a value is passed over. Of several pairs with one key the last holds.
  /// - Parameter arguments: the command line without the program's name.
  public static func parse(_ arguments: [String]) -> [String: PropertyListValue] {
    var result: [String: PropertyListValue] = [:]
    var index = 0
    while index < arguments.count, arguments[index] != "--" {
      let token = arguments[index]
      let next = index + 1 < arguments.count ? arguments[index + 1] : nil
      if isKey(token), let next, !isKey(next) {
        let key = String(token.unicodeScalars.dropFirst())
        if !key.isEmpty { result[key] = value(next) }
        index += 2
      } else {
        index += 1
      }
    }
    return result
  }

  /// By bytes: a combining character after the dash makes one grapheme with it, and is none the less a key.
  private static func isKey(_ token: String) -> Bool { token.utf8.first == UInt8(ascii: "-") }

  /// A value, trimmed of white space: a property list where it begins like one and is one, else the text.
  static func value(_ text: String) -> PropertyListValue {
    let scalars = text.unicodeScalars
    let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.endIndex
    let end = scalars.lastIndex { !$0.properties.isWhitespace }.map(scalars.index(after:)) ?? start
    let trimmed = String(scalars[start..<end])
    guard let first = trimmed.utf8.first, "{[(<\"".utf8.contains(first) else { return .string(trimmed) }
    let bytes = Array(trimmed.utf8)
    let format: PropertyListFormat = isXML(trimmed) ? .xml : .openStep
    return (try? PropertyListCoding.decode(bytes, as: format)) ?? .string(trimmed)
  }

  /// `<` begins both an XML document and old-style data (`<0a0b>`).
  private static func isXML(_ text: String) -> Bool {
    ["<?xml", "<!DOCTYPE", "<!--", "<plist"].contains { text.hasPrefix($0) }
  }
}
