/// Reads JSON (RFC 8259) strictly: no comments, no trailing commas, nothing after the value.
///
/// A number with a point or an exponent is a real, any other an integer of −2⁶³ … 2⁶⁴−1, exactly. `null` and a key that
/// stands twice are errors. Dates and data come back as the strings that they were written as.
struct JSONReader {
  private var scanner: TextScanner

  static func decode(_ bytes: [UInt8], limits: DecodingLimits) throws(PropertyListError) -> PropertyListValue {
    let (text, _) = try TextEncoding.utf8(bytes, validating: true)
    return try text.withUnsafeBufferPointer { (buffer) throws(PropertyListError) -> PropertyListValue in
      var reader = JSONReader(scanner: TextScanner(buffer, limits: limits))
      reader.skipWhiteSpace()
      guard !reader.scanner.isAtEnd else { throw reader.scanner.fault(.empty) }
      let value = try reader.value(depth: 0)
      reader.skipWhiteSpace()
      guard reader.scanner.isAtEnd else { throw reader.scanner.unexpected(expected: "the end", in: "JSON") }
      return value
    }
  }

  private mutating func skipWhiteSpace() {
    while let byte = scanner.current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      scanner.index += 1
    }
  }

  private mutating func value(depth: Int) throws(PropertyListError) -> PropertyListValue {
    try scanner.allow(scanner.budget.object())
    switch scanner.current {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case let byte? where byte == UInt8(ascii: "-") || 0x30...0x39 ~= byte: return try number()
    case let byte? where 0x61...0x7A ~= byte: return try word()
    default: throw scanner.unexpected(expected: "a value", in: "JSON")
    }
  }

  private mutating func object(depth: Int) throws(PropertyListError) -> PropertyListValue {
    try scanner.allow(scanner.budget.enter(from: depth))
    scanner.index += 1
    var members: [String: PropertyListValue] = [:]
    skipWhiteSpace()
    if scanner.skip("}") { return .dictionary(members) }
    while true {
      skipWhiteSpace()
      guard scanner.current == UInt8(ascii: "\"") else {
        throw scanner.unexpected(expected: "a key in quotes", in: "an object")
      }
      let start = scanner.index
      try scanner.allow(scanner.budget.object())
      let key = try string()
      try scanner.allow(KeyCheck.objection(key), at: start)
      skipWhiteSpace()
      guard scanner.skip(":") else { throw scanner.unexpected(expected: "':'", in: "an object") }
      skipWhiteSpace()
      guard members.updateValue(try value(depth: depth + 1), forKey: key) == nil else {
        throw scanner.fault(.duplicateKey(key), at: start)
      }
      skipWhiteSpace()
      if scanner.skip("}") { return .dictionary(members) }
      guard scanner.skip(",") else { throw scanner.unexpected(expected: "',' or '}'", in: "an object") }
    }
  }

  private mutating func array(depth: Int) throws(PropertyListError) -> PropertyListValue {
    try scanner.allow(scanner.budget.enter(from: depth))
    scanner.index += 1
    var elements: [PropertyListValue] = []
    skipWhiteSpace()
    if scanner.skip("]") { return .array(elements) }
    while true {
      skipWhiteSpace()
      elements.append(try value(depth: depth + 1))
      skipWhiteSpace()
      if scanner.skip("]") { return .array(elements) }
      guard scanner.skip(",") else { throw scanner.unexpected(expected: "',' or ']'", in: "an array") }
    }
  }

  private mutating func word() throws(PropertyListError) -> PropertyListValue {
    let start = scanner.index
    while let byte = scanner.current, 0x61...0x7A ~= byte { scanner.index += 1 }
    switch scanner.text(start..<scanner.index) {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "null": throw scanner.fault(.null, at: start)
    case let word:
      throw scanner.fault(.unexpected(DisplayText.quotedExcerpt(word), expected: "a value"), at: start)
    }
  }

  private mutating func number() throws(PropertyListError) -> PropertyListValue {
    let start = scanner.index
    _ = scanner.skip("-")
    let whole = digits()
    guard whole > 0 else { throw scanner.unexpected(expected: "a digit", in: "a number") }
    if whole > 1, scanner.bytes[scanner.index - whole] == UInt8(ascii: "0") {
      throw scanner.fault(.invalidInteger(scanner.text(start..<scanner.index)), at: start)
    }
    var isReal = false
    if scanner.skip(".") {
      isReal = true
      guard digits() > 0 else { throw scanner.unexpected(expected: "a digit", in: "a number") }
    }
    if let byte = scanner.current, byte | 0x20 == UInt8(ascii: "e") {
      isReal = true
      scanner.index += 1
      if !scanner.skip("-") { _ = scanner.skip("+") }
      guard digits() > 0 else { throw scanner.unexpected(expected: "a digit", in: "a number") }
    }
    let text = scanner.text(start..<scanner.index)
    if isReal {
      guard let number = RealText.strict(text) else { throw scanner.fault(.invalidReal(text), at: start) }
      return .real(number)
    }
    guard let number = PropertyListInteger(decimal: text) else {
      throw scanner.fault(.integerOutOfRange(text), at: start)
    }
    return .integer(number)
  }

  private mutating func digits() -> Int {
    let start = scanner.index
    while let byte = scanner.current, 0x30...0x39 ~= byte { scanner.index += 1 }
    return scanner.index - start
  }

  /// The string whose opening quote is here.
  private mutating func string() throws(PropertyListError) -> String {
    scanner.index += 1
    var start = scanner.index
    var escaped: EscapedText?
    while let byte = scanner.current {
      switch byte {
      case UInt8(ascii: "\""):
        let range = start..<scanner.index
        scanner.index += 1
        guard var text = escaped else {
          try scanner.allow(scanner.budget.content(range.count))
          return scanner.text(range)
        }
        guard text.append(scanner.bytes[range]), let string = text.string else {
          throw scanner.fault(.invalidEncoding("UTF-16"), at: scanner.index - 1)
        }
        try scanner.allow(scanner.budget.content(text.bytes.count))
        return string
      case UInt8(ascii: "\\"):
        // Taken out, or each escape would copy what is there already.
        var text = escaped.take() ?? EscapedText()
        guard text.append(scanner.bytes[start..<scanner.index]) else { throw scanner.fault(.invalidEncoding("UTF-16")) }
        try escape(into: &text)
        escaped = text
        start = scanner.index
      case 0..<0x20: throw scanner.unexpected(expected: "an escape", in: "a string")
      default: scanner.index += 1
      }
    }
    throw scanner.fault(.unexpectedEnd(in: "a string"))
  }

  private mutating func escape(into text: inout EscapedText) throws(PropertyListError) {
    let start = scanner.index
    scanner.index += 1
    guard let byte = scanner.current else { throw scanner.fault(.unexpectedEnd(in: "a string")) }
    scanner.index += 1
    let scalar: Unicode.Scalar
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scalar = Unicode.Scalar(byte)
    case UInt8(ascii: "b"): scalar = "\u{8}"
    case UInt8(ascii: "f"): scalar = "\u{c}"
    case UInt8(ascii: "n"): scalar = "\n"
    case UInt8(ascii: "r"): scalar = "\r"
    case UInt8(ascii: "t"): scalar = "\t"
    case UInt8(ascii: "u"):
      guard let unit = scanner.codeUnit() else {
        throw scanner.unexpected(expected: "a hexadecimal digit", in: "a string")
      }
      guard text.append(codeUnit: unit) else { throw scanner.fault(.invalidEncoding("UTF-16"), at: start) }
      return
    default:
      scanner.index -= 1
      throw scanner.unexpected(expected: "one of the escapes \" \\ / b f n r t u", in: "a string")
    }
    guard text.append(scalar) else { throw scanner.fault(.invalidEncoding("UTF-16"), at: start) }
  }
}
