/// Writes XML property lists as Apple does: tabs, sorted keys, data in lines of at most 76 columns.
///
/// Stricter in two places, so that what is written reads back as the same value: dates keep their fraction of a second,
/// and a carriage return is written as `&#13;` (XML would read a bare one as a line feed).
struct XMLEncoder {
  private var output: [UInt8] = []

  /// The file for a value that `EncodableCheck` has passed.
  static func encode(_ value: PropertyListValue) -> [UInt8] {
    var encoder = XMLEncoder()
    encoder.append(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """)
    encoder.write(value, depth: 0)
    encoder.append("</plist>\n")
    return encoder.output
  }

  private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }

  private mutating func indent(_ depth: Int) {
    output.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: depth))
  }

  private mutating func write(_ value: PropertyListValue, depth: Int) {
    indent(depth)
    switch value {
    case .string(let text): writeElement("string", text)
    case .integer(let number): writeElement("integer", number.description)
    case .real(let number): writeElement("real", Self.text(number))
    case .boolean(let flag): append(flag ? "<true/>\n" : "<false/>\n")
    case .date(let date): writeElement("date", date.rfc3339)
    case .data(let bytes): writeData(bytes, depth: depth)
    case .array(let elements):
      guard !elements.isEmpty else { return append("<array/>\n") }
      append("<array>\n")
      for element in elements { write(element, depth: depth + 1) }
      indent(depth)
      append("</array>\n")
    case .dictionary(let members):
      guard !members.isEmpty else { return append("<dict/>\n") }
      append("<dict>\n")
      for member in KeyOrder.sorted(members) {
        indent(depth + 1)
        writeElement("key", member.key)
        write(member.value, depth: depth + 1)
      }
      indent(depth)
      append("</dict>\n")
    }
  }

  private mutating func writeElement(_ name: String, _ text: String) {
    append("<\(name)>")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): append("&amp;")
      case UInt8(ascii: "<"): append("&lt;")
      case UInt8(ascii: ">"): append("&gt;")
      case UInt8(ascii: "\r"): append("&#13;")
      default: output.append(byte)
      }
    }
    append("</\(name)>\n")
  }

  private mutating func writeData(_ bytes: [UInt8], depth: Int) {
    append("<data>\n")
    // A line holds what fits into 76 columns when a tab counts 8, but 16 columns at least.
    let columns = max(16, 76 - 8 * depth)
    let lineLength = columns / 4 * 3
    for start in stride(from: 0, to: bytes.count, by: lineLength) {
      indent(depth)
      output.append(contentsOf: Base64.encode(bytes[start..<min(bytes.count, start + lineLength)]))
      append("\n")
    }
    indent(depth)
    append("</data>\n")
  }

  /// The spelling of infinities and NaN is CoreFoundation's.
  private static func text(_ number: Double) -> String {
    number.isInfinite ? (number < 0 ? "-infinity" : "+infinity") : RealText.shortest(number)
  }
}
