/// The frame of a plot of percentages over time, as inline SVG: the axes, and where a value is in it.
struct PlotFrame {
  private static let width = 640.0
  private static let height = 180.0
  private static let left = 64.0
  private static let right = 12.0
  private static let top = 12.0
  private static let bottom = 28.0

  private let from: Int64
  private let to: Int64

  /// Unix seconds.
  init(from: Int64, to: Int64) {
    self.from = from
    self.to = to
  }

  func x(_ moment: Int64) -> Double {
    Self.left + (Self.width - Self.left - Self.right) * Double(moment - from) / Double(max(to - from, 1))
  }

  func y(_ percentage: Double) -> Double {
    Self.top + (Self.height - Self.top - Self.bottom) * (1 - percentage / 100)
  }

  /// The element's start with its text alternative, the grid and the words at the axes.
  func open(title: String, id: String) -> String {
    var svg = "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-labelledby=\"\(id)\">\n"
    svg += "<title id=\"\(id)\">\(Markup.escape(title))</title>\n"
    let (start, end) = (Self.text(Self.left), Self.text(Self.width - Self.right))
    for percentage in [0.0, 50.0, 100.0] {
      let y = y(percentage)
      svg += "<line class=\"grid\" x1=\"\(start)\" x2=\"\(end)\" y1=\"\(Self.text(y))\" y2=\"\(Self.text(y))\"/>"
      svg += "<text x=\"\(Self.text(Self.left - 6))\" y=\"\(Self.text(y + 4))\" text-anchor=\"end\">"
      svg += "\(Int(percentage)) %</text>\n"
    }
    let foot = Self.text(Self.height - 8)
    svg += "<text x=\"\(start)\" y=\"\(foot)\">\(moment(from))</text>"
    svg += "<text x=\"\(end)\" y=\"\(foot)\" text-anchor=\"end\">\(moment(to))</text>\n"
    return svg
  }

  func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ name: String) -> String {
    "<line class=\"\(name)\" x1=\"\(Self.text(x1))\" y1=\"\(Self.text(y1))\" x2=\"\(Self.text(x2))\" "
      + "y2=\"\(Self.text(y2))\"/>\n"
  }

  /// A field over the whole height, with a word where there is room for it.
  func field(_ left: Double, _ right: Double, fill: String, word: String) -> String {
    let height = Self.height - Self.top - Self.bottom
    var svg =
      "<rect x=\"\(Self.text(left))\" y=\"\(Self.text(Self.top))\" width=\"\(Self.text(max(right - left, 1)))\" "
    svg += "height=\"\(Self.text(height))\" fill=\"\(fill)\"/>\n"
    if right - left > 60 {
      svg += "<text x=\"\(Self.text((left + right) / 2))\" y=\"\(Self.text(Self.top + height / 2 + 14))\" "
      svg += "text-anchor=\"middle\">\(word)</text>\n"
    }
    return svg
  }

  /// The day, or the time of day as well where the plot is of less than three days.
  private func moment(_ instant: Int64) -> String {
    let text = ReportJSON.moment(instant)
    if to - from < 3600 { return text.dropFirst(11).prefix(8) + " UTC" }
    return to - from < 3 * 86_400 ? text.prefix(16) + " UTC" : String(text.prefix(10))
  }

  /// A coordinate with one decimal.
  static func text(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
  }
}
