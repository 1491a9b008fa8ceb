/// The page of a fleet: verdict, what fails and where, who is missing, the hosts, the controls by host, and how it went.
public enum FleetHTML {
  /// A table by control and host with more cells than these is left to the JSON and CSV forms: no page shows it well.
  static let maximumCells = 20_000
  /// Controls that stand beside each other in one table.
  static let columns = 8
  /// More names than these in one cell are counted.
  static let shownNames = 12
  /// More replaced reports than these are counted.
  static let maximumReplaced = 100
  /// More histories than these are left to the reports themselves.
  static let maximumPlots = 40

  public static func document(_ fleet: FleetReport) -> [UInt8] {
    let title = "Compliance of the fleet: \(FleetText.reported(fleet))"
    var body = ReportHTML.heading(title, fleet.verdict)
    body += "<p class=\"lead\">\(fleet.counts.percentageText): \(fleet.counts.text).</p>\n"
    body += HTMLPage.facts(facts(fleet))
    let bad = fleet.controls.filter { $0.counts.bad > 0 }
      .sorted { Severity.order($0.severity) > Severity.order($1.severity) }
    if !bad.isEmpty { body += HTMLPage.section("bad", "What fails, and where", failing(bad, fleet)) }
    body += absent(fleet)
    if !fleet.rows.isEmpty { body += HTMLPage.section("hosts", "Hosts", hosts(fleet)) }
    if !fleet.controls.isEmpty { body += HTMLPage.section("matrix", "Controls by host", matrix(fleet)) }
    if !fleet.histories.isEmpty { body += HTMLPage.section("history", "Over time", plots(fleet)) }
    return HTMLPage.page(
      title: title, body: body,
      foot: "Made \(ReportJSON.moment(fleet.made)) by policyctl report, from what the hosts report of themselves.")
  }

  private static func facts(_ fleet: FleetReport) -> [(String, String)] {
    var facts = [
      ("Hosts in the inventory", fleet.expected.map(String.init) ?? "no inventory was given"),
      ("Hosts that reported", String(fleet.hostCount)), ("Missing", String(fleet.missing.count)),
      ("Unknown hosts", String(fleet.unknown.count)), ("Unreadable files", String(fleet.unreadable.count)),
      ("Reports replaced by newer ones", String(fleet.replaced.count)),
    ]
    facts += fleet.notes.map { ("Note", $0) }
    return facts
  }

  private static func failing(_ controls: [FleetReport.Control], _ fleet: FleetReport) -> String {
    var rows = ""
    for control in controls {
      let names = control.bad.map { "\(fleet.rows[$0.row].host) (\(fleet.rows[$0.row].user))" }
      rows +=
        "<tr><th scope=\"row\">\(Markup.escape(control.id))</th><td class=\"text\">\(Markup.escape(control.title))"
      if let message = control.bad.lazy.map(\.message).first(where: { !$0.isEmpty }) {
        rows += " <span class=\"why\">\(Markup.escape(message))</span>"
      }
      rows += "</td><td>\(Markup.escape(control.severity))</td><td class=\"number\">\(control.counts[.fail])</td>"
      rows += "<td class=\"number\">\(control.counts[.error])</td><td>\(Markup.escape(shortened(names)))</td></tr>\n"
    }
    return HTMLPage.table(
      "Controls that fail or can't be evaluated", columns: ["Control", "Title", "Severity", "Fail", "Error", "Hosts"],
      numbers: [3, 4],
      rows: rows)
  }

  private static func absent(_ fleet: FleetReport) -> String {
    var text = ""
    if !fleet.missing.isEmpty {
      text += HTMLPage.section(
        "missing", "Missing: \(fleet.missing.count) of \(fleet.expected ?? 0) hosts sent no report",
        HTMLPage.list(fleet.missing))
    }
    if !fleet.unreadable.isEmpty {
      text += HTMLPage.section(
        "unreadable", "Files that can't be read", HTMLPage.list(fleet.unreadable.map { "\($0.name): \($0.why)" }))
    }
    if !fleet.unknown.isEmpty {
      text += HTMLPage.section(
        "unknown", "Hosts that the inventory does not list, counted in no figure",
        HTMLPage.list(fleet.unknown.map { "\($0.name) (\($0.why))" }))
    }
    if !fleet.replaced.isEmpty {
      let shown = fleet.replaced.prefix(maximumReplaced).map { report in
        "\(report.file): \(report.host), for \(report.user)\(report.made.map { ", made " + ReportJSON.moment($0) } ?? ""); \(report.by) is newer"
      }
      let rest = fleet.replaced.count - shown.count
      text += HTMLPage.section(
        "replaced", "Older reports, which count only over time",
        HTMLPage.list(shown + (rest > 0 ? ["and \(rest) more, which the JSON form lists"] : [])))
    }
    return text
  }

  private static func hosts(_ fleet: FleetReport) -> String {
    var rows = ""
    for row in fleet.rows {
      rows += "<tr><th scope=\"row\">\(Markup.escape(row.host))</th><td>\(Markup.escape(row.user))</td>"
      rows += "<td>\(HTMLPage.badge(row.verdict))</td><td class=\"number\">\(row.counts.percentageText)</td>"
      rows += "<td>\(row.counts.text)</td><td class=\"number\">\(row.generation.map(String.init) ?? "—")</td>"
      rows +=
        "<td>\(Markup.escape(row.sources))</td><td>\(row.made.map { HTMLPage.moment(ReportJSON.moment($0)) } ?? "—")</td></tr>\n"
    }
    return HTMLPage.table(
      "Each host and user, by the newest report",
      columns: ["Host", "User", "Verdict", "Percentage", "Controls", "Generation", "Sources", "Made"],
      numbers: [3, 5], rows: rows)
  }

  private static func matrix(_ fleet: FleetReport) -> String {
    let cells = fleet.rows.count * fleet.controls.count
    guard cells <= maximumCells else {
      return
        "<p>\(fleet.controls.count) controls on \(fleet.rows.count) hosts and users are too many cells for a page. "
        + "<code>--format csv</code> and <code>--format json</code> have them all.</p>\n"
    }
    // Hosts grow without end, controls hardly: they are the columns, as many to a table as fit on a screen and on paper.
    var tables = ""
    for start in stride(from: 0, to: fleet.controls.count, by: columns) {
      let end = min(start + columns, fleet.controls.count)
      var rows = ""
      for row in fleet.rows {
        rows += "<tr><th scope=\"row\">\(Markup.escape(row.host)) (\(Markup.escape(row.user)))</th>"
        for result in row.results[start..<end] { rows += "<td>\(result.map(HTMLPage.badge) ?? "—")</td>" }
        rows += "</tr>\n"
      }
      let part = fleet.controls.count > columns ? ": controls \(start + 1) to \(end) of \(fleet.controls.count)" : ""
      tables += HTMLPage.table(
        "The result of each control on each host" + part,
        columns: ["Host and user"] + fleet.controls[start..<end].map(\.id), rows: rows, class: "matrix")
    }
    return tables
  }

  private static func plots(_ fleet: FleetReport) -> String {
    var text = ""
    for (number, history) in fleet.histories.prefix(maximumPlots).enumerated() {
      text += TimelinePlot.figure(history, number: number)
    }
    if fleet.histories.count > maximumPlots {
      text +=
        "<p>\(fleet.histories.count - maximumPlots) more hosts have a history; collect their reports alone to see it.</p>\n"
    }
    return text
  }

  private static func shortened(_ names: [String]) -> String {
    let shown = names.prefix(shownNames).joined(separator: ", ")
    return names.count > shownNames ? shown + " and \(names.count - shownNames) more" : shown
  }
}
