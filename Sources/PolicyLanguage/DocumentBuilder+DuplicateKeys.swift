/// Keys of one mapping that are the same, or that nobody could tell apart.
extension DocumentBuilder {
  mutating func reportCollisions(in frame: Frame) {
    var found: [KeyCollisions.Collision] = []
    text.bytes.withUnsafeBytes { source in
      arena.withUnsafeBytes { arena in
        nodes.withUnsafeBufferPointer { nodes in
          collisions.find(in: nodes, of: frame.node, source: source, arena: arena, into: &found)
        }
      }
    }
    guard !found.isEmpty else { return }
    let path = keyPath()
    for collision in found {
      let first = nodes[collision.earlier]
      let second = nodes[collision.later]
      let name = shownText(second)
      if collision.isExact {
        let related = [sink.related(first.position, "it is here first")]
        // The first one stands for the key from here on, so that the report has this one mistake.
        nodes[collision.later].flags.insert(.faulty)
        sink.report(.duplicateKey, at: second.position, "\(name) occurs twice\(path)", related: related)
      } else {
        let other = shownText(first)
        let related = [sink.related(first.position, "the other key is here")]
        sink.report(
          .caseOnlyDifference, at: second.position,
          "\(name) and \(other) differ in upper and lower case only\(path), and are two keys", related: related)
      }
    }
  }

  /// Keys that are one text to Unicode, though not byte by byte, and keys that can't be compared as text.
  ///
  /// Dictionaries of Swift compare as Unicode does, and so do people: without this, one of the two would be lost.
  mutating func reportSpellings(in frame: Frame) {
    var spellings = CanonicalSpelling.Table<Int>()
    for (key, text) in keys(of: frame, withHighBytes: true) {
      if CanonicalSpelling.hasTooManyMarks(text) {
        nodes[key].flags.insert(.faulty)
        sink.report(.combiningMarks, at: nodes[key].position, CanonicalSpelling.objection("a key"))
      } else {
        report(spellings.insert(text, key), key, text)
      }
    }
    guard spellings.mayEqualASCII else { return }
    for (key, text) in keys(of: frame, withHighBytes: false) { report(spellings.differing(from: text), key, text) }
  }

  /// The keys of a mapping that are sound texts, those with characters beyond ASCII or those without.
  private func keys(of frame: Frame, withHighBytes: Bool) -> [(key: Int, text: String)] {
    var found: [(key: Int, text: String)] = []
    var key = Int(nodes[frame.node].offset)
    while key != 0 {
      let node = nodes[key]
      if node.kind == .string && !node.flags.contains(.faulty)
        && withBytes(of: node, CanonicalSpelling.holdsHighBytes) == withHighBytes
      {
        found.append((key, withBytes(of: node) { String(decoding: $0, as: UTF8.self) }))
      }
      key = Int(nodes[Int(node.next)].next)
    }
    return found
  }

  private mutating func report(_ other: CanonicalSpelling.Table<Int>.Entry?, _ key: Int, _ text: String) {
    guard let other else { return }
    let related = [sink.related(nodes[other.place].position, "the other key is here")]
    let path = keyPath()
    nodes[key].flags.insert(.faulty)
    sink.report(
      .duplicateKey, at: nodes[key].position,
      "\(text.spelledOut) and \(other.text.spelledOut) are one text, written with other code points\(path)",
      related: related)
  }

  /// The text of a scalar; of a list or a mapping, which can't be a key, none.
  private func withBytes<R>(of node: Node, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    if node.kind == .mapping || node.kind == .sequence { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    return withScalar(of: node, body)
  }

  private func withScalar<R>(of node: Node, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    (node.flags.contains(.inSource) ? text.bytes : arena).withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[Int(node.offset)..<Int(node.offset + node.length)]))
    }
  }

  func shownText(_ node: Node) -> String {
    withBytes(of: node) { String(decoding: $0, as: UTF8.self) }.shown
  }

  /// Where in the document the collection that was just closed stands: " in forced / org.example.Browser".
  private func keyPath() -> String {
    let names = frames.filter { $0.isMapping && $0.key != 0 }.map { shownText(nodes[$0.key]) }
    return names.isEmpty ? "" : " in " + names.joined(separator: " / ")
  }
}
