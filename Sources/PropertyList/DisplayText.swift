extension PropertyListValue {
  /// The value on one line, for people: `"text"`, `30`, `2.0`, `true`, `[1, 2]`, `{key: "value"}`, a date as RFC 3339,
  /// data as `<0a0b>`, from 17 bytes on shortened with its length.
  ///
  /// The type can be told from the text. Control characters, and the invisible ones that turn the direction of what
  /// follows, are written as `\u{202e}`, so that no value can disguise itself on a terminal. Keys are sorted.
  public var displayText: String {
    var text = ""
    appendDisplayText(to: &text)
    return text
  }

  private func appendDisplayText(to text: inout String) {
    switch self {
    case .string(let string): DisplayText.appendQuoted(string, to: &text)
    case .integer(let number): text += number.description
    case .real(let number): text += RealText.shortest(number)
    case .boolean(let flag): text += flag ? "true" : "false"
    case .date(let date): text += date.rfc3339
    case .data(let bytes):
      text += "<"
      for byte in bytes.prefix(16) { text += hexadecimal(UInt32(byte), width: 2) }
      text += bytes.count > 16 ? "… (\(bytes.count) bytes)>" : ">"
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += ", " }
        element.appendDisplayText(to: &text)
      }
      text += "]"
    case .dictionary(let members):
      text += "{"
      for (index, member) in KeyOrder.sorted(members).enumerated() {
        if index > 0 { text += ", " }
        DisplayText.appendKey(member.key, to: &text)
        text += ": "
        member.value.appendDisplayText(to: &text)
      }
      text += "}"
    }
  }
}

/// Texts that come from files, made safe to print.
enum DisplayText {
  /// A key: bare when it is a plain word, else quoted.
  static func appendKey(_ key: String, to text: inout String) {
    let isPlain =
      !key.isEmpty
      && key.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
    if isPlain { text += key } else { appendQuoted(key, to: &text) }
  }

  /// The beginning of a text that may be very long, for a message.
  static func excerpt(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: 60, limitedBy: scalars.endIndex), end < scalars.endIndex
    else { return text }
    return String(scalars[..<end]) + "…"
  }

  /// `excerpt` in double quotes, escaped.
  static func quotedExcerpt(_ text: String) -> String {
    var result = ""
    appendQuoted(excerpt(text), to: &result)
    return result
  }

  /// A string in double quotes, escaped as Swift escapes it.
  static func appendQuoted(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default:
        if isUnsafe(scalar) {
          text += "\\u{" + String(scalar.value, radix: 16) + "}"
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
    }
    text += "\""
  }

  /// Controls, format characters (direction, invisible ones), line and paragraph separators, and scalars that
  /// mean nothing.
  static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
    if scalar == "\u{200C}" || scalar == "\u{200D}" { return false }  // they join emoji and letters
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
    default: false
    }
  }
}
