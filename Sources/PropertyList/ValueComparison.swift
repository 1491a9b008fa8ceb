/// How a value is held against an operand: what a control expects of a key, and a manifest of a range.
///
/// The only copy of the rule: `check` warns by it of a control that its own profile contradicts, and a report judges by it.
/// The raw values are the names that policies use.
public enum ValueComparison: String, Sendable, Hashable, CaseIterable {
  /// Equal, type included.
  case `is`
  /// A number or a date not below, not above.
  case min, max
  /// Equal to an element of a list.
  case oneOf
  /// An array with this element, a text with this part, a dictionary with this key.
  case contains

  /// Whether a key's effective value meets it; no value (nil) never does.
  ///
  /// - Complexity: O(size of both values).
  public func holds(for effective: PropertyListValue?, operand: PropertyListValue) -> Bool {
    guard let effective else { return false }
    switch self {
    case .is: return effective == operand
    case .min: return Self.order(effective, operand).map { $0 >= 0 } ?? false
    case .max: return Self.order(effective, operand).map { $0 <= 0 } ?? false
    case .oneOf:
      guard case .array(let choices) = operand else { return false }
      return choices.contains(effective)
    case .contains:
      switch (effective, operand) {
      case (.array(let elements), _): return elements.contains(operand)
      case (.string(let text), .string(let part)): return text.contains(bytesOf: part)
      case (.dictionary(let members), .string(let key)): return members[key] != nil
      default: return false
      }
    }
  }

  /// Whether values of this type can meet it at all: a text where a list is expected never will, whatever it says.
  public func accepts(_ type: PropertyListType, operand: PropertyListValue) -> Bool {
    switch self {
    case .is: return type == operand.type
    case .min, .max:
      let isNumber = type == .integer || type == .real
      return operand.type == .date ? type == .date : isNumber
    case .oneOf:
      guard case .array(let choices) = operand else { return false }
      return choices.contains { $0.type == type }
    case .contains:
      return type == .array || (type == .string || type == .dictionary) && operand.type == .string
    }
  }

  private static func order(_ a: PropertyListValue, _ b: PropertyListValue) -> Int? {
    switch (a, b) {
    case (.integer(let x), .integer(let y)): return x < y ? -1 : x == y ? 0 : 1
    case (.date(let x), .date(let y)): return x < y ? -1 : x == y ? 0 : 1
    default:
      guard let x = number(a), let y = number(b), !x.isNaN, !y.isNaN else { return nil }
      return x < y ? -1 : x == y ? 0 : 1
    }
  }

  private static func number(_ value: PropertyListValue) -> Double? {
    switch value {
    case .integer(let integer): integer.double
    case .real(let real): real
    default: nil
    }
  }
}
