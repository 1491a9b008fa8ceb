/// A URL as preferences hold it, without Foundation's type.
public enum URLReference: Hashable, Sendable {
  /// A file's path; absolute, unless the stored string was not.
  case file(path: String)
  /// Any other URL: its text, and the URL that the text is relative to.
  case url(text: String, base: String?)

  /// What is stored for a URL: a file's path as a string, with `~` for the home directory, and any other as a keyed
  /// archive of an `NSURL` (data), the form that swift-corelibs-foundation and macOS read.
  ///
  /// - Parameter home: The home directory. It is abbreviated at a component boundary only: with `/home/ann`,
  ///   `/home/anna/x` stays as it is.
  public static func storedForm(of reference: URLReference, home: String) -> PropertyListValue {
    switch reference {
    case .file(let path):
      let home = home.last == "/" ? String(home.dropLast()) : home
      guard !home.isEmpty, path.utf8.starts(with: home.utf8) else { return .string(path) }
      let rest = path.utf8.dropFirst(home.utf8.count)
      guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return .string(path) }
      return .string("~" + String(decoding: rest, as: UTF8.self))
    case .url(let text, let base): return .data(URLArchive.encode(text: text, base: base))
    }
  }
}

extension PropertyListValue {
  /// The URL that a stored value stands for: a string that begins with `scheme://` is that URL, any other string is a
  /// path, with `~` expanded; data is a keyed archive of an `NSURL`; anything else is nil.
  ///
  /// - Parameters:
  ///   - home: What `~` stands for.
  ///   - homeOfUser: What `~name` stands for; where it is nil the string stays as it is.
  public func urlValue(home: String, homeOfUser: (String) -> String? = { _ in nil }) -> URLReference? {
    switch self {
    case .string(let text):
      if Self.beginsWithScheme(text) { return .url(text: text, base: nil) }
      return .file(path: Self.expandingTilde(text, home: home, homeOfUser: homeOfUser))
    case .data(let bytes): return URLArchive.decode(bytes)
    case .integer, .real, .boolean, .date, .array, .dictionary: return nil
    }
  }

  /// `scheme://`, with a scheme of RFC 3986.
  private static func beginsWithScheme(_ text: String) -> Bool {
    let scheme = text.utf8.prefix { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    guard let first = scheme.first, 0x61...0x7A ~= first | 0x20 else { return false }
    return text.utf8[scheme.endIndex...].starts(with: "://".utf8)
  }

  private static func expandingTilde(_ path: String, home: String, homeOfUser: (String) -> String?) -> String {
    guard path.utf8.first == UInt8(ascii: "~") else { return path }
    let name = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
    guard var directory = name.isEmpty ? home : homeOfUser(String(decoding: name, as: UTF8.self)) else { return path }
    let rest = String(decoding: path.utf8[name.endIndex...], as: UTF8.self)
    if rest.isEmpty { return directory }
    if directory.last == "/" { directory.removeLast() }
    return directory + rest
  }
}
