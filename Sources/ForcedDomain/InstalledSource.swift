/// Where the policies in use came from: what an administrator changes, or makes again, when they are to change.
///
/// Kept in the marker, which is root's. It is for messages and comparisons (`status`); nothing that binds follows from it.
public enum InstalledSource: Sendable, Hashable {
  /// `apply`: the folder of sources, as an absolute path.
  case folder(String)
  /// `install`: the bundle's file, as an absolute path, as it was called then.
  case bundleFile(String)

  /// The folder or file.
  public var path: String {
    switch self {
    case .folder(let path), .bundleFile(let path): path
    }
  }

  /// As the marker has it: kind and path on one line. Bytes that could end the line, and `%`, stand as `%` with two
  /// hexadecimal digits.
  var line: String {
    switch self {
    case .folder(let path): "folder " + Self.escaped(path)
    case .bundleFile(let path): "bundle " + Self.escaped(path)
    }
  }

  /// nil for a kind that this version does not know, and for a damaged path.
  init?(line: String) {
    guard let space = line.utf8.firstIndex(of: UInt8(ascii: " ")),
      let path = Self.unescaped(line[line.utf8.index(after: space)...]), path.hasPrefix("/")
    else { return nil }
    switch line[..<space] {
    case "folder": self = .folder(path)
    case "bundle": self = .bundleFile(path)
    default: return nil
    }
  }

  private static func escaped(_ path: String) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var bytes: [UInt8] = []
    for byte in path.utf8 {
      if byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "%") {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func unescaped(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(),
        let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
