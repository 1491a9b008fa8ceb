public import CommandLineKit
import LinuxFiles
import PropertyList

/// The form for people: verdict, what fails and why, what to do, then the evidence.
public struct ReportText {
  private let palette: Palette
  /// The command that tells more about a key.
  private let explain: (_ domain: String, _ key: String) -> String

  /// - Parameter explain: a command line for a finding.
  public init(_ palette: Palette, explain: @escaping (_ domain: String, _ key: String) -> String) {
    self.palette = palette
    self.explain = explain
  }

  public func text(_ report: HostReport) -> String {
    var text = head(report)
    let bad = report.controls.filter { $0.result == .fail || $0.result == .error }
      .sorted { Severity.order($0.severity) > Severity.order($1.severity) }
    if !bad.isEmpty || report.next != nil { text += "\n" }
    for control in bad { text += block(control) }
    if let next = report.next {
      text += "Next: \(next)\n"
    } else if let finding = bad.lazy.flatMap(\.findings).first(where: { $0.problem != nil }) {
      text += "Next: " + explain(finding.expectation.domain, finding.expectation.key) + "\n"
    }
    let exempt = report.controls.filter { $0.result == .exempt }
    if !exempt.isEmpty || !report.idleExemptions.isEmpty { text += "\n" + exemptions(exempt, report.idleExemptions) }
    if !report.controls.isEmpty { text += "\n" + evidence(report) }
    return text
  }

  private func head(_ report: HostReport) -> String {
    let text = Self.summary(report, palette) + "\n"
    var table = TextTable([.left, .left])
    func row(_ label: String, _ text: String, _ style: TextStyle? = nil) {
      table.add([TextTable.Cell(label, .faint), TextTable.Cell(text, style)])
    }
    row("policy", Self.policy(report))
    row("sources", TerminalText.escape(report.sources.text), report.sources.isUpdateRefused ? .error : nil)
    for mistake in report.sources.mistakes { row("mistake", TerminalText.escape(mistake), .error) }
    row("evaluated", ReportJSON.moment(report.instant))
    if report.unusableCount > 0 { row("unusable", "\(report.unusableCount) forced but unusable", .error) }
    for fault in report.faults { row("fault", TerminalText.escape(fault), .error) }
    for note in report.notes { row("note", TerminalText.escape(note)) }
    return text + table.text(palette)
  }

  /// `fail: lab-a-03, for alice (user 1001): 75.0 % (6 pass, 2 fail)`.
  public static func summary(_ report: HostReport, _ palette: Palette = .plain) -> String {
    let style: TextStyle =
      switch report.verdict {
      case .pass: .good
      case .fail, .error, .incomplete: .error
      case .nothingChecked: .warning
      }
    let counts = report.counts
    return palette.paint(report.verdict.word, style)
      + ": \(TerminalText.escape(report.host)), for \(who(report)): \(counts.percentageText) (\(counts.text))"
  }

  /// The worst of several reports.
  public static func summaryVerdict(of reports: [HostReport]) -> Verdict {
    reports.reduce(.nothingChecked) { Verdict.worse($0, $1.verdict) }
  }

  /// `alice (user 1001)`, or that there is no such user.
  static func who(_ report: HostReport) -> String {
    TerminalText.escape(report.user) + (report.userID.map { " (user \($0))" } ?? " (no user of this host)")
  }

  /// `generation 7, bundle 1764500000000, sources 6b86b273ff34…`.
  static func policy(_ report: HostReport) -> String {
    var parts: [String] = []
    if let generation = report.generation {
      parts.append("generation \(generation)")
    } else {
      parts.append(report.source == "installed" ? "unknown" : TerminalText.escape(report.source) + ", not installed")
    }
    if let serial = report.serial, serial > 0 { parts.append("bundle \(serial)") }
    if !report.sourceDigest.isEmpty {
      parts.append("sources \(ReportJSON.hexadecimal(Array(report.sourceDigest.prefix(8))))…")
    }
    return parts.joined(separator: ", ")
  }

  private func block(_ control: ControlReport) -> String {
    let word = control.result == .fail ? "failed" : "error"
    var text = "\(palette.paint(word, .error))  \(palette.paint(TerminalText.escape(control.id), .strong))"
    text += " (\(control.severity)): \(TerminalText.escape(control.title))\n"
    for finding in control.findings where finding.problem != nil {
      text += "        \(Self.key(finding)): "
      if finding.problem == .unreadable {
        text += "expected \(finding.expectedText); can't be evaluated: "
      } else {
        text += "expected \(finding.expectedText), is \(finding.valueText)"
        if let layer = finding.layer { text += " (\(layer))" }
        text += "; "
      }
      text += TerminalText.escape(finding.message ?? "") + "\n"
    }
    return text
  }

  static func key(_ finding: ControlFinding) -> String {
    TerminalText.escape(finding.expectation.domain) + " " + TerminalText.escape(finding.expectation.key)
  }

  private func exemptions(_ exempt: [ControlReport], _ idle: [IdleExemption]) -> String {
    var text = ""
    for control in exempt {
      guard let exemption = control.exemption else { continue }
      text += "exempt  \(TerminalText.escape(control.id)) until \(exemption.expires.rfc3339): "
      text += "\(TerminalText.escape(exemption.reason)) (\(TerminalText.escape(exemption.owner)))\n"
    }
    for exemption in idle {
      text += "\(palette.paint("not exempt", .warning))  \(TerminalText.escape(exemption.control)): "
      text += exemption.why == "expired" ? "expired \(exemption.expires.rfc3339)" : exemption.why
      text += ": \(TerminalText.escape(exemption.reason)) (\(TerminalText.escape(exemption.owner)))\n"
    }
    return text
  }

  private func evidence(_ report: HostReport) -> String {
    var table = TextTable([.left, .left, .left, .left, .left, .left, .left])
    table.add(
      ["control", "result", "key", "expected", "value", "layer", "forced by"].map { TextTable.Cell($0, .faint) })
    for control in report.controls {
      let id = TextTable.Cell(TerminalText.escape(control.id))
      let result = TextTable.Cell(control.result.word, Self.style(control.result))
      if control.findings.isEmpty { table.add([id, result, TextTable.Cell(control.reason ?? "", .faint)]) }
      for (index, finding) in control.findings.enumerated() {
        table.add([
          index == 0 ? id : "", index == 0 ? result : "", TextTable.Cell(Self.key(finding)),
          TextTable.Cell(finding.expectedText), TextTable.Cell(finding.valueText),
          TextTable.Cell(finding.layer ?? "—"),
          TextTable.Cell(
            finding.forcedBy.isEmpty ? "—" : TerminalText.escape(finding.forcedBy.map(\.id).joined(separator: ", "))),
        ])
      }
    }
    return table.text(palette)
  }

  static func style(_ result: ControlResult) -> TextStyle? {
    switch result {
    case .pass: .good
    case .fail, .error: .error
    case .exempt: .warning
    case .notApplicable: .faint
    }
  }
}

/// How much a failure matters.
enum Severity {
  /// 0 for the least; an unknown word counts as the most.
  static func order(_ severity: String) -> Int {
    ["info", "low", "medium", "high", "critical"].firstIndex(of: severity) ?? 5
  }
}
