/// Walks over the bytes of one JSON document and takes out only what is asked for.
///
/// A fleet's reports are some hundred megabytes of which a few hundredths are needed: a reader that builds values (and that
/// has no null, as property lists have none) would take most of the time. What is skipped is checked for its brackets and
/// strings, so that a file that was cut is noticed; what is read is checked in full.
struct JSONCursor {
  /// Why a document is no report; offsets count bytes from 0.
  struct Fault: Error {
    let message: String
    let offset: Int
  }

  private let bytes: UnsafeRawBufferPointer
  private(set) var index = 0
  /// A deeper document is refused.
  private static let maximumDepth = 512

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The cursor at another place of the same document.
  func at(_ index: Int) -> JSONCursor {
    var cursor = self
    cursor.index = index
    return cursor
  }

  func fault(_ message: String) -> Fault { Fault(message: message, offset: index) }

  // MARK: Structure

  private mutating func skipSpace() {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x0A, 0x0D, 0x09: index += 1
      default: return
      }
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func need(_ byte: UInt8) throws(Fault) {
    if take(byte) { return }
    throw fault(
      index == bytes.count ? "the document ends too early" : "'\(Character(Unicode.Scalar(byte)))' is expected")
  }

  /// Calls the body at each member's value, which it has to read or skip.
  ///
  /// - Parameter body: is given the number of the member's name in `names`; nil for any other name, whose value is skipped.
  mutating func object(
    _ names: [StaticString], _ body: (_ member: Int, inout JSONCursor) throws(Fault) -> Void
  ) throws(Fault) {
    try need(UInt8(ascii: "{"))
    if take(UInt8(ascii: "}")) { return }
    var seen: UInt64 = 0
    while true {
      skipSpace()
      let start = index
      try skipString()
      let name = UnsafeRawBufferPointer(rebasing: bytes[(start + 1)..<(index - 1)])
      try need(UInt8(ascii: ":"))
      if let member = names.firstIndex(where: { Self.equal(name, $0) }) {
        if seen >> UInt64(member) & 1 == 1 { throw fault("the member '\(names[member])' stands twice") }
        seen |= 1 << UInt64(member)
        try body(member, &self)
      } else {
        try skip()
      }
      if take(UInt8(ascii: "}")) { return }
      try need(UInt8(ascii: ","))
    }
  }

  /// Calls the body at each element, which it has to read or skip.
  mutating func array(_ body: (inout JSONCursor) throws(Fault) -> Void) throws(Fault) {
    try need(UInt8(ascii: "["))
    if take(UInt8(ascii: "]")) { return }
    while true {
      try body(&self)
      if take(UInt8(ascii: "]")) { return }
      try need(UInt8(ascii: ","))
    }
  }

  /// Only white space is left.
  mutating func end() throws(Fault) {
    skipSpace()
    if index < bytes.count { throw fault("there is something behind the document") }
  }

  private static func equal(_ name: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard name.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<name.count where name[index] != text.utf8Start[index] { return false }
    return true
  }

  // MARK: Values

  /// Passes over one value.
  mutating func skip() throws(Fault) {
    skipSpace()
    guard index < bytes.count else { throw fault("the document ends too early") }
    switch bytes[index] {
    case UInt8(ascii: "\""): return try skipString()
    case UInt8(ascii: "{"), UInt8(ascii: "["): break
    default: return try skipWord()
    }
    var open: [UInt8] = []
    repeat {
      guard index < bytes.count else { throw fault("the document ends too early") }
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        try skipString()
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard open.count < Self.maximumDepth else { throw fault("it is nested too deeply") }
        open.append(byte)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        // Each closing bracket stands two behind its opening one.
        guard open.popLast() == byte - 2 else { throw fault("brackets don't match") }
      default: break
      }
      index += 1
    } while !open.isEmpty
  }

  /// A number, `true`, `false` or `null`.
  private mutating func skipWord() throws(Fault) {
    let start = index
    scan: while index < bytes.count {
      switch bytes[index] {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): index += 1
      default: break scan
      }
    }
    if index == start { throw fault("a value is expected") }
  }

  private mutating func skipString() throws(Fault) {
    guard index < bytes.count else { throw fault("the document ends too early") }
    guard bytes[index] == UInt8(ascii: "\"") else { throw fault("a text is expected") }
    var at = index + 1
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\""):
        index = at + 1
        return
      case UInt8(ascii: "\\"): at += 2
      default: at += 1
      }
    }
    throw fault("the document ends too early")
  }

  private mutating func isNull() throws(Fault) -> Bool {
    skipSpace()
    guard index < bytes.count, bytes[index] == UInt8(ascii: "n") else { return false }
    let start = index
    try skipWord()
    guard bytes[start..<index].elementsEqual("null".utf8) else { throw fault("a value is expected") }
    return true
  }

  mutating func optionalString() throws(Fault) -> String? { try isNull() ? nil : try string() }

  /// An integer from 0 on; nil for null.
  mutating func optionalNumber() throws(Fault) -> UInt64? {
    if try isNull() { return nil }
    let start = index
    try skipWord()
    guard let number = UInt64(String(decoding: bytes[start..<index], as: UTF8.self)) else {
      throw fault("a whole number is expected")
    }
    return number
  }

  mutating func string() throws(Fault) -> String {
    skipSpace()
    let start = index
    try skipString()
    let raw = UnsafeRawBufferPointer(rebasing: bytes[(start + 1)..<(index - 1)])
    let text = raw.contains(UInt8(ascii: "\\")) ? try Self.unescaped(raw, fault("an escape is damaged")) : Array(raw)
    guard let string = String(validating: text, as: UTF8.self) else { throw fault("a text is not UTF-8") }
    return string
  }

  private static func unescaped(_ raw: UnsafeRawBufferPointer, _ fault: Fault) throws(Fault) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(raw.count)
    var index = 0
    func unit(at start: Int) throws(Fault) -> UInt32 {
      guard start + 4 <= raw.count,
        let unit = UInt32(String(decoding: raw[start..<(start + 4)], as: UTF8.self), radix: 16)
      else { throw fault }
      return unit
    }
    while index < raw.count {
      let byte = raw[index]
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      let escape = raw[index]
      index += 1
      switch escape {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0C)
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"):
        var value = try unit(at: index)
        index += 4
        if 0xD800..<0xDC00 ~= value {
          guard index + 6 <= raw.count, raw[index] == UInt8(ascii: "\\"), raw[index + 1] == UInt8(ascii: "u") else {
            throw fault
          }
          let low = try unit(at: index + 2)
          guard 0xDC00..<0xE000 ~= low else { throw fault }
          value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
          index += 6
        }
        guard let scalar = Unicode.Scalar(value) else { throw fault }
        text += Array(String(scalar).utf8)
      default: throw fault
      }
    }
    return text
  }
}
