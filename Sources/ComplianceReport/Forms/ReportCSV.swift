import CommandLineKit
import LinuxFiles
import PropertyList

/// The form for spreadsheets: RFC 4180, one row for each finding, with lines that end in CR LF.
///
/// A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, quoted or not. Such a cell gets an
/// apostrophe in front, negative numbers included: whoever reads a value back takes it off.
public enum ReportCSV {
  static let columns = [
    "host", "user", "generation", "sources", "evaluated", "control", "title", "severity", "result", "profile", "domain",
    "key", "expected", "value", "layer", "forced", "forcedBy", "problem", "message", "reason", "owner", "expires",
  ]

  /// - Complexity: O(findings).
  public static func document(_ reports: [HostReport]) -> [UInt8] {
    var text = line(columns)
    for report in reports {
      let head = [
        report.host, report.user, report.generation.map(String.init) ?? "", report.sources.state,
        ReportJSON.moment(report.instant),
      ]
      if report.isIncomplete || report.sources.isUpdateRefused { text += line(head + hostRow(report)) }
      for control in report.controls {
        let middle = [control.id, control.title, control.severity, control.result.rawValue, control.profile.id]
        let end = [
          control.exemption?.reason ?? control.reason ?? "", control.exemption?.owner ?? "",
          control.exemption?.expires.rfc3339 ?? "",
        ]
        if control.findings.isEmpty {
          text += line(head + middle + [String](repeating: "", count: 9) + end)
        }
        for finding in control.findings { text += line(head + middle + cells(finding) + end) }
      }
    }
    return Array(text.utf8)
  }

  /// What is wrong with the host as a whole, as a row whose control is empty.
  private static func hostRow(_ report: HostReport) -> [String] {
    let result = report.isIncomplete ? "error" : "fail"
    let why = report.isIncomplete ? report.faults : report.sources.mistakes
    return ["", "the update of the policy", "", result, ""] + [String](repeating: "", count: 8)
      + [why.joined(separator: "; "), "", "", ""]
  }

  private static func cells(_ finding: ControlFinding) -> [String] {
    [
      finding.expectation.domain, finding.expectation.key, finding.expectedText,
      finding.value == nil ? "" : finding.valueText, finding.layer ?? "", finding.isForced ? "true" : "false",
      finding.forcedBy.map(\.id).joined(separator: " "), finding.problem?.rawValue ?? "", finding.message ?? "",
    ]
  }

  static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

  static func cell(_ text: String) -> String {
    var text = TerminalText.escape(text)
    if let first = text.utf8.first, [0x3D, 0x2B, 0x2D, 0x40].contains(first) { text = "'" + text }
    guard text.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }) else { return text }
    return "\"" + text.replacing(byte: "\"", with: "\"\"") + "\""
  }
}
