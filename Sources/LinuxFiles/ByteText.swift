/// Bytes that should have been text.
public enum ByteText {
  /// The text of a C string; nil where it is not UTF-8. Taken as text all the same it would be another one.
  public static func text(_ bytes: UnsafePointer<CChar>) -> String? { String(validatingCString: bytes) }

  /// A C string for people: printable ASCII as it is, every other byte as `\xe9`.
  public static func escaped(_ bytes: UnsafePointer<CChar>) -> String {
    var text = ""
    var next = bytes
    while next.pointee != 0 {
      let byte = UInt8(bitPattern: next.pointee)
      if byte >= 0x20, byte < 0x7f {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "\\x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
      }
      next += 1
    }
    return text
  }
}
