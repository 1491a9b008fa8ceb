public import CommandLineKit
import LinuxFiles

/// A fleet report for people: verdict, what fails and where, who is missing, then each host that is not in order.
public struct FleetText {
  private let palette: Palette
  /// More names than these are counted.
  private static let shownNames = 8

  public init(_ palette: Palette) { self.palette = palette }

  /// `fail: 58 of 60 hosts reported: 97.5 % (…)`.
  public static func summary(_ fleet: FleetReport, _ palette: Palette = .plain) -> String {
    let style: TextStyle =
      switch fleet.verdict {
      case .pass: .good
      case .nothingChecked: .warning
      case .fail, .error, .incomplete: .error
      }
    let hosts = reported(fleet)
    return palette.paint(fleet.verdict.word, style)
      + ": \(hosts): \(fleet.counts.percentageText) (\(fleet.counts.text))"
  }

  static func reported(_ fleet: FleetReport) -> String {
    guard let expected = fleet.expected else {
      return "\(fleet.hostCount) \(fleet.hostCount == 1 ? "host" : "hosts")"
    }
    return "\(expected - fleet.missing.count) of \(expected) hosts reported"
  }

  public func text(_ fleet: FleetReport) -> String {
    var text = Self.summary(fleet, palette) + "\n"
    let bad = fleet.controls.filter { $0.counts.bad > 0 }
      .sorted { Severity.order($0.severity) > Severity.order($1.severity) }
    if !bad.isEmpty { text += "\n" }
    for control in bad {
      text += "\(palette.paint("failed", .error))  \(palette.paint(TerminalText.escape(control.id), .strong))"
      text += " (\(TerminalText.escape(control.severity))): \(TerminalText.escape(control.title))\n"
      text += "        on \(control.counts.bad) of \(control.counts.total): "
      text += Self.names(control.bad.map { Self.who(fleet.rows[$0.row]) }) + "\n"
      if let message = control.bad.lazy.map(\.message).first(where: { !$0.isEmpty }) {
        text += "        \(TerminalText.escape(message))\n"
      }
    }
    text += absent(fleet)
    let rows = fleet.rows.filter { $0.verdict != .pass }
    if !rows.isEmpty { text += "\n" + table(rows) }
    return text
  }

  private func absent(_ fleet: FleetReport) -> String {
    var lines: [String] = []
    func line(_ word: String, _ style: TextStyle?, _ names: [String]) {
      guard !names.isEmpty else { return }
      lines.append("\(style.map { palette.paint(word, $0) } ?? word)  \(names.count): \(Self.names(names))\n")
    }
    line("missing", .error, fleet.missing.map { TerminalText.escape($0) })
    line("unreadable", .error, fleet.unreadable.map { TerminalText.escape("\($0.name) (\($0.why))") })
    line("unknown", .warning, fleet.unknown.map { TerminalText.escape("\($0.name) (\($0.why))") })
    line(
      "replaced by newer", nil, fleet.replaced.map { TerminalText.escape("\($0.file) (by \($0.by))") })
    lines += fleet.notes.map { "note  \(TerminalText.escape($0))\n" }
    return lines.isEmpty ? "" : "\n" + lines.joined()
  }

  private func table(_ rows: [FleetReport.Row]) -> String {
    var table = TextTable([.left, .left, .left, .right, .left, .right, .left])
    table.add(
      ["host", "user", "verdict", "percentage", "sources", "generation", "controls"].map {
        TextTable.Cell($0, .faint)
      })
    for row in rows {
      table.add([
        TextTable.Cell(TerminalText.escape(row.host)), TextTable.Cell(TerminalText.escape(row.user)),
        TextTable.Cell(row.verdict.word, row.verdict == .nothingChecked ? .warning : .error),
        TextTable.Cell(row.counts.percentageText), TextTable.Cell(TerminalText.escape(row.sources)),
        TextTable.Cell(row.generation.map(String.init) ?? "—"), TextTable.Cell(row.counts.text),
      ])
    }
    return table.text(palette)
  }

  private static func who(_ row: FleetReport.Row) -> String {
    TerminalText.escape(row.host) + " " + TerminalText.escape(row.user)
  }

  static func names(_ names: [String]) -> String {
    let shown = names.prefix(shownNames).joined(separator: ", ")
    return names.count > shownNames ? shown + " and \(names.count - shownNames) more" : shown
  }
}
