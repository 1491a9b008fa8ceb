/// What the map shows. The raw values are what the preference `MapType` holds.
enum MapType: String, CaseIterable {
  case standard = "Standard"
  case satellite = "Satellite"
  case hybrid = "Hybrid"

  /// A few lines of map, so that a choice can be seen.
  var picture: String {
    switch self {
    case .standard:
      """
        ────┬──────────┬────
            │  School  │
        ────┼──────────┼────
            │          │ Lake
      """
    case .satellite:
      """
        ♣♣♣♣.♣♣♣♣▒▒▒▒♣♣.♣♣♣♣
        ♣♣♣♣.♣▒▒▒▒▒▒▒▒♣.♣♣♣♣
        .....▒▒▒▒▒▒▒▒▒▒.....
        ♣♣♣♣.♣♣♣♣▒▒♣♣♣♣.≈≈≈≈
      """
    case .hybrid:
      """
        ────┬♣♣♣♣▒▒▒▒♣♣┬────
        ♣♣♣♣│♣▒School▒♣│♣♣♣♣
        ────┼▒▒▒▒▒▒▒▒▒▒┼────
        ♣♣♣♣│♣♣♣♣▒▒♣♣♣♣│Lake
      """
    }
  }

  /// The type that a person means by a number (from 1), a name or the first letters of one, in any case.
  init?(typed text: String) {
    if let number = Int(text), Self.allCases.indices.contains(number - 1) {
      self = Self.allCases[number - 1]
      return
    }
    let wanted = text.lowercased()
    let matches = Self.allCases.filter { !wanted.isEmpty && $0.rawValue.lowercased().hasPrefix(wanted) }
    // "s" could be either of two: an ambiguous answer is no answer.
    guard matches.count == 1 else { return nil }
    self = matches[0]
  }
}
