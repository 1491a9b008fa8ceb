/// Writes JSON piece by piece, members in the order in which they are given: the output of command lines.
///
/// ```swift
/// var json = JSONWriter(pretty: true)
/// json.beginObject()
/// json.key("domain")
/// json.string("org.example.Editor")
/// json.endObject()
/// print(String(decoding: json.bytes, as: UTF8.self))
/// ```
/// Calls in an order that makes no JSON (a value without its key, an end without its begin) are programming errors and
/// stop the program.
public struct JSONWriter: Sendable {
  private enum Container {
    case object(isEmpty: Bool)
    case array(isEmpty: Bool)
  }

  /// What has been written so far.
  public private(set) var bytes: [UInt8] = []
  private let pretty: Bool
  private var open: [Container] = []
  private var keyIsWritten = false

  /// - Parameter pretty: Whether each member stands on a line of its own, indented by two spaces a level.
  public init(pretty: Bool) { self.pretty = pretty }

  /// Opens an object, as a whole value or as a part of what is open.
  public mutating func beginObject() {
    beginValue()
    bytes.append(UInt8(ascii: "{"))
    open.append(.object(isEmpty: true))
  }

  /// Closes the object that was opened last.
  public mutating func endObject() {
    guard case .object(let isEmpty)? = open.popLast(), !keyIsWritten else { preconditionFailure("no object is open") }
    if !isEmpty { newLine() }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Opens an array, as a whole value or as a part of what is open.
  public mutating func beginArray() {
    beginValue()
    bytes.append(UInt8(ascii: "["))
    open.append(.array(isEmpty: true))
  }

  /// Closes the array that was opened last.
  public mutating func endArray() {
    guard case .array(let isEmpty)? = open.popLast() else { preconditionFailure("no array is open") }
    if !isEmpty { newLine() }
    bytes.append(UInt8(ascii: "]"))
  }

  /// The key of the value that comes next. Keys are neither sorted nor compared.
  public mutating func key(_ key: String) {
    guard case .object(let isEmpty)? = open.last, !keyIsWritten else { preconditionFailure("a key outside an object") }
    if !isEmpty { bytes.append(UInt8(ascii: ",")) }
    open[open.count - 1] = .object(isEmpty: false)
    newLine()
    appendQuoted(key)
    bytes.append(UInt8(ascii: ":"))
    if pretty { bytes.append(UInt8(ascii: " ")) }
    keyIsWritten = true
  }

  /// A string; what could act on a terminal (controls, turns of the reading direction) is escaped, all else is UTF-8.
  public mutating func string(_ text: String) {
    beginValue()
    appendQuoted(text)
  }

  /// An integer of any width, in full.
  public mutating func integer(_ number: some BinaryInteger) {
    beginValue()
    bytes.append(contentsOf: String(number).utf8)
  }

  /// A real, always with a point or an exponent. JSON has no other numbers, so infinities and NaN are the strings
  /// `"inf"`, `"-inf"` and `"nan"`; the type beside it tells them from strings.
  public mutating func real(_ number: Double) {
    let text = RealText.shortest(number)
    guard number.isFinite else { return string(text) }
    beginValue()
    bytes.append(contentsOf: text.utf8)
  }

  /// `true` or `false`.
  public mutating func boolean(_ flag: Bool) {
    beginValue()
    bytes.append(contentsOf: (flag ? "true" : "false").utf8)
  }

  /// `null`, for what is not there. (No property-list value is null.)
  public mutating func null() {
    beginValue()
    bytes.append(contentsOf: "null".utf8)
  }

  /// An array of strings.
  public mutating func strings(_ list: [String]) {
    beginArray()
    for text in list { string(text) }
    endArray()
  }

  /// A string, or `null` where there is none.
  public mutating func optional(_ text: String?) {
    if let text { string(text) } else { null() }
  }

  /// An integer, or `null` where there is none.
  public mutating func optional(_ number: Int64?) {
    if let number { integer(number) } else { null() }
  }

  /// A property-list value: dates as RFC 3339 strings in UTC, data as base64 strings, keys sorted by their UTF-8 bytes.
  public mutating func value(_ value: PropertyListValue) {
    switch value {
    case .string(let text): string(text)
    case .integer(let number):
      beginValue()
      bytes.append(contentsOf: number.description.utf8)
    case .real(let number): real(number)
    case .boolean(let flag): boolean(flag)
    case .date(let date): string(date.rfc3339)
    case .data(let data):
      beginValue()
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: Base64.encode(data[...]))
      bytes.append(UInt8(ascii: "\""))
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .dictionary(let members):
      beginObject()
      for member in KeyOrder.sorted(members) {
        key(member.key)
        self.value(member.value)
      }
      endObject()
    }
  }

  /// A whole file for a value that `EncodableCheck` has passed.
  static func document(_ value: PropertyListValue) -> [UInt8] {
    var writer = JSONWriter(pretty: true)
    writer.value(value)
    writer.bytes.append(UInt8(ascii: "\n"))
    return writer.bytes
  }

  /// Gives what has been written since the last call, and forgets it: for documents that are not kept in memory.
  public mutating func drain() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  private mutating func beginValue() {
    switch open.last {
    case .object:
      precondition(keyIsWritten, "a value without a key in an object")
      keyIsWritten = false
    case .array(let isEmpty):
      if !isEmpty { bytes.append(UInt8(ascii: ",")) }
      open[open.count - 1] = .array(isEmpty: false)
      newLine()
    case nil: precondition(bytes.isEmpty, "a second value beside the first")
    }
  }

  private mutating func newLine() {
    guard pretty else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * open.count))
  }

  private mutating func appendQuoted(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    // Most texts have no character that could act on a terminal beyond those of ASCII.
    if text.utf8.contains(where: { $0 >= 0x80 }), text.unicodeScalars.contains(where: DisplayText.isUnsafe) {
      for scalar in text.unicodeScalars {
        if !scalar.isASCII, DisplayText.isUnsafe(scalar) {
          for unit in scalar.utf16 { append(escaped: unit) }
        } else {
          append(quoting: String(scalar).utf8)
        }
      }
    } else {
      append(quoting: text.utf8)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func append(escaped unit: UInt16) {
    bytes.append(contentsOf: ("\\u" + hexadecimal(UInt32(unit), width: 4)).utf8)
  }

  private mutating func append(quoting text: some Sequence<UInt8>) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
      case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7F: append(escaped: UInt16(byte))
      default: bytes.append(byte)
      }
    }
  }
}
