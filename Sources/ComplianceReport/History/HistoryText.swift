import AuditLog
public import CommandLineKit
import LinuxFiles

/// A history for people: verdict, on what it rests, what failed and when, the gaps, then what was in force when.
public struct HistoryText {
  private let palette: Palette
  /// More lines than these of one sort are counted.
  private static let shownLines = 40

  public init(_ palette: Palette) { self.palette = palette }

  /// `incomplete: lab-a-03, from 2026-11-01T00:00:00Z to …`, and a line for each user: `for alice (user 1001): 100.0 % (4 pass)`.
  public static func summary(_ report: HistoryReport, _ palette: Palette = .plain) -> String {
    let style: TextStyle =
      switch report.verdict {
      case .pass: .good
      case .nothingChecked: .warning
      case .fail, .error, .incomplete: .error
      }
    var text = palette.paint(report.verdict.word, style) + ": \(TerminalText.escape(report.host)), from "
    text += times(report.span) + "\n"
    if report.users.isEmpty { return text + "  no person has an account on this host\n" }
    return text + report.users.map { TextFlow.lines(of($0), first: "  for ", hang: 4) }.joined()
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
    let isAlone = report.users.count == 1
    var text = Self.summary(report, palette) + row("log", Self.log(report))
    text += row("attested", "\(report.attestedPercentage) % of the time, by the agent")
    for note in report.notes + report.users.flatMap(\.notes) { text += row("note", TerminalText.escape(note)) }
    for user in report.users { text += failures(user, isAlone: isAlone) }
    if !report.timeline.gaps.isEmpty { text += "\n" + gaps(report.timeline.gaps) }
    for user in report.users where !user.controls.isEmpty { text += "\n" + controls(user, isAlone: isAlone) }
    text += "\n" + policies(report) + events(report.timeline.events)
    if let last = report.verification.head {
      // One line, however long: it is there to be copied.
      text += "\n" + palette.paint("the end of the log, for audit verify --against", .faint) + "\n"
      text += TerminalText.escape(last.description) + "\n"
    }
    return text
  }

  private func row(_ label: String, _ text: String) -> String {
    TextFlow.lines(text, first: palette.paint(label, .faint) + Self.space(label, 10), columns: 10, hang: 10)
  }

  private static func space(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - DisplayWidth.columns(text)))
  }

  /// `failed  T-2 (medium): A short timeout`, the words of what follows under each other.
  private func title(_ word: String, _ style: TextStyle?, _ width: Int, _ control: ControlHistory, _ end: String = "")
    -> String
  {
    let id = TerminalText.escape(control.id)
    let first = (style.map { palette.paint(word, $0) } ?? word) + Self.space(word, width) + palette.paint(id, .strong)
    let text = " (\(TerminalText.escape(control.severity))): \(TerminalText.escape(control.title))" + end
    return TextFlow.lines(text, first: first, columns: width + DisplayWidth.columns(id), hang: width)
  }

  private func failures(_ user: UserHistory, isAlone: Bool) -> String {
    let bad = user.controls.filter { $0.result == .fail || $0.result == .error }
      .sorted { Severity.order($0.severity) > Severity.order($1.severity) }
    let tried = user.controls.filter { $0.attempts > 0 }
    var text = bad.isEmpty && tried.isEmpty ? "" : "\n"
    for control in bad {
      let word = control.result == .fail ? "failed" : "error"
      text += title(word, .error, 8, control, isAlone ? "" : ", for \(TerminalText.escape(user.user))")
      // What was wrong once or often is said once, with all its times.
      for cause in control.causes {
        let why = (cause.result == control.result ? "" : "\(cause.result.word): ") + TerminalText.escape(cause.why)
        text += TextFlow.lines(why, first: "        ", hang: 8)
        for span in cause.spans.prefix(8) { text += "          \(Self.times(span))\n" }
        if cause.spans.count > 8 { text += "          and \(cause.spans.count - 8) more times\n" }
      }
    }
    for control in tried {
      let writes = "\(control.attempts) \(control.attempts == 1 ? "write" : "writes")"
      text += TextFlow.lines(
        "\(TerminalText.escape(control.id)): \(writes) of \(TerminalText.escape(user.user)) to its keys, refused",
        first: palette.paint("tried", .warning) + "   ", columns: 8, hang: 8)
    }
    return text
  }

  /// Every control with its result over the whole time, and how long it had each.
  private func controls(_ user: UserHistory, isAlone: Bool) -> String {
    let what = isAlone ? "controls" : "controls, for \(TerminalText.escape(user.user))"
    var text = palette.paint(what + " over the whole time", .faint) + "\n"
    for control in user.controls {
      let style: TextStyle? =
        switch control.result {
        case .pass: .good
        case .fail, .error: .error
        case .exempt: .warning
        case .notApplicable: .faint
        }
      text += title(control.result.word, style, 16, control)
      text += TextFlow.lines(Self.shares(control), first: String(repeating: " ", count: 16), hang: 16)
    }
    return text
  }

  /// `fail 8 h, pass 13 h, unknown 4 h`, or that it was the same all the time.
  private static func shares(_ control: ControlHistory) -> String {
    let shares = control.shares
    if let only = shares.first, shares.count == 1 { return "\(only.word) all the time" }
    return shares.map { "\($0.word) \(DurationText.short($0.seconds))" }.joined(separator: ", ")
  }

  private func gaps(_ gaps: [HistoryGap]) -> String {
    var text = ""
    for gap in gaps.prefix(Self.shownLines) {
      text += palette.paint("gap", .warning) + "     \(Self.times(gap.from..<gap.to))  \(gap.kind.rawValue)\n"
      text += TextFlow.lines(
        TerminalText.escape(gap.text) + (gap.record.map { " (record \($0))" } ?? ""), first: "        ", hang: 8)
    }
    if gaps.count > Self.shownLines { text += "gap     and \(gaps.count - Self.shownLines) more\n" }
    return text
  }

  /// Each row lasts until the next, and the last until the end.
  private func policies(_ report: HistoryReport) -> String {
    let stretches = report.timeline.stretches
    func line(_ since: String, _ sources: String, _ state: String) -> String {
      TextFlow.lines(state, first: TextTable.pad(since, to: 22) + TextTable.pad(sources, to: 19), hang: 41)
    }
    var text = palette.paint("since                 sources            in force", .faint) + "\n"
    for stretch in stretches.prefix(Self.shownLines) {
      let (state, digest) = Self.state(stretch, report.timeline)
      let sources = digest.map { String($0.prefix(16)) + "…" } ?? "—"
      text += line(ReportJSON.moment(stretch.span.lowerBound), sources, TerminalText.escape(state))
    }
    let more = stretches.count - Self.shownLines
    return text + (more > 0 ? "and \(more) more\n" : "")
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
    let more = events.count - Self.shownLines
    var text = "\n" + (more > 0 ? "\(more) earlier events are in the JSON form\n" : "")
    text += palette.paint("record  time                  what happened", .faint) + "\n"
    for event in events.suffix(Self.shownLines) {
      let number = String(event.record)
      let first = String(repeating: " ", count: max(0, 6 - number.utf8.count)) + number + "  "
      text += TextFlow.lines(
        TerminalText.escape(event.text), first: first + ReportJSON.moment(event.time) + "  ", hang: 30)
    }
    return text
  }

  static func times(_ span: Range<Int64>) -> String {
    span.isEmpty
      ? ReportJSON.moment(span.lowerBound)
      : "\(ReportJSON.moment(span.lowerBound)) to \(ReportJSON.moment(span.upperBound))"
  }
}
