/// What each getter makes of a stored value.
///
/// A missing value is not here: it is the caller's (false, 0, nil). Nothing fails: a value that a getter has no use
/// for answers as a missing one does.
extension PropertyListValue {
  /// Booleans as they are, numbers when they are not 0 (NaN is not 0), strings by `StringConversions.boolean`.
  public var boolValue: Bool {
    switch self {
    case .boolean(let flag): flag
    case .integer(let number): number.bitPattern != 0
    case .real(let number): number != 0
    case .string(let text): Self.withUTF8(text, StringConversions.boolean(utf8:))
    case .date, .data, .array, .dictionary: false
    }
  }

  /// Integers clamped to Int64, reals truncated toward zero and clamped (NaN gives 0), booleans as 1 and 0, strings by
  /// `StringConversions.integer`.
  public var integerValue: Int {
    switch self {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): Int(number.clampedToInt64)
    case .real(let number): Self.truncated(number)
    case .string(let text): Self.withUTF8(text, StringConversions.integer(utf8:))
    case .date, .data, .array, .dictionary: 0
    }
  }

  /// `doubleValue`, rounded to a Float.
  public var floatValue: Float { Float(doubleValue) }

  /// Reals as they are, integers rounded to the nearest Double, booleans as 1 and 0, strings by
  /// `StringConversions.double`.
  public var doubleValue: Double {
    switch self {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): number.double
    case .real(let number): number
    case .string(let text): Self.withUTF8(text, StringConversions.double(utf8:))
    case .date, .data, .array, .dictionary: 0
    }
  }

  /// Strings as they are, integers in full, reals in the shortest text that reads back equal (a stored Float in its
  /// own shortest text: `3.7`), booleans as `1` and `0`; nil for all else.
  public var stringValue: String? {
    switch self {
    case .string(let text): text
    case .boolean(let flag): flag ? "1" : "0"
    case .integer(let number): number.description
    case .real(let number): RealText.preferred(number)
    case .date, .data, .array, .dictionary: nil
    }
  }

  /// The array when every element is a string, else nil: numbers are not converted.
  public var stringArrayValue: [String]? {
    guard case .array(let elements) = self else { return nil }
    var strings: [String] = []
    strings.reserveCapacity(elements.count)
    for element in elements {
      guard case .string(let text) = element else { return nil }
      strings.append(text)
    }
    return strings
  }

  /// An array as it is; nil for all else.
  public var arrayValue: [PropertyListValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// A dictionary as it is; nil for all else.
  public var dictionaryValue: [String: PropertyListValue]? {
    if case .dictionary(let members) = self { members } else { nil }
  }

  /// Data as they are; nil for all else.
  public var dataValue: [UInt8]? {
    if case .data(let bytes) = self { bytes } else { nil }
  }

  private static func truncated(_ number: Double) -> Int {
    if number.isNaN { return 0 }
    if number >= 0x1p63 { return .max }
    if number <= -0x1p63 { return .min }
    return Int(number)
  }

  private static func withUTF8<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var text = text
    return text.withUTF8(body)
  }
}
