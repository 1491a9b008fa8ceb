public import PolicyLanguage
public import PropertyList

/// What became of one case of a `kind: Tests` document.
public struct PolicyTestResult: Sendable, Hashable {
  public let name: String
  /// The displayed path of the file that the case stands in.
  public let path: String
  public let position: SourcePosition
  /// How many answers were asked for.
  public let expectationCount: Int
  /// Those that were not as expected, in the order of the file.
  public let failures: [PolicyTestFailure]

  public var hasPassed: Bool { failures.isEmpty }
}

/// An answer that was not the expected one.
public struct PolicyTestFailure: Sendable, Hashable, CustomStringConvertible {
  public let path: String
  /// Where the expected value, or the key that should not be forced, is written.
  public let position: SourcePosition
  public let domain: String
  public let key: String
  /// `forced`, `notForced` or `value`: the part of `expect` that asked.
  public let expectation: PolicyTestCase.Expectation.Kind
  /// nil for `notForced`.
  public let expected: PropertyListValue?
  /// What the policies say; nil: nothing.
  public let actual: PropertyListValue?
  /// Where the actual value comes from.
  public let origin: Origin

  /// Which part of the policies an answer comes from, and by which profiles, the deciding one first.
  public enum Origin: Sendable, Hashable {
    case nothing
    case forced(by: [String])
    case recommended(by: [String])
  }

  /// `org.example.Browser HomePage: expected forced "a", but it is forced to "b" by "Exam mode"`
  public var description: String {
    let wanted =
      switch expectation {
      case .forced: "expected forced \(expected?.displayText ?? "nothing")"
      case .notForced: "expected not forced"
      case .value: "expected \(expected?.displayText ?? "no value")"
      }
    return "\(domain) \(key): \(wanted), but \(found)"
  }

  private var found: String {
    let value = actual?.displayText ?? "nothing"
    switch origin {
    case .nothing: return expectation == .value ? "it has no value" : "it is not forced"
    case .forced(let profiles): return "it is forced to \(value) by \(Self.list(profiles))"
    case .recommended(let profiles): return "it is recommended as \(value) by \(Self.list(profiles))"
    }
  }

  private static func list(_ profiles: [String]) -> String {
    profiles.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}
