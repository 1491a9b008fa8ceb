/// A place in UTF-8 text that moves forward: what the readers of old-style text and JSON share.
struct TextScanner {
  let bytes: UnsafeBufferPointer<UInt8>
  var index = 0
  var budget: DecodingBudget

  init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) {
    self.bytes = bytes
    budget = DecodingBudget(limits)
  }

  var isAtEnd: Bool { index >= bytes.count }

  /// The byte here, nil at the end.
  var current: UInt8? { index < bytes.count ? bytes[index] : nil }

  func byte(ahead distance: Int) -> UInt8? { index + distance < bytes.count ? bytes[index + distance] : nil }

  /// Steps over this byte when it is the one here.
  mutating func skip(_ byte: Character) -> Bool {
    guard let current, current == byte.asciiValue else { return false }
    index += 1
    return true
  }

  func fault(_ reason: PropertyListError.Reason, at offset: Int? = nil) -> PropertyListError {
    PropertyListError(reason, at: TextEncoding.position(of: offset ?? index, in: bytes))
  }

  /// Throws what the budget objects to.
  func allow(_ objection: PropertyListError.Reason?, at offset: Int? = nil) throws(PropertyListError) {
    if let objection { throw fault(objection, at: offset) }
  }

  /// What stands here, or that nothing does, where something else must stand.
  func unexpected(expected: String, in whole: String) -> PropertyListError {
    isAtEnd ? fault(.unexpectedEnd(in: whole)) : fault(.unexpected(describeHere(), expected: expected))
  }

  /// The character here, for a message.
  func describeHere() -> String {
    let end = min(bytes.count, index + 4)
    let text = String(decoding: bytes[index..<end], as: UTF8.self)
    guard let scalar = text.unicodeScalars.first else { return "the end" }
    return PropertyListValue.string(String(scalar)).displayText
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }

  /// Four hexadecimal digits here, as one UTF-16 code unit; steps over them, up to what is none.
  mutating func codeUnit() -> UInt16? {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = hexadecimalDigit(byte) else { return nil }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }
}

/// The value of a hexadecimal digit; nil for another byte.
public func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: byte - 0x30
  case 0x41...0x46: byte - 0x41 + 10
  case 0x61...0x66: byte - 0x61 + 10
  default: nil
  }
}

/// Text that is put together from UTF-8 bytes and UTF-16 code units, as escapes give them.
struct EscapedText {
  private(set) var bytes: [UInt8] = []
  private var pendingHigh: UInt16?

  /// Adds bytes that are UTF-8 themselves; false when half a surrogate pair is left before them.
  mutating func append(_ slice: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard pendingHigh == nil else { return slice.isEmpty }
    bytes.append(contentsOf: slice)
    return true
  }

  mutating func append(_ scalar: Unicode.Scalar) -> Bool {
    guard pendingHigh == nil else { return false }
    bytes.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
    return true
  }

  /// Adds a code unit; false when it does not pair up.
  mutating func append(codeUnit: UInt16) -> Bool {
    switch (pendingHigh, codeUnit) {
    case (nil, 0xD800..<0xDC00):
      pendingHigh = codeUnit
      return true
    case (let high?, 0xDC00..<0xE000):
      pendingHigh = nil
      let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(codeUnit) - 0xDC00)
      return Unicode.Scalar(value).map { append($0) } ?? false
    default: return Unicode.Scalar(UInt32(codeUnit)).map { append($0) } ?? false
    }
  }

  /// The text; nil when half a surrogate pair is left.
  var string: String? { pendingHigh == nil ? String(decoding: bytes, as: UTF8.self) : nil }
}
