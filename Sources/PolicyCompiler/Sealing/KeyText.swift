/// What is wrong with the text of a key.
public enum KeyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Empty, or only white space.
  case empty
  /// Not PEM of the expected kind; what was expected.
  case notPEM(expected: String)
  /// PEM, but of another algorithm, or encrypted.
  case notEd25519
  /// A public key of small order: signatures under it prove nothing.
  case weak

  public var description: String {
    switch self {
    case .empty: "it is empty"
    case .notPEM(let expected): "it is not PEM with the label \(expected)"
    case .notEd25519: "it is not a plain Ed25519 key"
    case .weak: "it is a weak key: anyone can make signatures that fit it"
    }
  }
}

/// Keys as PEM, as other programs read and write them: `PRIVATE KEY` (PKCS #8) and `PUBLIC KEY` (SPKI).
///
/// For Ed25519 both are a constant prefix and 32 bytes (RFC 8410), so no general ASN.1 reader is needed or wanted.
enum KeyText {
  static let privateLabel = "PRIVATE KEY"
  static let publicLabel = "PUBLIC KEY"
  static let privatePrefix: [UInt8] = [
    0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
  ]
  static let publicPrefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
  static let rawByteCount = 32

  static func encode(_ raw: [UInt8], prefix: [UInt8], label: String) -> [UInt8] {
    Array("-----BEGIN \(label)-----\n".utf8) + base64(prefix + raw) + Array("\n-----END \(label)-----\n".utf8)
  }

  static func decode(_ text: [UInt8], prefix: [UInt8], label: String) throws(KeyError) -> [UInt8] {
    let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    guard text.contains(where: { !space.contains($0) }) else { throw .empty }
    // Lines without their ends; blank lines around the key do no harm.
    let lines = text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D })
      .map { $0.reversed().drop { space.contains($0) }.reversed() as [UInt8] }
      .filter { !$0.isEmpty }
    guard lines.count >= 3, lines.first == Array("-----BEGIN \(label)-----".utf8),
      lines.last == Array("-----END \(label)-----".utf8), let der = bytes(base64: lines[1..<(lines.count - 1)].joined())
    else { throw .notPEM(expected: label) }
    guard der.count == prefix.count + rawByteCount, der.starts(with: prefix) else { throw .notEd25519 }
    return Array(der[prefix.count...])
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// On one line: both kinds of key are shorter than PEM's 64 characters.
  private static func base64(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0...3 {
        text.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
      }
    }
    return text
  }

  /// nil for anything but canonical base64.
  private static func bytes(base64 text: some Sequence<UInt8>) -> [UInt8]? {
    let text = Array(text)
    guard text.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: text.count, by: 4) {
      let group = text[start..<(start + 4)]
      let padding = group.reversed().prefix { $0 == UInt8(ascii: "=") }.count
      if padding > 2 || (padding > 0 && start + 4 != text.count) { return nil }
      var bits = 0
      for byte in group.dropLast(padding) {
        guard let digit = alphabet.firstIndex(of: byte) else { return nil }
        bits = bits << 6 | digit
      }
      bits <<= 6 * padding
      for place in 0..<(3 - padding) { bytes.append(UInt8(bits >> (16 - 8 * place) & 0xFF)) }
    }
    return base64(bytes) == text ? bytes : nil
  }
}
