/// One source file, as every later stage sees it: UTF-8 without a byte-order mark, lines ended by LF.
///
/// The digest of a policy tree is taken over these bytes, so a file that an editor saved as UTF-16 or with CRLF compiles
/// to the same payload (rule 4). Bytes that are no text at all are kept as they are, for the diagnostic's sake.
public struct SourceText: Sendable {
  /// As given on the command line, for example `policies/exam.yaml`.
  public let path: String
  /// Below the folder of the tree, for example `exam.yaml`; sources are sorted by its bytes.
  public let relativePath: String
  public let bytes: [UInt8]

  let isASCII: Bool
  /// The text holds U+0085, U+2028 or U+2029, which libyaml counts as line ends and editors don't.
  let hasForeignLineEnds: Bool

  /// Normalises raw bytes; what is wrong with them comes back beside the text.
  static func reading(
    _ raw: [UInt8], path: String, relativePath: String
  ) -> (text: SourceText, fault: SourceNormalization.Fault?) {
    do {
      let normal = try SourceNormalization.normalize(raw)
      return (SourceText(path: path, relativePath: relativePath, normal: normal), nil)
    } catch {
      return (SourceText(path: path, relativePath: relativePath, normal: .init(bytes: raw, isASCII: false)), error)
    }
  }

  init(path: String, relativePath: String, normal: SourceNormalization.NormalText) {
    self.path = path
    self.relativePath = relativePath
    bytes = normal.bytes
    isASCII = normal.isASCII
    hasForeignLineEnds = normal.hasForeignLineEnds
  }

  /// The position of a byte, by counting line ends and scalars up to it.
  func position(ofByte offset: Int) -> SourcePosition {
    var line: UInt32 = 1
    var column: UInt32 = 1
    for byte in bytes.prefix(offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return SourcePosition(line: line, column: column, length: 1)
  }

  /// The bytes of a line, counted from 1, without its end; nil behind the last line.
  func line(_ number: UInt32) -> ArraySlice<UInt8>? {
    var current: UInt32 = 1
    var start = bytes.startIndex
    while current < number {
      guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      start = end + 1
      current += 1
    }
    guard start < bytes.endIndex else { return nil }
    return bytes[start..<(bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex)]
  }
}
