/// A fleet report for continuous integration: a suite for each host and user, and one for what is not there.
public enum FleetJUnit {
  public static func document(_ fleet: FleetReport) -> [UInt8] {
    var counts = fleet.counts
    var suites = ""
    var messages: [[Int: String]] = Array(repeating: [:], count: fleet.rows.count)
    for (number, control) in fleet.controls.enumerated() {
      for (row, message) in control.bad { messages[row][number] = message }
    }
    // A fleet has half a million test cases, most of which are the same but for the host.
    let heads = fleet.controls.map { ReportJUnit.head("policyctl", "\($0.id): \($0.title)") }
    let plain = Dictionary(
      uniqueKeysWithValues: ControlResult.allCases.map { ($0, $0 == .pass ? "/>\n" : ReportJUnit.body($0, $0.word)) })
    for (index, row) in fleet.rows.enumerated() {
      var own = row.counts
      let worst: ControlResult? = row.isWorseThanItsControls ? row.verdict == .fail ? .fail : .error : nil
      if let worst {
        own[worst] += 1
        counts[worst] += 1
      }
      suites += ReportJUnit.open(name: "\(row.host): \(row.user)", host: row.host, moment: row.made, own)
      if let worst { suites += ReportJUnit.testCase("policyctl", "the host as a whole", worst, "see its own report") }
      for (number, result) in row.results.enumerated() {
        guard let result else { continue }
        suites += heads[number]
        if let message = messages[index][number] {
          suites += ReportJUnit.body(result, message)
        } else {
          suites += plain[result] ?? "/>\n"
        }
      }
      suites += "  </testsuite>\n"
    }
    let absent =
      fleet.missing.map { ("host \($0)", "the inventory lists it, and it sent no report") }
      + fleet.unreadable.map { ("file \($0.name)", $0.why) }
    if !absent.isEmpty {
      var own = ResultCounts()
      own[.error] = absent.count
      counts += own
      suites += ReportJUnit.open(name: "missing", host: "", moment: nil, own)
      for (name, why) in absent { suites += ReportJUnit.testCase("policyctl", name, .error, why) }
      suites += "  </testsuite>\n"
    }
    return ReportJUnit.document(counts, suites)
  }
}
