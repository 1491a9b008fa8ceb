extension PropertyListCoding {
  /// The format that the bytes begin like.
  ///
  /// `bplist` is binary, whatever its version: a damaged binary file is never taken for the text `bplist00`. A first
  /// `<` is XML when a tag, a declaration or a comment follows, else old-style data. JSON is told from old-style text
  /// by its first bracket, or the `:` after its first key. All else is old-style text.
  /// - Complexity: O(1) but for leading white space and the first key.
  public static func detectFormat(_ bytes: [UInt8]) -> PropertyListFormat {
    if bytes.starts(with: "bplist".utf8) { return .binary }
    let (encoding, mark) = TextEncoding.detect(bytes)
    // Only ASCII matters here, and in UTF-16 and UTF-32 an ASCII character is its byte and zeros.
    let text =
      encoding == .utf8
      ? bytes.dropFirst(mark) : bytes.dropFirst(mark).prefix(1 << 16).filter { $0 != 0 }[...]
    var rest = text.drop(while: isSpace)
    switch rest.popFirst() {
    case UInt8(ascii: "<"):
      guard let next = rest.first else { return .openStep }
      if next == UInt8(ascii: "?") || next == UInt8(ascii: "!") { return .xml }
      // <0a0b> is data; of the elements that a property list may begin with, none is all hexadecimal digits.
      let name = rest.prefix { $0 != UInt8(ascii: ">") }
      let isData = name.allSatisfy { hexadecimalDigit($0) != nil || isSpace($0) }
      let isName = 0x61...0x7A ~= next | 0x20
      return isName && !isData ? .xml : .openStep
    case UInt8(ascii: "["): return .json
    case UInt8(ascii: "{"):
      rest = rest.drop(while: isSpace)
      guard rest.popFirst() == UInt8(ascii: "\"") else { return .openStep }
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        if byte == UInt8(ascii: "\\") { _ = rest.popFirst() }
      }
      return rest.drop(while: isSpace).first == UInt8(ascii: ":") ? .json : .openStep
    default: return .openStep
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
}
