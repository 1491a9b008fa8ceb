/// One word for a whole report. Only `pass` lets a caller go on.
public enum Verdict: String, Sendable, Hashable, CaseIterable {
  case pass, fail, error
  /// Of a fleet: hosts or reports are missing, and nothing is known of them.
  case incomplete
  /// No control was asked: that says nothing about the host.
  case nothingChecked = "nothing-checked"

  public init(_ counts: ResultCounts) {
    if counts[.fail] > 0 {
      self = .fail
    } else if counts[.error] > 0 {
      self = .error
    } else {
      self = counts[.pass] > 0 ? .pass : .nothingChecked
    }
  }

  /// For people.
  public var word: String { self == .nothingChecked ? "nothing checked" : rawValue }

  /// The one of two that says more against what is reported.
  public static func worse(_ a: Verdict, _ b: Verdict) -> Verdict { a.weight < b.weight ? b : a }

  private var weight: Int {
    switch self {
    case .nothingChecked: 0
    case .pass: 1
    case .incomplete: 2
    case .error: 3
    case .fail: 4
    }
  }
}
