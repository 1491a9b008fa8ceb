/// A plot of percentages over time as inline SVG, with the same numbers as a table for who can't see it.
enum TimelinePlot {
  private static let width = 640.0
  private static let height = 180.0
  private static let left = 44.0
  private static let right = 12.0
  private static let top = 12.0
  private static let bottom = 28.0

  /// - Parameter number: makes ids unique on the page.
  static func figure(_ history: FleetReport.History, number: Int) -> String {
    let who = Markup.escape("\(history.host), for \(history.user)")
    guard let first = history.points.first, let last = history.points.last else { return "" }
    let span = Double(max(last.made - first.made, 1))
    func x(_ made: Int64) -> Double { left + (width - left - right) * Double(made - first.made) / span }
    func y(_ percentage: Double) -> Double { top + (height - top - bottom) * (1 - percentage / 100) }
    var svg = "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-labelledby=\"plot\(number)\">\n"
    svg += "<title id=\"plot\(number)\">Percentage of \(who) over time: \(first.counts.percentageText) at first, "
    svg += "\(last.counts.percentageText) at last</title>\n"
    for percentage in [0.0, 50.0, 100.0] {
      svg += "<line class=\"grid\" x1=\"\(text(left))\" x2=\"\(text(width - right))\" y1=\"\(text(y(percentage)))\" "
      svg += "y2=\"\(text(y(percentage)))\"/>"
      svg +=
        "<text x=\"\(text(left - 6))\" y=\"\(text(y(percentage) + 4))\" text-anchor=\"end\">\(Int(percentage)) %</text>\n"
    }
    let days = (day(first.made), day(last.made))
    svg += "<text x=\"\(text(left))\" y=\"\(text(height - 8))\">\(days.0)</text>"
    svg += "<text x=\"\(text(width - right))\" y=\"\(text(height - 8))\" text-anchor=\"end\">\(days.1)</text>\n"
    // Where nothing was asked there is no percentage: the curve has a gap there. One such point ends it.
    var curve: [String] = []
    for point in history.points + [FleetReport.History.Point(made: 0, generation: nil, counts: ResultCounts())] {
      if let percentage = point.counts.percentage {
        curve.append("\(text(x(point.made))),\(text(y(percentage)))")
        svg += "<circle class=\"point\" cx=\"\(text(x(point.made)))\" cy=\"\(text(y(percentage)))\" r=\"3.5\"/>"
      } else {
        if curve.count > 1 { svg += "<polyline class=\"curve\" points=\"\(curve.joined(separator: " "))\"/>" }
        curve = []
      }
    }
    svg += "\n</svg>\n"
    var rows = ""
    for point in history.points {
      rows += "<tr><th scope=\"row\">\(ReportJSON.moment(point.made))</th>"
      rows += "<td class=\"number\">\(point.counts.percentageText)</td>"
      rows +=
        "<td class=\"number\">\(point.generation.map(String.init) ?? "—")</td><td>\(point.counts.text)</td></tr>\n"
    }
    let table = HTMLPage.table(
      "Reports of \(history.host), for \(history.user)", columns: ["Made", "Percentage", "Generation", "Controls"],
      numbers: [1, 2],
      rows: rows)
    return "<figure>\n<figcaption>\(who)</figcaption>\n\(svg)</figure>\n" + table
  }

  private static func day(_ made: Int64) -> String { String(ReportJSON.moment(made).prefix(10)) }

  /// A coordinate with one decimal.
  private static func text(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
  }
}
