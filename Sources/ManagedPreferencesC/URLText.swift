import CManagedPreferences
import Glibc
import PropertyList

/// URLs as the texts that C passes and gets.
enum URLText {
  /// The text of a URL, and of the URL that it is relative to; nil for a text with a NUL, which no URL has.
  static func texts(_ reference: URLReference) -> (text: String, base: String?)? {
    switch reference {
    case .file(let path): return path.utf8.contains(0) ? nil : (fileURL(ofPath: path), nil)
    case .url(let text, let base): return (text + (base ?? "")).utf8.contains(0) ? nil : (text, base)
    }
  }

  /// `file://` and the path, made absolute, with everything escaped that a path of RFC 3986 can't hold.
  static func fileURL(ofPath path: String) -> String {
    let absolute = path.hasPrefix("/") ? path : currentDirectory() + path
    var text = "file://"
    for byte in absolute.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        if "/-._~!$&'()*+,;=:@".utf8.contains(byte) {
          text.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
          let digits = String(byte, radix: 16, uppercase: true)
          text += (byte < 16 ? "%0" : "%") + digits
        }
      }
    }
    return text
  }

  /// With a slash behind it.
  private static func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    let text = String(cString: path)
    return text.hasSuffix("/") ? text : text + "/"
  }

  /// What a text means that is to be stored as a URL.
  static func reference(_ text: String, base: String?) throws(Failure) -> URLReference {
    if let base {
      try check(text)
      try check(base)
      if scheme(of: base) == nil { throw Failure(MP_ERROR_FORMAT, "'base' is not an absolute URL") }
      return .url(text: text, base: base)
    }
    if text.hasPrefix("/") || text == "~" || text.hasPrefix("~/") { return .file(path: text) }
    guard let scheme = scheme(of: text) else {
      throw Failure(MP_ERROR_FORMAT, "'url' is neither an absolute URL nor a path that begins with / or ~")
    }
    try check(text)
    // A file URL that names another host keeps its text: its path alone would mean a file of this machine.
    if scheme == "file", let path = localPath(ofFileURL: text) { return .file(path: path) }
    return .url(text: text, base: nil)
  }

  private static func check(_ text: String) throws(Failure) {
    if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
      throw Failure(MP_ERROR_FORMAT, "a URL can't contain white space or control characters; escape them with %")
    }
  }

  /// In lower case.
  private static func scheme(of text: String) -> String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = text[..<colon]
    guard let first = scheme.utf8.first, 0x61...0x7A ~= first | 0x20 else { return nil }
    let isScheme = scheme.utf8.allSatisfy { byte in
      0x61...0x7A ~= byte | 0x20 || 0x30...0x39 ~= byte || "+-.".utf8.contains(byte)
    }
    return isScheme ? scheme.lowercased() : nil
  }

  private static func localPath(ofFileURL text: String) -> String? {
    var rest = text.utf8.dropFirst("file:".utf8.count)
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let host = rest.prefix { $0 != UInt8(ascii: "/") }
      if !host.isEmpty && !host.elementsEqual("localhost".utf8) { return nil }
      rest = rest[host.endIndex...]
    }
    guard rest.first == UInt8(ascii: "/"), !rest.contains(where: { "?#".utf8.contains($0) }) else { return nil }
    return unescaped(Array(rest))
  }

  /// nil for an escape that is none, for one of a NUL, and for what is not UTF-8 then.
  private static func unescaped(_ bytes: [UInt8]) -> String? {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      var byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 2 <= bytes.count else { return nil }
        let digits = String(decoding: bytes[index..<index + 2], as: UTF8.self)
        guard !digits.hasPrefix("+"), let escaped = UInt8(digits, radix: 16), escaped != 0 else { return nil }
        byte = escaped
        index += 2
      }
      result.append(byte)
    }
    return String(validating: result, as: UTF8.self)
  }
}
