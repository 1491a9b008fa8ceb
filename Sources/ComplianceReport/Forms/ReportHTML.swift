import PropertyList

/// The page for auditors, of one host: verdict, what fails and why, what is exempt, then the evidence.
public enum ReportHTML {
  /// - Parameter reports: of one host, for one or several users; not empty.
  public static func document(_ reports: [HostReport]) -> [UInt8] {
    let title: String
    var body: String
    if let only = reports.first, reports.count == 1 {
      title = "Compliance of \(only.host), for \(only.user)"
      body = heading(title, ReportText.summaryVerdict(of: [only])) + section(only, "", level: 2)
    } else {
      title = "Compliance of \(reports.first?.host ?? "this host"), for each user"
      body = heading(title, ReportText.summaryVerdict(of: reports)) + overview(reports)
      for (index, report) in reports.enumerated() {
        body += "<h2 id=\"user\(index)\">\(Markup.escape(report.user)) \(HTMLPage.badge(report.verdict))</h2>\n"
        body += section(report, "-\(index)", level: 3)
      }
    }
    return HTMLPage.page(
      title: title, body: body,
      foot: "Made \(ReportJSON.moment(reports.first?.made ?? 0)) by policyctl report, from the compiled policy.")
  }

  static func heading(_ title: String, _ verdict: Verdict) -> String {
    "<h1>\(Markup.escape(title)) \(HTMLPage.badge(verdict))</h1>\n"
  }

  private static func overview(_ reports: [HostReport]) -> String {
    var rows = ""
    for (index, report) in reports.enumerated() {
      rows += "<tr><th scope=\"row\"><a href=\"#user\(index)\">\(Markup.escape(report.user))</a></th>"
      rows += "<td>\(HTMLPage.badge(report.verdict))</td><td class=\"number\">\(report.counts.percentageText)</td>"
      rows += "<td>\(report.counts.text)</td></tr>\n"
    }
    return HTMLPage.table(
      "Users of this host", columns: ["User", "Verdict", "Percentage", "Controls"],
      numbers: [2], rows: rows)
  }

  private static func section(_ report: HostReport, _ suffix: String, level: Int) -> String {
    var body = "<p class=\"lead\">\(report.counts.percentageText): \(report.counts.text).</p>\n"
    body += HTMLPage.facts(facts(report))
    if report.sources.isUpdateRefused {
      body += HTMLPage.section(
        "update" + suffix, "The newer policy has mistakes, and is not in force", HTMLPage.list(report.sources.mistakes),
        level: level)
    }
    if !report.faults.isEmpty {
      body += HTMLPage.section("faults" + suffix, "Faults", HTMLPage.list(report.faults), level: level)
    }
    let bad = report.controls.filter { $0.result == .fail || $0.result == .error }
      .sorted { Severity.order($0.severity) > Severity.order($1.severity) }
    if !bad.isEmpty {
      body += HTMLPage.section(
        "bad" + suffix, "What fails, and why", bad.map { block($0, level: level + 1) }.joined(),
        level: level)
    }
    let exempt = report.controls.filter { $0.result == .exempt }
    if !exempt.isEmpty || !report.idleExemptions.isEmpty {
      body += HTMLPage.section(
        "exempt" + suffix, "Exemptions", exemptions(exempt, report.idleExemptions),
        level: level)
    }
    if !report.controls.isEmpty {
      body += HTMLPage.section("all" + suffix, "All controls, with the evidence", evidence(report), level: level)
    }
    return body
  }

  private static func facts(_ report: HostReport) -> [(String, String)] {
    var facts = [
      ("Host", report.host), ("User", report.user + (report.userID.map { " (\($0))" } ?? "")),
      ("Generation", report.generation.map(String.init) ?? "not installed: \(report.source)"),
      ("Sources", report.sources.text), ("Evaluated for", ReportJSON.moment(report.instant)),
      ("Digest of the sources", report.sourceDigest.isEmpty ? "unknown" : ReportJSON.hexadecimal(report.sourceDigest)),
    ]
    if report.unusableCount > 0 { facts.append(("Forced but unusable", String(report.unusableCount))) }
    facts += report.notes.map { ("Note", $0) }
    return facts
  }

  private static func block(_ control: ControlReport, level: Int) -> String {
    var text =
      "<h\(level)>\(HTMLPage.badge(control.result)) \(Markup.escape(control.id)): \(Markup.escape(control.title))</h\(level)>\n"
    text += "<p class=\"why\">Severity \(Markup.escape(control.severity))"
    if !control.references.isEmpty { text += ", \(Markup.escape(control.references.joined(separator: ", ")))" }
    text += "; asked by \(Markup.escape(control.profile.title)) (\(Markup.escape(control.profile.id)))</p>\n<ul>\n"
    for finding in control.findings where finding.problem != nil {
      text += "<li>\(key(finding)): expected <code>\(Markup.escape(finding.expectedText))</code>"
      if finding.problem != .unreadable {
        text += ", is <code>\(Markup.escape(finding.valueText))</code>"
        if let layer = finding.layer { text += " (\(layer))" }
      }
      text += "; \(Markup.escape(finding.message ?? ""))</li>\n"
    }
    return text + "</ul>\n"
  }

  private static func key(_ finding: ControlFinding) -> String {
    "<code>\(Markup.escape(finding.expectation.domain)) \(Markup.escape(finding.expectation.key))</code>"
  }

  private static func exemptions(_ exempt: [ControlReport], _ idle: [IdleExemption]) -> String {
    var rows = ""
    func row(_ id: String, _ state: String, _ reason: String, _ owner: String, _ expires: PropertyListDate) {
      rows += "<tr><th scope=\"row\">\(Markup.escape(id))</th><td>\(state)</td><td>\(Markup.escape(reason))</td>"
      rows += "<td>\(Markup.escape(owner))</td><td>\(HTMLPage.moment(expires.rfc3339))</td></tr>\n"
    }
    for control in exempt {
      guard let exemption = control.exemption else { continue }
      row(control.id, "holds", exemption.reason, exemption.owner, exemption.expires)
    }
    for exemption in idle {
      row(
        exemption.control, exemption.why + ", not applied", exemption.reason, exemption.owner, exemption.expires)
    }
    return HTMLPage.table(
      "Where a control is not asked", columns: ["Control", "State", "Reason", "Owner", "Expires"], rows: rows)
  }

  private static func evidence(_ report: HostReport) -> String {
    var rows = ""
    for control in report.controls {
      let span = max(control.findings.count, 1)
      let rowspan = span == 1 ? "" : " rowspan=\"\(span)\""
      rows += "<tr><th scope=\"row\"\(rowspan)>\(Markup.escape(control.id))</th>"
      rows += "<td\(rowspan)>\(Markup.escape(control.title))</td><td\(rowspan)>\(HTMLPage.badge(control.result))</td>"
      if control.findings.isEmpty {
        rows += "<td colspan=\"5\"><span class=\"why\">\(Markup.escape(control.reason ?? ""))</span></td></tr>\n"
      }
      for (index, finding) in control.findings.enumerated() {
        if index > 0 { rows += "<tr>" }
        let by = finding.forcedBy.map { "\($0.title) (\($0.id))" }.joined(separator: ", ")
        rows += "<td>\(key(finding))</td><td><code>\(Markup.escape(finding.expectedText))</code></td>"
        rows += "<td><code>\(Markup.escape(finding.valueText))</code></td><td>\(finding.layer ?? "—")</td>"
        rows += "<td>\(by.isEmpty ? "—" : Markup.escape(by))</td></tr>\n"
      }
    }
    return HTMLPage.table(
      "Every control with the value in effect, the layer that it comes from, and who forces it",
      columns: ["Control", "Title", "Result", "Key", "Expected", "Value", "Layer", "Forced by"], rows: rows)
  }
}
