import PropertyList

/// The form for continuous integration: a test suite for each host and user, a test case for each control.
///
/// A control that fails is a failure and one that is an error an error; what is exempt or not applicable is skipped, with
/// the reason.
public enum ReportJUnit {
  public static func document(_ reports: [HostReport]) -> [UInt8] {
    var counts = ResultCounts()
    var suites = ""
    for report in reports {
      let extra = hostCases(report)
      var own = report.counts
      own[.fail] += extra.failures
      own[.error] += extra.errors
      counts += own
      suites += open(name: "\(report.host): \(report.user)", host: report.host, moment: report.instant, own)
      suites += "    <properties>\n"
      for (name, value) in properties(report) {
        suites += "      <property name=\"\(name)\" value=\"\(Markup.escape(value))\"/>\n"
      }
      suites += "    </properties>\n" + extra.text
      for control in report.controls { suites += testCase(control) }
      suites += "  </testsuite>\n"
    }
    return document(counts, suites)
  }

  static func document(_ counts: ResultCounts, _ suites: String) -> [UInt8] {
    Array(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"policyctl report\"\(attributes(counts))>\n\(suites)</testsuites>\n"
        .utf8)
  }

  static func open(name: String, host: String, moment: Int64?, _ counts: ResultCounts) -> String {
    let time = moment.map { " timestamp=\"\(ReportJSON.moment($0))\"" } ?? ""
    return
      "  <testsuite name=\"\(Markup.escape(name))\" hostname=\"\(Markup.escape(host))\"\(time)\(attributes(counts))>\n"
  }

  private static func attributes(_ counts: ResultCounts) -> String {
    " tests=\"\(counts.total)\" failures=\"\(counts[.fail])\" errors=\"\(counts[.error])\""
      + " skipped=\"\(counts[.exempt] + counts[.notApplicable])\""
  }

  private static func properties(_ report: HostReport) -> [(String, String)] {
    [
      ("generation", report.generation.map(String.init) ?? ""),
      ("sourceDigest", ReportJSON.hexadecimal(report.sourceDigest)), ("sources", report.sources.text),
      ("percentage", report.counts.percentageText),
    ]
  }

  private static func hostCases(_ report: HostReport) -> (text: String, failures: Int, errors: Int) {
    var text = ""
    if report.isIncomplete {
      text += testCase("policyctl", "the controls can be read", .error, report.faults.joined(separator: "\n"))
    }
    if report.sources.isUpdateRefused {
      text += testCase(
        "policyctl", "the sources can be applied", .fail, report.sources.mistakes.joined(separator: "\n"))
    }
    return (text, report.sources.isUpdateRefused ? 1 : 0, report.isIncomplete ? 1 : 0)
  }

  private static func testCase(_ control: ControlReport) -> String {
    var why = control.reason ?? ""
    if let exemption = control.exemption {
      why = "exempt until \(exemption.expires.rfc3339): \(exemption.reason) (\(exemption.owner))"
    } else if control.result == .fail || control.result == .error {
      why = control.findings.filter { $0.problem != nil }.map { finding in
        "\(finding.expectation.domain) \(finding.expectation.key): expected \(finding.expectedText), is \(finding.valueText)"
          + " (\(finding.layer ?? "no layer")); \(finding.message ?? "")"
      }.joined(separator: "\n")
    }
    return testCase(control.profile.id, "\(control.id): \(control.title)", control.result, why)
  }

  /// - Parameter why: lines; the first is the message.
  static func testCase(_ profile: String, _ name: String, _ result: ControlResult, _ why: String) -> String {
    let head = self.head(profile, name)
    return result == .pass ? head + "/>\n" : head + body(result, why)
  }

  /// A test case's beginning, up to what became of it.
  static func head(_ profile: String, _ name: String) -> String {
    "    <testcase classname=\"\(Markup.escape(profile))\" name=\"\(Markup.escape(name))\""
  }

  /// What follows the head of a test case that did not pass.
  static func body(_ result: ControlResult, _ why: String) -> String {
    let lines = why.split(separator: "\n").map { Markup.escape($0) }
    let message = lines.first ?? ""
    let body =
      switch result {
      case .fail: "<failure message=\"\(message)\">\(lines.joined(separator: "\n"))</failure>"
      case .error: "<error message=\"\(message)\">\(lines.joined(separator: "\n"))</error>"
      default: "<skipped message=\"\(message)\"/>"
      }
    return ">\(body)</testcase>\n"
  }
}
