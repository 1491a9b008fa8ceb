/// Columns of text for people: aligned by display width, no trailing spaces, no lines drawn.
public struct TextTable: Sendable {
  public enum Alignment: Sendable, Hashable { case left, right }

  /// A cell: its text, which must be safe for a terminal already, and how it is painted.
  public struct Cell: Sendable, Hashable, ExpressibleByStringLiteral {
    public var text: String
    public var style: TextStyle?

    public init(_ text: String, _ style: TextStyle? = nil) {
      self.text = text
      self.style = style
    }

    public init(stringLiteral text: String) { self.init(text) }
  }

  let alignments: [Alignment]
  let indent: Int
  let gap: Int
  private var rows: [[Cell]] = []

  /// - Parameters:
  ///   - alignments: one a column; a row may have fewer cells.
  ///   - indent: spaces before the first column.
  ///   - gap: spaces between columns.
  public init(_ alignments: [Alignment], indent: Int = 0, gap: Int = 2) {
    self.alignments = alignments
    self.indent = indent
    self.gap = gap
  }

  public mutating func add(_ cells: [Cell]) { rows.append(cells) }

  public var isEmpty: Bool { rows.isEmpty }

  /// The whole table, a new line after each row.
  ///
  /// - Complexity: O(text).
  public func text(_ palette: Palette) -> String {
    var widths = [Int](repeating: 0, count: alignments.count)
    for row in rows {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], DisplayWidth.columns(cell.text)) }
    }
    var text = ""
    for row in rows {
      // The last cell that has text ends the line; whatever would be padding after it is left out.
      let last = row.lastIndex { !$0.text.isEmpty } ?? -1
      guard last >= 0 else {
        text += "\n"
        continue
      }
      text += String(repeating: " ", count: indent)
      for index in 0...last {
        let cell = row[index]
        let padding = String(repeating: " ", count: widths[index] - DisplayWidth.columns(cell.text))
        let painted = cell.style.map { palette.paint(cell.text, $0) } ?? cell.text
        let atEnd = index == last
        text += alignments[index] == .right ? padding + painted : painted + (atEnd ? "" : padding)
        if !atEnd { text += String(repeating: " ", count: gap) }
      }
      text += "\n"
    }
    return text
  }

  /// A text with spaces after it up to a width in columns.
  public static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - DisplayWidth.columns(text)))
  }
}
