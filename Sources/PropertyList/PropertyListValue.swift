/// A property-list value: what a preference can be.
///
/// Boolean, integer and real are three types and stay three types: `true`, `1` and `1.0` are never equal. Reals compare
/// by bit pattern, so that a NaN equals itself and `-0.0` differs from `0.0`; equality therefore means "the same value
/// would be stored". Strings, keys included, compare by their bytes, not by canonical equivalence as Swift compares them.
public enum PropertyListValue: Sendable, Hashable {
  case string(String)
  case integer(PropertyListInteger)
  case real(Double)
  case boolean(Bool)
  case date(PropertyListDate)
  case data([UInt8])
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])

  public static func == (a: PropertyListValue, b: PropertyListValue) -> Bool {
    switch (a, b) {
    case (.string(let x), .string(let y)): sameText(x, y)
    case (.integer(let x), .integer(let y)): x == y
    case (.real(let x), .real(let y)): x.bitPattern == y.bitPattern
    case (.boolean(let x), .boolean(let y)): x == y
    case (.date(let x), .date(let y)): x == y
    case (.data(let x), .data(let y)): x == y
    case (.array(let x), .array(let y)): x == y
    case (.dictionary(let x), .dictionary(let y)): sameMembers(x, y)
    default: false
    }
  }

  /// Equal byte by byte. Swift's own equality normalises, and can take long for hostile texts.
  private static func sameText(_ x: String, _ y: String) -> Bool { x.utf8.elementsEqual(y.utf8) }

  private static func sameMembers(_ x: [String: PropertyListValue], _ y: [String: PropertyListValue]) -> Bool {
    x.count == y.count
      && x.allSatisfy { key, value in
        guard let index = y.index(forKey: key) else { return false }
        return sameText(key, y[index].key) && value == y[index].value
      }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    switch self {
    case .string(var value):
      value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(UInt8(0xFF))
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value.bitPattern)
    case .boolean(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .dictionary(let value): hasher.combine(value)
    }
  }

  /// Which of the eight types this is.
  public var type: PropertyListType {
    switch self {
    case .string: .string
    case .integer: .integer
    case .real: .real
    case .boolean: .boolean
    case .date: .date
    case .data: .data
    case .array: .array
    case .dictionary: .dictionary
    }
  }
}

/// The eight types of a property list, under the names that policies, JSON output and messages use.
/// The raw numbers are those of the forced domain's file format.
public enum PropertyListType: UInt8, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  case string = 1
  case integer, real, boolean, date, data, array, dictionary

  public var description: String {
    switch self {
    case .string: "string"
    case .integer: "integer"
    case .real: "real"
    case .boolean: "boolean"
    case .date: "date"
    case .data: "data"
    case .array: "array"
    case .dictionary: "dictionary"
    }
  }

  /// The type of this name, nil for any other name.
  public init?(_ name: some StringProtocol) {
    guard let type = Self.allCases.first(where: { $0.description == name }) else { return nil }
    self = type
  }
}
