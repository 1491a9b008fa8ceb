/// How many controls had which result, and the percentage of a report.
///
/// The rule: passed ÷ (passed + failed). What is exempt, not applicable or an error is in neither; where nothing passed or
/// failed there is no percentage, rather than 0 or 100. All five counts together are always the number of controls.
public struct ResultCounts: Sendable, Hashable {
  private var numbers = [Int](repeating: 0, count: 5)

  public init() {}

  public init(_ results: some Sequence<ControlResult>) { for result in results { self[result] += 1 } }

  public subscript(_ result: ControlResult) -> Int {
    get { numbers[Self.position(result)] }
    set { numbers[Self.position(result)] = newValue }
  }

  public static func += (a: inout ResultCounts, b: ResultCounts) {
    for index in a.numbers.indices { a.numbers[index] += b.numbers[index] }
  }

  public var total: Int { numbers.reduce(0, +) }

  /// Failures and errors.
  public var bad: Int { self[.fail] + self[.error] }

  /// 0 … 100; exactly 100 only where nothing failed. nil where nothing passed or failed.
  public var percentage: Double? {
    let asked = self[.pass] + self[.fail]
    return asked == 0 ? nil : Double(self[.pass]) * 100 / Double(asked)
  }

  /// `75.0 %`, rounded down to tenths so that only a whole success reads 100; `n/a`.
  public var percentageText: String {
    let asked = self[.pass] + self[.fail]
    guard asked > 0 else { return "n/a" }
    let tenths = self[.pass] * 1000 / asked
    return "\(tenths / 10).\(tenths % 10) %"
  }

  /// `6 pass, 2 fail, 2 exempt`; results that nothing had are left out.
  public var text: String {
    let parts = ControlResult.allCases.filter { self[$0] > 0 }.map { "\(self[$0]) \($0.word)" }
    return parts.isEmpty ? "no controls" : parts.joined(separator: ", ")
  }

  private static func position(_ result: ControlResult) -> Int {
    switch result {
    case .pass: 0
    case .fail: 1
    case .exempt: 2
    case .notApplicable: 3
    case .error: 4
    }
  }
}
