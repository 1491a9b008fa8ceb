/// A plot of percentages over time as inline SVG, with the same numbers as a table for who can't see it.
enum TimelinePlot {
  /// - Parameter number: makes ids unique on the page.
  static func figure(_ history: FleetReport.History, number: Int) -> String {
    let who = Markup.escape("\(history.host), for \(history.user)")
    guard let first = history.points.first, let last = history.points.last else { return "" }
    let frame = PlotFrame(from: first.made, to: last.made)
    var svg = frame.open(
      title: "Percentage of \(history.host), for \(history.user) over time: \(first.counts.percentageText) at first, "
        + "\(last.counts.percentageText) at last",
      id: "plot\(number)")
    // Where nothing was asked there is no percentage: the curve has a gap there. One such point ends it.
    var curve: [String] = []
    for point in history.points + [FleetReport.History.Point(made: 0, generation: nil, counts: ResultCounts())] {
      if let percentage = point.counts.percentage {
        let (x, y) = (PlotFrame.text(frame.x(point.made)), PlotFrame.text(frame.y(percentage)))
        curve.append("\(x),\(y)")
        svg += "<circle class=\"point\" cx=\"\(x)\" cy=\"\(y)\" r=\"3.5\"/>"
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
}
