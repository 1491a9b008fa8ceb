import Synchronization

/// Diagnostics as people read them: the place first, the source line with a caret, then what else it is about and what
/// to do next.
///
/// ```
/// policies/exam.yaml:11:15: error: HomePage is forced to different values at the same rank [conflict]
///    11 |     HomePage: https://exam.example.org/
///       |               ^~~~~~~~~~~~~~~~~~~~~~~~~
/// policies/kiosk.yaml:8:15: note: the other value is here
/// hint: give one profile a higher priority, or make their hosts disjoint
/// ```
///
/// Source text is untrusted: control and direction-changing characters are shown as escapes, long lines are cut.
public struct DiagnosticRenderer: Sendable {
  private let sources: [String: SourceText]
  private let lines = LineStarts()
  private let isColored: Bool

  /// - Parameters:
  ///   - sources: the files whose lines are quoted; a diagnostic about another file is shown without its line.
  ///   - isColored: with the escape sequences of a terminal; the words are the same.
  public init(sources: [SourceText], isColored: Bool = false) {
    self.sources = Dictionary(sources.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    self.isColored = isColored
  }

  /// All diagnostics in their order, each ended by a line feed.
  public func render(_ diagnostics: [Diagnostic]) -> String { diagnostics.map(render).joined() }

  /// One diagnostic, ended by a line feed.
  public func render(_ diagnostic: Diagnostic) -> String {
    let severity = diagnostic.severity.rawValue
    var text = "\(place(diagnostic.path, diagnostic.position)): "
    text += paint(severity + ":", diagnostic.severity == .error ? "1;31" : "1;35")
    text += " \(diagnostic.message.printable) [\(diagnostic.code)]\n"
    text += quotation(diagnostic)
    for related in diagnostic.related {
      text += "\(place(related.path, related.position)): \(paint("note:", "1;36")) \(related.message.printable)\n"
    }
    if let hint = diagnostic.hint { text += "\(paint("hint:", "1;32")) \(hint.printable)\n" }
    return text
  }

  private func place(_ path: String, _ position: SourcePosition) -> String {
    "\(path.printable):\(position.line):\(position.column)"
  }

  private func paint(_ text: String, _ style: String) -> String {
    isColored ? "\u{1b}[\(style)m\(text)\u{1b}[0m" : text
  }

  // The longest line that is quoted whole; of a longer one, the part around the caret.
  private static let widestLine = 160

  private func quotation(_ diagnostic: Diagnostic) -> String {
    let position = diagnostic.position
    guard diagnostic.quotation != .nothing, let source = sources[diagnostic.path],
      let bytes = lines.line(position.line, of: source)
    else { return "" }
    var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
    var caret = Int(position.column) - 1
    guard caret <= scalars.count else { return "" }
    if case .key(let end) = diagnostic.quotation {
      guard end <= scalars.count else { return "" }
      scalars = scalars.prefix(Int(end)) + Array(": …".unicodeScalars)
      // What is behind the key is somewhere in the ellipsis.
      if caret >= end { caret = scalars.count - 1 }
    }
    var length = min(max(1, Int(position.length)), max(1, scalars.count - caret))
    var lead = ""
    if scalars.count > Self.widestLine {
      let start = max(0, min(caret - 40, scalars.count - 120))
      scalars = Array(scalars[start..<min(scalars.count, start + 120)])
      caret -= start
      length = min(length, max(1, scalars.count - caret))
      lead = start > 0 ? "…" : ""
    }
    var line = lead
    var marks = lead.isEmpty ? "" : " "
    for (index, scalar) in scalars.enumerated() {
      let shown =
        scalar == "\t" ? "\t" : scalar.isUnsafeToPrint ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
      line += shown
      if index < caret {
        marks += scalar == "\t" ? "\t" : String(repeating: " ", count: width(of: scalar, shown))
      } else if index < caret + length {
        let mark = String(repeating: "~", count: max(1, width(of: scalar, shown)))
        marks += index == caret ? "^" + mark.dropFirst() : mark
      }
    }
    if caret >= scalars.count { marks += "^" }
    let number = String(position.line)
    let margin = String(repeating: " ", count: max(0, 5 - number.count))
    let blank = String(repeating: " ", count: max(5, number.count))
    return "\(margin)\(number) | \(line)\n\(blank) | \(paint(marks, "1;32"))\n"
  }

  private func width(of scalar: Unicode.Scalar, _ shown: String) -> Int {
    if scalar.isUnsafeToPrint { return shown.unicodeScalars.count }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}

/// Where the lines of the quoted sources begin, found once a source.
private final class LineStarts: Sendable {
  private let known = Mutex<[String: [Int]]>([:])

  /// The bytes of a line, counted from 1, without its end; nil behind the last line.
  func line(_ number: UInt32, of source: SourceText) -> ArraySlice<UInt8>? {
    let starts = known.withLock { known in
      if let starts = known[source.path] { return starts }
      var starts = [0]
      for (index, byte) in source.bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(index + 1) }
      known[source.path] = starts
      return starts
    }
    let index = Int(number) - 1
    guard index >= 0, index < starts.count, starts[index] < source.bytes.count else { return nil }
    let end = index + 1 < starts.count ? starts[index + 1] - 1 : source.bytes.count
    return source.bytes[starts[index]..<end]
  }
}

extension String {
  /// The text with control and direction-changing characters as escapes.
  fileprivate var printable: String {
    guard unicodeScalars.contains(where: \.isUnsafeToPrint) else { return self }
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isUnsafeToPrint {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
