import AuditLog

/// The page of a history: verdict, on what it rests, how it went, what failed and when, the gaps, what was in force.
public enum HistoryHTML {
  /// More rows than these in one table are left to the JSON form.
  static let maximumRows = 500

  public static func document(_ report: HistoryReport) -> [UInt8] {
    let single = report.users.count == 1 ? report.users[0].user : nil
    let title = "Compliance of \(report.host) over time" + (single.map { ", for \($0)" } ?? ", for each user")
    var body = ReportHTML.heading(title, report.verdict)
    body += "<p class=\"lead\">\(report.counts.percentageText): \(report.counts.text).</p>\n"
    body += HTMLPage.facts(facts(report))
    if !report.users.isEmpty {
      let plots = report.users.prefix(FleetHTML.maximumPlots).enumerated()
        .map { HistoryPlot.figure($1, over: report.span, number: $0) }.joined()
      let more = report.users.count - FleetHTML.maximumPlots
      body += HTMLPage.section(
        "history", "How it went",
        plots + (more > 0 ? "<p>\(more) more users are in the JSON form.</p>\n" : ""))
    }
    let rows = failures(report)
    if !rows.isEmpty {
      body += HTMLPage.section(
        "bad", "What failed, when and why",
        table(
          "Times in which a control failed or can't be evaluated",
          ["User", "Control", "Title", "Severity", "Result", "From", "To", "Generation", "Why"], [7], rows))
    }
    if !report.timeline.gaps.isEmpty {
      body += HTMLPage.section(
        "gaps", "Gaps: what the log does not tell",
        table("Gaps in order of time", ["From", "To", "Kind", "What", "Record"], [4], gaps(report)))
    }
    body += HTMLPage.section(
      "policies", "What was in force",
      table(
        "Which generation was in force when, by the audit log", ["From", "To", "In force", "Digest of the sources"],
        [], policies(report)))
    let controls = controls(report)
    if !controls.isEmpty {
      body += HTMLPage.section(
        "controls", "All controls over the whole time",
        table(
          "Each control: it passes where it passed whenever it was asked",
          ["User", "Control", "Title", "Severity", "Result", "Refused writes"], [5], controls))
    }
    if !report.timeline.events.isEmpty {
      body += HTMLPage.section(
        "events", "What happened",
        table("Records of the audit log", ["Record", "Time", "What happened"], [0], events(report)))
    }
    return HTMLPage.page(
      title: title, body: body,
      foot:
        "Made \(ReportJSON.moment(report.made)) by policyctl report, from the audit log and the generations that are kept."
    )
  }

  private static func facts(_ report: HistoryReport) -> [(String, String)] {
    var facts = [
      ("Host", report.host), ("From", ReportJSON.moment(report.span.lowerBound)),
      ("To", ReportJSON.moment(report.span.upperBound)), ("Audit log", HistoryText.log(report)),
      ("Attested by the agent", "\(report.attestedPercentage) % of the time"),
      ("Gaps", String(report.timeline.gaps.count)),
    ]
    if let head = report.verification.head { facts.append(("End of the log", head.description)) }
    facts += (report.notes + report.users.flatMap(\.notes)).map { ("Note", $0) }
    return facts
  }

  private static func table(
    _ caption: String, _ columns: [String], _ numbers: Set<Int>, _ rows: [String]
  ) -> String {
    let shown = rows.prefix(maximumRows).joined()
    return HTMLPage.table(caption, columns: columns, numbers: numbers, rows: shown)
      + (rows.count > maximumRows ? "<p>\(rows.count - maximumRows) more are in the JSON form.</p>\n" : "")
  }

  private static func times(_ from: Int64, _ to: Int64) -> String {
    "<td>\(HTMLPage.moment(ReportJSON.moment(from)))</td><td>\(HTMLPage.moment(ReportJSON.moment(to)))</td>"
  }

  private static func failures(_ report: HistoryReport) -> [String] {
    var rows: [String] = []
    for user in report.users {
      for control in user.controls.sorted(by: { Severity.order($0.severity) > Severity.order($1.severity) }) {
        for stretch in control.bad {
          rows.append(
            "<tr><td>\(Markup.escape(user.user))</td><th scope=\"row\">\(Markup.escape(control.id))</th>"
              + "<td>\(Markup.escape(control.title))</td><td>\(Markup.escape(control.severity))</td>"
              + "<td>\(HTMLPage.badge(stretch.result))</td>" + times(stretch.span.lowerBound, stretch.span.upperBound)
              + "<td class=\"number\">\(stretch.generation.map(String.init) ?? "—")</td>"
              + "<td class=\"text\">\(Markup.escape(stretch.why))</td></tr>\n")
        }
      }
    }
    return rows
  }

  private static func gaps(_ report: HistoryReport) -> [String] {
    report.timeline.gaps.map { gap in
      "<tr>" + times(gap.from, gap.to)
        + "<th scope=\"row\">\(gap.kind.rawValue)</th><td class=\"text\">\(Markup.escape(gap.text))</td>"
        + "<td class=\"number\">\(gap.record.map(String.init) ?? "—")</td></tr>\n"
    }
  }

  private static func policies(_ report: HistoryReport) -> [String] {
    report.timeline.stretches.map { stretch in
      let (state, digest) = HistoryText.state(stretch, report.timeline)
      return "<tr>" + times(stretch.span.lowerBound, stretch.span.upperBound)
        + "<th scope=\"row\">\(Markup.escape(state))</th><td class=\"digest\"><code>\(Markup.escape(digest ?? "—"))</code></td></tr>\n"
    }
  }

  private static func controls(_ report: HistoryReport) -> [String] {
    report.users.flatMap { user in
      user.controls.map { control in
        "<tr><td>\(Markup.escape(user.user))</td><th scope=\"row\">\(Markup.escape(control.id))</th>"
          + "<td>\(Markup.escape(control.title))</td><td>\(Markup.escape(control.severity))</td>"
          + "<td>\(HTMLPage.badge(control.result))</td><td class=\"number\">\(control.attempts)</td></tr>\n"
      }
    }
  }

  private static func events(_ report: HistoryReport) -> [String] {
    report.timeline.events.suffix(maximumRows).map { event in
      "<tr><th scope=\"row\" class=\"number\">\(event.record)</th>"
        + "<td>\(HTMLPage.moment(ReportJSON.moment(event.time)))</td><td class=\"text\">\(Markup.escape(event.text))</td></tr>\n"
    }
  }
}
