/// "Did you mean": the known words nearest to one that was typed.
public enum Suggestion {
  /// The nearest words, up to three in alphabetical order, within a third of the typed word's length in edits (insert,
  /// delete, replace, swap of neighbours; at least one; letter case counts for nothing).
  ///
  /// A word that the typed one begins or continues counts as near as well: `gen` finds `generations`. The typed word itself
  /// is never suggested.
  ///
  /// - Complexity: O(words × length²).
  public static func nearest(to typed: String, among known: some Sequence<String>) -> [String] {
    let target = Array(typed.lowercased().unicodeScalars)
    guard !target.isEmpty, target.count <= 128 else { return [] }
    let limit = max(1, target.count / 3)
    var found: [(distance: Int, word: String)] = []
    for word in known where word != typed {
      let candidate = Array(word.lowercased().unicodeScalars)
      guard candidate.count <= 128 else { continue }
      var distance = editDistance(target, candidate)
      if distance > limit, target.count >= 3, candidate.starts(with: target) || target.starts(with: candidate) {
        distance = limit
      }
      if distance <= limit { found.append((distance, word)) }
    }
    found.sort { ($0.distance, $0.word) < ($1.distance, $1.word) }
    var words: [String] = []
    for (distance, word) in found where distance == found[0].distance {
      if !words.contains(word), words.count < 3 { words.append(word) }
    }
    return words
  }

  /// The number of edits (optimal string alignment) from one word to the other.
  static func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    for i in 1...a.count {
      var row = [i] + [Int](repeating: 0, count: b.count)
      for j in 1...b.count {
        row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { row[j] = min(row[j], beforeLast[j - 2] + 1) }
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}
