import ComplianceReport
import Testing

/// F02: the percentage leaves out what is exempt, and there is none where nothing was asked.
@Suite struct ResultCountsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let results: [(ControlResult, Int)]
    let percentage: Double?
    let text: String
    let verdict: Verdict
    var testDescription: String { id }
  }

  static let rows = [
    Row(id: "none", results: [], percentage: nil, text: "n/a", verdict: .nothingChecked),
    Row(
      id: "six of eight, two exempt", results: [(.pass, 6), (.fail, 2), (.exempt, 2)], percentage: 75, text: "75.0 %",
      verdict: .fail),
    Row(id: "all exempt", results: [(.exempt, 3)], percentage: nil, text: "n/a", verdict: .nothingChecked),
    Row(
      id: "all not applicable", results: [(.notApplicable, 3)], percentage: nil, text: "n/a", verdict: .nothingChecked),
    Row(id: "all errors", results: [(.error, 2)], percentage: nil, text: "n/a", verdict: .error),
    Row(
      id: "an error among passes", results: [(.pass, 9), (.error, 1)], percentage: 100, text: "100.0 %", verdict: .error
    ),
    Row(id: "all pass", results: [(.pass, 3), (.exempt, 1)], percentage: 100, text: "100.0 %", verdict: .pass),
    Row(id: "all fail", results: [(.fail, 3)], percentage: 0, text: "0.0 %", verdict: .fail),
    Row(
      id: "one of 10,000 fails", results: [(.pass, 9999), (.fail, 1)], percentage: 99.99, text: "99.9 %", verdict: .fail
    ),
  ]

  @Test(arguments: rows) func thePercentageIsPassedOverPassedAndFailed(_ row: Row) {
    let counts = ResultCounts(row.results.flatMap { [ControlResult](repeating: $0.0, count: $0.1) })
    #expect(counts.percentage == row.percentage)
    #expect(counts.percentageText == row.text)
    #expect(Verdict(counts) == row.verdict)
    #expect(counts.total == row.results.reduce(0) { $0 + $1.1 })
    #expect(ControlResult.allCases.reduce(0) { $0 + counts[$1] } == counts.total)
  }
}
