import PropertyList

extension PropertyListValue {
  /// Lists and dictionaries inside one another.
  var depth: Int {
    switch self {
    case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
    case .dictionary(let members): 1 + (members.values.map(\.depth).max() ?? 0)
    default: 0
    }
  }
}
