import ForcedDomain

/// The pairs of entries of one rank that are worth comparing.
///
/// Few entries: every pair. Many (a page for each room of a large house, a name for each machine): those pairs whose host
/// items begin alike, since two patterns share a host only where the fixed beginning of one begins the other; that keeps
/// the work near the length of the text. Where no hosts are named, the same goes for the names of users.
enum EntryPairs {
  private static let few = 16

  /// Calls `body` with the places of each pair, once or more often.
  static func forEach(
    _ conditions: [UInt32], _ overlap: inout Overlap, _ table: [Condition],
    _ body: (Int, Int, inout Overlap) -> Void
  ) {
    if conditions.count <= few {
      for i in conditions.indices { for j in (i + 1)..<max(conditions.count, i + 1) { body(i, j, &overlap) } }
      return
    }
    var beginnings: [(text: [UInt8], entry: Int)] = []
    for (entry, condition) in conditions.enumerated() {
      for text in overlap.hostBeginnings(of: condition, in: table) { beginnings.append((text, entry)) }
    }
    if beginnings.allSatisfy(\.text.isEmpty) {
      beginnings = []
      for (entry, condition) in conditions.enumerated() {
        for text in overlap.userBeginnings(of: condition, in: table) { beginnings.append((text, entry)) }
      }
    }
    beginnings.sort { ($0.text.lexicographicallyPrecedes($1.text)) || ($0.text == $1.text && $0.entry < $1.entry) }
    // All beginnings of the current text, shortest first: the texts between a beginning and its continuations all
    // continue it too, since they are sorted.
    var stack: [(text: [UInt8], entry: Int)] = []
    for next in beginnings {
      while let top = stack.last, !next.text.starts(with: top.text) { stack.removeLast() }
      for other in stack where other.entry != next.entry { body(other.entry, next.entry, &overlap) }
      stack.append(next)
    }
  }
}
