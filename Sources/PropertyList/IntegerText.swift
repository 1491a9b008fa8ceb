/// Integers in text formats.
enum IntegerText {
  /// Why this text is not a `PropertyListInteger`: no integer at all, or one that is too large.
  static func fault(_ text: String) -> PropertyListError.Reason {
    let digits =
      text.utf8.first == UInt8(ascii: "-") || text.utf8.first == UInt8(ascii: "+")
      ? text.utf8.dropFirst() : text.utf8[...]
    let isInteger = !digits.isEmpty && digits.allSatisfy { 0x30...0x39 ~= $0 }
    return isInteger ? .integerOutOfRange(text) : .invalidInteger(text)
  }
}
