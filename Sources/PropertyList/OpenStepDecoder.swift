/// Reads old-style property lists: OpenStep's text, GNUstep's typed values, and the lines of `.strings` files.
///
/// ```
/// { key = value; "quoted \U00e9" = (a, b); data = <0a0b>;
///   number = <*I5>; flag = <*BY>; when = <*D2001-02-03 04:05:06 +0000>; }
/// ```
/// Without GNUstep's `<*…>` every scalar is a string. Stricter than Foundation: each member ends with `;`, a comment that
/// begins also ends, an escape exists or is an error, and a key stands once.
struct OpenStepDecoder {
  private var scanner: TextScanner

  static func decode(_ bytes: [UInt8], limits: DecodingLimits) throws(PropertyListError) -> PropertyListValue {
    let (text, _) = try TextEncoding.utf8(bytes, validating: true)
    return try text.withUnsafeBufferPointer { (buffer) throws(PropertyListError) -> PropertyListValue in
      var decoder = OpenStepDecoder(scanner: TextScanner(buffer, limits: limits))
      return try decoder.document()
    }
  }

  private mutating func document() throws(PropertyListError) -> PropertyListValue {
    try skipSpace()
    guard !scanner.isAtEnd else { throw scanner.fault(.empty) }
    let start = scanner.index
    let value = try value(depth: 0)
    try skipSpace()
    if scanner.isAtEnd { return value }
    // `key = value;` without braces: a file of strings.
    if case .string = value, scanner.current == UInt8(ascii: "=") {
      scanner.index = start
      let members = try members(depth: 1)
      guard scanner.isAtEnd else { throw scanner.unexpected(expected: "a key", in: "a dictionary") }
      return .dictionary(members)
    }
    throw scanner.unexpected(expected: "the end", in: "a property list")
  }

  /// Steps over white space and comments.
  private mutating func skipSpace() throws(PropertyListError) {
    while let byte = scanner.current {
      switch byte {
      case 0x20, 0x09...0x0D: scanner.index += 1
      case 0xE2 where scanner.byte(ahead: 1) == 0x80 && [0xA8, 0xA9].contains(scanner.byte(ahead: 2)):
        scanner.index += 3  // U+2028 and U+2029, line and paragraph separators
      case UInt8(ascii: "/") where scanner.byte(ahead: 1) == UInt8(ascii: "/"):
        while let byte = scanner.current, byte != 0x0A, byte != 0x0D { scanner.index += 1 }
      case UInt8(ascii: "/") where scanner.byte(ahead: 1) == UInt8(ascii: "*"):
        let start = scanner.index
        scanner.index += 2
        while scanner.current != UInt8(ascii: "*") || scanner.byte(ahead: 1) != UInt8(ascii: "/") {
          guard !scanner.isAtEnd else { throw scanner.fault(.unexpectedEnd(in: "a comment"), at: start) }
          scanner.index += 1
        }
        scanner.index += 2
      default: return
      }
    }
  }

  private mutating func value(depth: Int) throws(PropertyListError) -> PropertyListValue {
    try scanner.allow(scanner.budget.object())
    switch scanner.current {
    case UInt8(ascii: "{"):
      try scanner.allow(scanner.budget.enter(from: depth))
      scanner.index += 1
      let members = try members(depth: depth + 1)
      guard scanner.skip("}") else { throw scanner.unexpected(expected: "a key or '}'", in: "a dictionary") }
      return .dictionary(members)
    case UInt8(ascii: "("): return try array(depth: depth)
    case UInt8(ascii: "<"): return try angleBracket()
    default: return .string(try string(expected: "a value"))
    }
  }

  /// Members up to what cannot be a key; each is `key = value;`.
  private mutating func members(depth: Int) throws(PropertyListError) -> [String: PropertyListValue] {
    var members: [String: PropertyListValue] = [:]
    while true {
      try skipSpace()
      guard let byte = scanner.current, isQuote(byte) || Self.isBare(byte) else { return members }
      let start = scanner.index
      try scanner.allow(scanner.budget.object())
      let key = try string(expected: "a key")
      try scanner.allow(KeyCheck.objection(key), at: start)
      try skipSpace()
      guard scanner.skip("=") else { throw scanner.unexpected(expected: "'='", in: "a dictionary") }
      try skipSpace()
      let value = try value(depth: depth)
      guard members.updateValue(value, forKey: key) == nil else { throw scanner.fault(.duplicateKey(key), at: start) }
      try skipSpace()
      guard scanner.skip(";") else { throw scanner.unexpected(expected: "';'", in: "a dictionary") }
    }
  }

  private mutating func array(depth: Int) throws(PropertyListError) -> PropertyListValue {
    try scanner.allow(scanner.budget.enter(from: depth))
    scanner.index += 1
    var elements: [PropertyListValue] = []
    while true {
      try skipSpace()
      if scanner.skip(")") { return .array(elements) }
      elements.append(try value(depth: depth + 1))
      try skipSpace()
      if scanner.skip(")") { return .array(elements) }
      guard scanner.skip(",") else { throw scanner.unexpected(expected: "',' or ')'", in: "an array") }
    }
  }

  // MARK: Strings

  private func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  /// The characters that need no quotes.
  static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"),
      UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private mutating func string(expected: String) throws(PropertyListError) -> String {
    guard let byte = scanner.current else { throw scanner.unexpected(expected: expected, in: "a property list") }
    if isQuote(byte) { return try quoted(by: byte) }
    let start = scanner.index
    while let byte = scanner.current, Self.isBare(byte) { scanner.index += 1 }
    guard scanner.index > start else { throw scanner.unexpected(expected: expected, in: "a property list") }
    try scanner.allow(scanner.budget.content(scanner.index - start), at: start)
    return scanner.text(start..<scanner.index)
  }

  private mutating func quoted(by quote: UInt8) throws(PropertyListError) -> String {
    let opening = scanner.index
    scanner.index += 1
    var start = scanner.index
    var text = EscapedText()
    while let byte = scanner.current {
      switch byte {
      case quote:
        guard text.append(scanner.bytes[start..<scanner.index]), let string = text.string else {
          throw scanner.fault(.invalidEncoding("UTF-16"))
        }
        scanner.index += 1
        try scanner.allow(scanner.budget.content(text.bytes.count), at: opening)
        return string
      case UInt8(ascii: "\\"):
        guard text.append(scanner.bytes[start..<scanner.index]) else { throw scanner.fault(.invalidEncoding("UTF-16")) }
        try escape(into: &text)
        start = scanner.index
      case 0x09...0x0D: scanner.index += 1
      case 0..<0x20: throw scanner.unexpected(expected: "an escape", in: "a string")
      default: scanner.index += 1
      }
    }
    throw scanner.fault(.unexpectedEnd(in: "a string"), at: opening)
  }

  private mutating func escape(into text: inout EscapedText) throws(PropertyListError) {
    let start = scanner.index
    scanner.index += 1
    guard let byte = scanner.current else { throw scanner.fault(.unexpectedEnd(in: "a string")) }
    let scalar: Unicode.Scalar?
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      var value = 0
      for _ in 0..<3 {
        guard let digit = scanner.current, 0x30...0x37 ~= digit else { break }
        value = value * 8 + Int(digit - 0x30)
        scanner.index += 1
      }
      scalar = UInt8(exactly: value).flatMap(NextStepEncoding.scalar)
    case UInt8(ascii: "U"), UInt8(ascii: "u"):
      scanner.index += 1
      guard let unit = scanner.codeUnit() else {
        throw scanner.unexpected(expected: "a hexadecimal digit", in: "a string")
      }
      guard text.append(codeUnit: unit) else { throw scanner.fault(.invalidEncoding("UTF-16"), at: start) }
      return
    default:
      scalar = Self.simpleEscape(byte)
      if scalar != nil { scanner.index += 1 }
    }
    guard let scalar else {
      scanner.index = start + 1
      throw scanner.unexpected(expected: "the name of an escape", in: "a string")
    }
    guard text.append(scalar) else { throw scanner.fault(.invalidEncoding("UTF-16"), at: start) }
  }

  /// `\n` and its like; a mark that is no letter or digit stands for itself.
  private static func simpleEscape(_ byte: UInt8) -> Unicode.Scalar? {
    switch byte {
    case UInt8(ascii: "a"): "\u{7}"
    case UInt8(ascii: "b"): "\u{8}"
    case UInt8(ascii: "f"): "\u{c}"
    case UInt8(ascii: "n"), 0x0A: "\n"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "t"): "\t"
    case UInt8(ascii: "v"): "\u{b}"
    case 0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: Unicode.Scalar(byte)
    default: nil
    }
  }

  // MARK: <…>

  private mutating func angleBracket() throws(PropertyListError) -> PropertyListValue {
    switch scanner.byte(ahead: 1) {
    case UInt8(ascii: "*"): return try typed()
    case UInt8(ascii: "["): return try base64()
    default: return try hexadecimalData()
    }
  }

  /// `<0a0b 0C0D>`: pairs of digits, with white space where one likes.
  private mutating func hexadecimalData() throws(PropertyListError) -> PropertyListValue {
    let start = scanner.index
    scanner.index += 1
    var data: [UInt8] = []
    var high: UInt8?
    while let byte = scanner.current {
      switch byte {
      case UInt8(ascii: ">"):
        guard high == nil else { throw scanner.fault(.invalidData, at: start) }
        scanner.index += 1
        try scanner.allow(scanner.budget.content(data.count), at: start)
        return .data(data)
      case 0x20, 0x09...0x0D: break
      default:
        guard let digit = hexadecimalDigit(byte) else {
          throw scanner.unexpected(expected: "a digit or '>'", in: "data")
        }
        if let first = high {
          data.append(first << 4 | digit)
          high = nil
        } else {
          high = digit
        }
      }
      scanner.index += 1
    }
    throw scanner.fault(.unexpectedEnd(in: "data"), at: start)
  }

  /// GNUstep's `<[base64]>`.
  private mutating func base64() throws(PropertyListError) -> PropertyListValue {
    let start = scanner.index
    scanner.index += 2
    let first = scanner.index
    while let byte = scanner.current, byte != UInt8(ascii: "]") { scanner.index += 1 }
    let content = scanner.bytes[first..<scanner.index]
    guard scanner.skip("]"), scanner.skip(">") else { throw scanner.unexpected(expected: "']>'", in: "data") }
    guard let data = Base64.decode(content) else { throw scanner.fault(.invalidData, at: start) }
    try scanner.allow(scanner.budget.content(data.count), at: start)
    return .data(data)
  }

  /// GNUstep's `<*I5>`, `<*R0.5>`, `<*BY>`, `<*D2001-02-03 04:05:06 +0000>`; what follows the letter may be in quotes.
  private mutating func typed() throws(PropertyListError) -> PropertyListValue {
    let start = scanner.index
    scanner.index += 2
    guard let letter = scanner.current else { throw scanner.fault(.unexpectedEnd(in: "a typed value"), at: start) }
    scanner.index += 1
    let text: String
    if scanner.current == UInt8(ascii: "\"") {
      text = try quoted(by: UInt8(ascii: "\""))
    } else {
      let first = scanner.index
      while let byte = scanner.current, byte != UInt8(ascii: ">"), byte >= 0x20 { scanner.index += 1 }
      text = scanner.text(first..<scanner.index)
    }
    guard scanner.skip(">") else { throw scanner.unexpected(expected: "'>'", in: "a typed value") }
    switch letter {
    case UInt8(ascii: "I"):
      guard let number = PropertyListInteger(decimal: text) else {
        throw scanner.fault(IntegerText.fault(text), at: start)
      }
      return .integer(number)
    case UInt8(ascii: "R"):
      guard let number = RealText.parse(text) else { throw scanner.fault(.invalidReal(text), at: start) }
      return .real(number)
    case UInt8(ascii: "B"):
      if text.utf8.elementsEqual("Y".utf8) { return .boolean(true) }
      if text.utf8.elementsEqual("N".utf8) { return .boolean(false) }
      throw scanner.fault(.unexpected(DisplayText.quotedExcerpt(text), expected: "Y or N"), at: start)
    case UInt8(ascii: "D"):
      guard let date = PropertyListDate(gnustep: text) else { throw scanner.fault(.invalidDate(text), at: start) }
      return .date(date)
    default:
      throw scanner.fault(
        .unexpected(PropertyListValue.string(String(Unicode.Scalar(letter))).displayText, expected: "I, R, B or D"),
        at: start + 2)
    }
  }
}
