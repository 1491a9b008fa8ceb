import AuditLog
public import CommandLineKit

/// A history for people: verdict, on what it rests, what failed and when, the gaps, then what was in force when.
public struct HistoryText {
  private let palette: Palette
  /// More lines than these of one sort are counted.
  private static let shownLines = 40

  public init(_ palette: Palette) { self.palette = palette }

  /// `incomplete: lab-a-03, for alice (user 1001), 2026-11-01T00:00:00Z to …: 100.0 % (4 pass)`, a line for each user.
  public static func summary(_ report: HistoryReport, _ palette: Palette = .plain) -> String {
    let style: TextStyle =
      switch report.verdict {
      case .pass: .good
      case .nothingChecked: .warning
      case .fail, .error, .incomplete: .error
      }
    var text = palette.paint(report.verdict.word, style) + ": \(TerminalText.escape(report.host)), from "
    text += "\(ReportJSON.moment(report.span.lowerBound)) to \(ReportJSON.moment(report.span.upperBound))"
    if report.users.isEmpty { return text + ": no person has an account on this host\n" }
    if let only = report.users.first, report.users.count == 1 { return text + ", for \(of(only))\n" }
    return text + "\n" + report.users.map { "  for \(of($0))\n" }.joined()
  }

  private static func of(_ user: UserHistory) -> String {
    "\(who(user)): \(user.counts.percentageText) (\(user.counts.text))"
  }

  static func who(_ user: UserHistory) -> String {
    TerminalText.escape(user.user) + (user.userID.map { " (user \($0))" } ?? " (no user of this host)")
  }

  /// How the log was verified, in one sentence.
  static func log(_ report: HistoryReport) -> String {
    let extent = "\(report.verification.records) records, \(report.timeline.recordCount) of them read"
    let same = report.verification.records == report.timeline.recordCount
    return "the log is \(report.verification.verdict) (\(same ? "\(report.verification.records) records" : extent))"
  }

  public func text(_ report: HistoryReport) -> String {
    var text = Self.summary(report, palette)
    var head = TextTable([.left, .left])
    head.add([TextTable.Cell("log", .faint), TextTable.Cell(Self.log(report))])
    if let last = report.verification.head {
      head.add([TextTable.Cell("end", .faint), TextTable.Cell(TerminalText.escape(last.description))])
    }
    head.add([
      TextTable.Cell("attested", .faint), TextTable.Cell("\(report.attestedPercentage) % of the time, by the agent"),
    ])
    for note in report.notes + report.users.flatMap(\.notes) {
      head.add([TextTable.Cell("note", .faint), TextTable.Cell(TerminalText.escape(note))])
    }
    text += head.text(palette)
    for user in report.users { text += failures(user, isAlone: report.users.count == 1) }
    if !report.timeline.gaps.isEmpty { text += "\n" + gaps(report.timeline.gaps) }
    text += "\n" + policies(report) + events(report.timeline.events)
    return text
  }

  private func failures(_ user: UserHistory, isAlone: Bool) -> String {
    let bad = user.controls.filter { $0.result == .fail || $0.result == .error }
      .sorted { Severity.order($0.severity) > Severity.order($1.severity) }
    var text = bad.isEmpty ? "" : "\n"
    for control in bad {
      text += "\(palette.paint(control.result == .fail ? "failed" : "error", .error))  "
      text += palette.paint(TerminalText.escape(control.id), .strong)
      text += " (\(TerminalText.escape(control.severity))): \(TerminalText.escape(control.title))"
      text += isAlone ? "\n" : ", for \(TerminalText.escape(user.user))\n"
      let stretches = control.bad
      for stretch in stretches.prefix(8) {
        text += "        \(Self.times(stretch.span))  \(stretch.result.word): \(TerminalText.escape(stretch.why))\n"
      }
      if stretches.count > 8 { text += "        and \(stretches.count - 8) more times\n" }
    }
    let tried = user.controls.filter { $0.attempts > 0 }
    for control in tried {
      text += "\(palette.paint("tried", .warning))  \(TerminalText.escape(control.id)): "
      text += "\(control.attempts) \(control.attempts == 1 ? "write" : "writes") of \(TerminalText.escape(user.user)) "
      text += "to its keys, refused\n"
    }
    return text
  }

  private func gaps(_ gaps: [HistoryGap]) -> String {
    var text = ""
    for gap in gaps.prefix(Self.shownLines) {
      text += "\(palette.paint("gap", .warning))  \(Self.times(gap.from..<gap.to))  \(gap.kind.rawValue): "
      text += TerminalText.escape(gap.text) + (gap.record.map { " (record \($0))" } ?? "") + "\n"
    }
    if gaps.count > Self.shownLines { text += "gap  and \(gaps.count - Self.shownLines) more\n" }
    return text
  }

  private func policies(_ report: HistoryReport) -> String {
    var table = TextTable([.left, .left, .left, .left])
    table.add(["from", "to", "in force", "sources"].map { TextTable.Cell($0, .faint) })
    for stretch in report.timeline.stretches.prefix(Self.shownLines) {
      let (state, digest) = Self.state(stretch, report.timeline)
      table.add([
        TextTable.Cell(ReportJSON.moment(stretch.span.lowerBound)),
        TextTable.Cell(ReportJSON.moment(stretch.span.upperBound)), TextTable.Cell(TerminalText.escape(state)),
        TextTable.Cell(digest.map { String($0.prefix(16)) + "…" } ?? "—"),
      ])
    }
    let more = report.timeline.stretches.count - Self.shownLines
    return table.text(palette) + (more > 0 ? "and \(more) more\n" : "")
  }

  /// What was in force, and the digest of its sources.
  static func state(_ stretch: PolicyTimeline.Stretch, _ timeline: PolicyTimeline) -> (String, String?) {
    switch stretch.state {
    case .inForce(let generation):
      let known = timeline.digests[generation] ?? []
      return ("generation \(generation)", known.count == 1 ? known.first.flatMap { $0.isEmpty ? nil : $0 } : nil)
    case .nothing: return ("nothing", nil)
    case .unknown(let why): return ("unknown: \(why)", nil)
    }
  }

  private func events(_ events: [PolicyTimeline.Event]) -> String {
    if events.isEmpty { return "" }
    var table = TextTable([.right, .left, .left])
    table.add(["record", "time", "what happened"].map { TextTable.Cell($0, .faint) })
    for event in events.suffix(Self.shownLines) {
      table.add([
        TextTable.Cell(String(event.record)), TextTable.Cell(ReportJSON.moment(event.time)),
        TextTable.Cell(TerminalText.escape(event.text)),
      ])
    }
    let more = events.count - Self.shownLines
    return "\n" + (more > 0 ? "\(more) earlier events are in the JSON form\n" : "") + table.text(palette)
  }

  static func times(_ span: Range<Int64>) -> String {
    span.isEmpty
      ? ReportJSON.moment(span.lowerBound)
      : "\(ReportJSON.moment(span.lowerBound)) to \(ReportJSON.moment(span.upperBound))"
  }
}
