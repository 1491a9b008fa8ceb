/// Running text for people, broken at spaces so that it is read in a terminal of 80 columns.
public enum TextFlow {
  /// What a terminal shows in a line, wherever the text goes: a file is read in one as well.
  public static let width = 80

  /// The text in lines of at most 80 columns, each with its final new line.
  ///
  /// A word that is longer than a line stays whole, so that it can be copied. Spaces within the lines are kept.
  ///
  /// - Parameters:
  ///   - text: safe for a terminal already; not painted.
  ///   - first: what the first line begins with; its columns count. It may be painted.
  ///   - columns: the width of `first`, where it is painted; else it is measured.
  ///   - hang: the spaces that each further line begins with.
  /// - Complexity: O(text).
  public static func lines(_ text: String, first: String = "", columns: Int? = nil, hang: Int) -> String {
    var output = first
    var column = columns ?? DisplayWidth.columns(first)
    var isAtStart = true
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let width = DisplayWidth.columns(String(word))
      if isAtStart {
        isAtStart = false
      } else if column + 1 + width > Self.width {
        output += "\n" + String(repeating: " ", count: hang)
        column = hang
      } else {
        output += " "
        column += 1
      }
      output += word
      column += width
    }
    return output + "\n"
  }
}
