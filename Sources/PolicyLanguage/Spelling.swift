/// "Did you mean": the known name that a misspelt one is nearest to.
enum Spelling {
  /// The nearest choice that is close enough to be meant: at most a third of its letters differ, and at most two, or the case.
  /// The first of equally near ones, so that the order of the documentation decides.
  static func nearest(to name: String, in choices: some Sequence<String>) -> String? {
    let written = Array(name.utf8.prefix(64))
    var best: (choice: String, distance: Int)?
    for choice in choices {
      let known = Array(choice.utf8)
      if folded(known) == folded(written) { return choice }
      let allowed = min(2, known.count / 3)
      guard abs(known.count - written.count) <= allowed else { continue }
      let distance = distance(folded(written), folded(known))
      if distance <= allowed && distance < best?.distance ?? .max { best = (choice, distance) }
    }
    return best?.choice
  }

  /// Whether a name may be meant to be one of these.
  static func isNear(_ name: String, any choices: some Sequence<String>) -> Bool {
    nearest(to: name, in: choices) != nil
  }

  private static func folded(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
  }

  /// Insertions, deletions, replacements and swaps of neighbours that make one text of the other.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
        row.append(cost)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
