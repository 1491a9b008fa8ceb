/// Searches in texts, byte by byte. The toolchain's own bring its module for regular expressions into a program, and with
/// it a tenth of a command's launch.
extension StringProtocol {
  /// Where a text first stands in this one.
  ///
  /// - Complexity: O(bytes × bytes of the text); for short texts.
  public func firstRange(ofBytes text: String) -> Range<Index>? {
    var start = utf8.startIndex
    while true {
      var at = start
      var matches = true
      for byte in text.utf8 {
        if at == utf8.endIndex { return nil }
        if utf8[at] != byte {
          matches = false
          break
        }
        at = utf8.index(after: at)
      }
      if matches { return start..<at }
      start = utf8.index(after: start)
    }
  }

  public func contains(bytesOf text: String) -> Bool { firstRange(ofBytes: text) != nil }

  /// This text with a byte of ASCII written as another text wherever it stands.
  public func replacing(byte: Unicode.Scalar, with text: String) -> String {
    var bytes: [UInt8] = []
    for unit in utf8 {
      if UInt32(unit) == byte.value { bytes += text.utf8 } else { bytes.append(unit) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
