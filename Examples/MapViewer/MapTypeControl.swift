/// The segmented control of the map type, drawn as one line of text.
///
///     Map type   [ Standard ]  ( Satellite )  ( Hybrid )      locked by "Exam mode" until 11:30
struct MapTypeControl {
  var text: String
  var lock: String?
  /// Whether to grey out with terminal codes; the words are the same without.
  var styled: Bool

  var line: String {
    let segments = MapType.allCases.map { $0.rawValue == text ? "[ \($0.rawValue) ]" : "( \($0.rawValue) )" }
    var control = "Map type   " + segments.joined(separator: "  ")
    if MapType(rawValue: text) == nil {
      control += "      \"\(Self.printable(text))\" is not a type that this program knows"
    }
    guard let lock else { return control }
    if styled { control = "\u{1B}[2m\(control)\u{1B}[0m" }
    return "\(control)      \(Self.printable(lock))"
  }

  /// Text from outside without control characters: a value must not move the cursor.
  private static func printable(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : Character($0) })
  }
}
