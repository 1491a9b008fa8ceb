/// Writes old-style property lists, with GNUstep's typed values for the types that OpenStep's text does not have: what
/// is written reads back as the same value, type by type.
///
/// The text is ASCII: other characters are written as `\Uxxxx`, as Apple's `defaults` does.
struct OpenStepEncoder {
  private var output: [UInt8] = []

  /// The text for a value that `EncodableCheck` has passed.
  static func encode(_ value: PropertyListValue) -> [UInt8] {
    var encoder = OpenStepEncoder()
    encoder.write(value, depth: 0)
    encoder.append("\n")
    return encoder.output
  }

  private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }

  private mutating func newLine(_ depth: Int) {
    append("\n")
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 4 * depth))
  }

  private mutating func write(_ value: PropertyListValue, depth: Int) {
    switch value {
    case .string(let text): writeString(text)
    case .integer(let number): append("<*I\(number)>")
    case .real(let number): append("<*R\(RealText.shortest(number))>")
    case .boolean(let flag): append(flag ? "<*BY>" : "<*BN>")
    case .date(let date): append("<*D\(date.gnustep)>")
    case .data(let bytes):
      append("<")
      for byte in bytes { append(hexadecimal(UInt32(byte), width: 2)) }
      append(">")
    case .array(let elements):
      append("(")
      for (index, element) in elements.enumerated() {
        if index > 0 { append(",") }
        newLine(depth + 1)
        write(element, depth: depth + 1)
      }
      if !elements.isEmpty { newLine(depth) }
      append(")")
    case .dictionary(let members):
      append("{")
      for member in KeyOrder.sorted(members) {
        newLine(depth + 1)
        writeString(member.key)
        append(" = ")
        write(member.value, depth: depth + 1)
        append(";")
      }
      if !members.isEmpty { newLine(depth) }
      append("}")
    }
  }

  /// Bare when that is safe in every reader: not `-`, which some refuse, nor `/`, which may begin a comment.
  private mutating func writeString(_ text: String) {
    let isBare =
      !text.isEmpty
      && text.utf8.allSatisfy {
        OpenStepDecoder.isBare($0) && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":")
      }
    if isBare { return append(text) }
    append("\"")
    for unit in text.utf16 {
      switch unit {
      case 0x22: append("\\\"")
      case 0x5C: append("\\\\")
      case 0x0A: append("\\n")
      case 0x20..<0x7F: output.append(UInt8(unit))
      default: append("\\U" + hexadecimal(UInt32(unit), width: 4))
      }
    }
    append("\"")
  }
}
