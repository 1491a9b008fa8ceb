/// A plot of percentages over a time of the log as inline SVG: steps, since results hold until something changes.
///
/// What the agent does not attest is drawn as a broken line, and where nothing can be told there is a hatched field with the
/// word; the same stands in a table for who can't see it.
enum HistoryPlot {
  /// More rows than these are left to the JSON form.
  static let maximumRows = 200

  /// - Parameter number: makes ids unique on the page.
  static func figure(_ user: UserHistory, over span: Range<Int64>, number: Int) -> String {
    let frame = PlotFrame(from: span.lowerBound, to: span.upperBound)
    let percentages = user.points.compactMap { $0.counts?.percentage == nil ? nil : $0.counts }
    var title = "Percentage of \(user.user) over time: "
    if let lowest = percentages.min(by: { ($0.percentage ?? 0) < ($1.percentage ?? 0) }), let last = percentages.last {
      title += "at least \(lowest.percentageText), \(last.percentageText) at last"
    } else {
      title += "nothing was asked, or nothing can be told"
    }
    var svg = frame.open(title: title, id: "plot\(number)")
    svg += "<defs><pattern id=\"hatch\(number)\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    svg +=
      "patternTransform=\"rotate(45)\"><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>\n"
    var before: (x: Double, y: Double)?
    for point in user.points {
      let (left, right) = (frame.x(point.span.lowerBound), frame.x(point.span.upperBound))
      guard let counts = point.counts else {
        svg += frame.field(left, right, fill: "url(#hatch\(number))", word: "unknown")
        before = nil
        continue
      }
      guard let percentage = counts.percentage else {
        before = nil
        continue
      }
      let y = frame.y(percentage)
      if let before, before.y != y { svg += frame.line(before.x, before.y, left, y, "curve") }
      svg += frame.line(left, y, right, y, point.isAttested ? "curve" : "curve unattested")
      before = (right, y)
    }
    svg += "</svg>\n"
    let who = Markup.escape(user.user)
    return "<figure>\n<figcaption>\(who): percentage of the controls that were asked. "
      + "A broken line: no sign of life of the agent. Hatched: unknown.</figcaption>\n\(svg)</figure>\n" + table(user)
  }

  private static func table(_ user: UserHistory) -> String {
    var rows = ""
    for point in user.points.suffix(maximumRows) {
      rows += "<tr><th scope=\"row\">\(HTMLPage.moment(ReportJSON.moment(point.span.lowerBound)))</th>"
      rows += "<td>\(HTMLPage.moment(ReportJSON.moment(point.span.upperBound)))</td>"
      rows += "<td class=\"number\">\(point.counts?.percentageText ?? "unknown")</td>"
      rows += "<td class=\"number\">\(point.generation.map(String.init) ?? "—")</td>"
      rows += "<td>\(point.counts?.text ?? "unknown")</td><td>\(point.isAttested ? "yes" : "no")</td></tr>\n"
    }
    let more = user.points.count - maximumRows
    return HTMLPage.table(
      "How it went for \(user.user)", columns: ["From", "To", "Percentage", "Generation", "Controls", "Attested"],
      numbers: [2, 3], rows: rows)
      + (more > 0 ? "<p>\(more) earlier times are in the JSON form.</p>\n" : "")
  }
}
