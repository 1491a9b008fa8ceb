/// A history for spreadsheets. The first column tells what a row is: `control` is one control of one user over the whole time,
/// `result` a time in which it had one result under one generation, and `gap` a time of which the log does not tell all.
public enum HistoryCSV {
  static let columns = [
    "row", "host", "user", "from", "to", "generation", "control", "title", "severity", "result", "why", "attempts",
    "gap", "record",
  ]

  /// - Complexity: O(stretches + gaps).
  public static func document(_ report: HistoryReport) -> [UInt8] {
    var text = ReportCSV.line(columns)
    func times(_ span: Range<Int64>) -> [String] {
      [ReportJSON.moment(span.lowerBound), ReportJSON.moment(span.upperBound)]
    }
    for user in report.users {
      for control in user.controls {
        let name = [control.id, control.title, control.severity]
        text += ReportCSV.line(
          ["control", report.host, user.user] + times(report.span) + [""] + name
            + [control.result.rawValue, "", String(control.attempts), "", ""])
        for stretch in control.stretches {
          text += ReportCSV.line(
            ["result", report.host, user.user] + times(stretch.span) + [stretch.generation.map(String.init) ?? ""]
              + name + [stretch.result.rawValue, stretch.why, "", "", ""])
        }
      }
    }
    for gap in report.timeline.gaps {
      let user = gap.user.map { id in report.users.first { $0.userID == id }?.user ?? String(id) } ?? ""
      text += ReportCSV.line(
        ["gap", report.host, user] + times(gap.from..<gap.to) + ["", "", "", "", "", gap.text, "", gap.kind.rawValue]
          + [gap.record.map(String.init) ?? ""])
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
