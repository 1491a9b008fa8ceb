/// Which strings may be keys of a dictionary that is read from a file or written to one.
public enum KeyCheck {
  /// Unicode's limit for text that is safe to normalise piece by piece (UAX #15, "Stream-Safe Text Format").
  static let maximumMarks = 30

  /// Why this string must not become a key, nil when it may.
  ///
  /// Swift compares and hashes strings in their normalised form, for which it sorts runs of combining marks, in a time
  /// that grows with the square of their length: a single key of 256 KB takes ten seconds. So a longer run than any
  /// language writes is refused before the key reaches a dictionary.
  public static func objection(_ key: String) -> PropertyListError.Reason? {
    // No combining mark is below U+0300, whose first byte in UTF-8 is 0xCC.
    guard key.utf8.contains(where: { $0 >= 0xCC }) else { return nil }
    var run = 0
    for scalar in key.unicodeScalars {
      run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
      if run > maximumMarks { return .tooManyMarks(limit: maximumMarks) }
    }
    return nil
  }
}
