/// The form in which macOS's `defaults read` shows values: an old-style property list for people.
///
/// ```
/// {
///     "first-run" = 0;
///     picture = {length = 5000, bytes = 0x89504e47 0d0a1a0a 0000000d 49484452 ... 454e44ae 426082 };
///     recent =     (
///         "Séance nº 4",
///         draft
///     );
/// }
/// ```
/// It is not a codec. Booleans, numbers and dates show as text, a date without its fraction, and data of more than 24
/// bytes is shortened; a shortened value is no property list in any format, so a text that holds one can't be read back by
/// mistake. What is to be read back is encoded with ``PropertyListCoding``.
///
/// Layout, quoting and shortening are macOS's, the second indentation of nested containers included. One thing differs:
/// macOS writes characters that are not ASCII as `\U00e9`; here they stand as UTF-8, and only those are escaped that could
/// act on a terminal or can't be seen (controls, separators of lines, turns of the reading direction). Such an escape
/// (`\U001b`) and all other strings read back as old-style text.
public enum PropertyListDescription {
  /// The text for a value, without a final new line. A string that is no part of a container is the text itself.
  ///
  /// - Complexity: O(*n* log *n*) in the size of the value.
  public static func text(of value: PropertyListValue) -> String {
    if case .string(let text) = value { return text }
    var writer = DescriptionWriter()
    writer.write(value, level: 0, isNested: false)
    return String(decoding: writer.output, as: UTF8.self)
  }
}

private struct DescriptionWriter {
  var output: [UInt8] = []

  /// - Parameters:
  ///   - level: how many containers are around the value.
  ///   - isNested: quotes what has other characters than letters and digits.
  mutating func write(_ value: PropertyListValue, level: Int, isNested: Bool) {
    switch value {
    case .string(let text): writeWord(text)
    case .integer(let number): writeScalar(number.description, isNested)
    case .real(let number): writeScalar(Self.text(of: number), isNested)
    case .boolean(let flag): append(flag ? "1" : "0")
    case .date(let date): writeScalar(Self.text(of: date), isNested)
    case .data(let bytes): writeData(bytes)
    case .array(let elements): writeArray(elements, level: level)
    case .dictionary(let members): writeDictionary(members, level: level)
    }
  }

  private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }

  private mutating func indent(_ level: Int) {
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 4 * level))
  }

  private mutating func writeScalar(_ text: String, _ isNested: Bool) { isNested ? writeWord(text) : append(text) }

  // MARK: Containers

  /// macOS's containers begin with their own indentation, also where they follow `key =` or that of an element.
  private mutating func writeArray(_ elements: [PropertyListValue], level: Int) {
    indent(level)
    append("(\n")
    for (index, element) in elements.enumerated() {
      indent(level + 1)
      write(element, level: level + 1, isNested: true)
      append(index + 1 < elements.count ? ",\n" : "\n")
    }
    indent(level)
    append(")")
  }

  private mutating func writeDictionary(_ members: [String: PropertyListValue], level: Int) {
    indent(level)
    append("{\n")
    for member in KeyOrder.sorted(members) {
      indent(level + 1)
      writeWord(member.key)
      append(" = ")
      write(member.value, level: level + 1, isNested: true)
      append(";\n")
    }
    indent(level)
    append("}")
  }

  // MARK: Scalars

  /// Bare where there are only letters and digits of ASCII, as macOS does it, else in quotes.
  private mutating func writeWord(_ text: String) {
    let isBare =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: false
        }
      }
    if isBare { return append(text) }
    append("\"")
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": append("\\\"")
      case "\\": append("\\\\")
      case "\n": append("\\n")
      case "\t": append("\\t")
      case "\r": append("\\r")
      default:
        if DisplayText.isUnsafe(scalar) {
          for unit in String(scalar).utf16 { append("\\U" + hexadecimal(UInt32(unit), width: 4)) }
        } else {
          output.append(contentsOf: String(scalar).utf8)
        }
      }
    }
    append("\"")
  }

  /// `{length = 3, bytes = 0x0a0b0c}`; from 25 bytes on the first 16 and the last 8, in fours.
  private mutating func writeData(_ bytes: [UInt8]) {
    append("{length = \(bytes.count), bytes = 0x")
    if bytes.count <= 24 {
      writeHexadecimal(bytes[...])
      return append("}")
    }
    for start in stride(from: 0, to: 16, by: 4) {
      writeHexadecimal(bytes[start..<(start + 4)])
      append(" ")
    }
    append("... ")
    for start in stride(from: bytes.count - 8, to: bytes.count, by: 4) {
      writeHexadecimal(bytes[start..<(start + 4)])
      append(" ")
    }
    append("}")
  }

  private mutating func writeHexadecimal(_ bytes: ArraySlice<UInt8>) {
    for byte in bytes { append(hexadecimal(UInt32(byte), width: 2)) }
  }

  /// A whole number without its point: `2`, where other forms write `2.0`.
  private static func text(of number: Double) -> String {
    let text = RealText.preferred(number)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func text(of date: PropertyListDate) -> String {
    PropertyListDate(secondsSinceReferenceDate: date.secondsSinceReferenceDate.rounded(.down)).gnustep
  }
}
