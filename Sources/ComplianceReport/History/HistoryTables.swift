/// A history for spreadsheets: a row for each time in which a control had one result, and one for each gap.
public enum HistoryCSV {
  public static func document(_ report: HistoryReport) -> [UInt8] {
    var text = ReportCSV.line([
      "host", "user", "from", "to", "generation", "control", "title", "severity", "result", "why", "attempts",
    ])
    func times(_ span: Range<Int64>) -> [String] {
      [ReportJSON.moment(span.lowerBound), ReportJSON.moment(span.upperBound)]
    }
    for user in report.users {
      for control in user.controls {
        for stretch in control.stretches {
          text += ReportCSV.line(
            [report.host, user.user] + times(stretch.span) + [stretch.generation.map(String.init) ?? ""]
              + [control.id, control.title, control.severity, stretch.result.rawValue, stretch.why]
              + [String(control.attempts)])
        }
      }
    }
    for gap in report.timeline.gaps {
      text += ReportCSV.line(
        [report.host, ""] + times(gap.from..<gap.to) + ["", "", gap.kind.rawValue, "", "gap", gap.text, ""])
    }
    return Array(text.utf8)
  }
}

/// A history for continuous integration: a suite for each user with a case for each control over the whole time, and one
/// of the gaps, each of which is an error.
public enum HistoryJUnit {
  public static func document(_ report: HistoryReport) -> [UInt8] {
    var counts = report.counts
    var suites = ""
    for user in report.users {
      suites += ReportJUnit.open(
        name: "\(report.host): \(user.user)", host: report.host, moment: report.span.lowerBound, user.counts)
      for control in user.controls {
        let why = control.stretches.filter { $0.result == control.result }
          .map { "\(HistoryText.times($0.span)): \($0.why)" }.joined(separator: "\n")
        suites += ReportJUnit.testCase("policyctl", "\(control.id): \(control.title)", control.result, why)
      }
      suites += "  </testsuite>\n"
    }
    if !report.timeline.gaps.isEmpty {
      var own = ResultCounts()
      own[.error] = report.timeline.gaps.count
      counts += own
      suites += ReportJUnit.open(name: "\(report.host): gaps", host: report.host, moment: nil, own)
      for gap in report.timeline.gaps {
        let times = HistoryText.times(gap.from..<gap.to)
        suites += ReportJUnit.testCase("policyctl", "\(gap.kind.rawValue), \(times)", .error, gap.text)
      }
      suites += "  </testsuite>\n"
    }
    return ReportJUnit.document(counts, suites)
  }
}
