/// Finds keys of one mapping that are equal, or equal but for the case of ASCII letters.
///
/// Small mappings compare pairwise; large ones go through an open-addressing table over the hash of the folded bytes.
struct KeyCollisions {
  struct Collision {
    var earlier: Int
    var later: Int
    var isExact: Bool
  }

  private struct Slot {
    var hash: UInt32
    var node: UInt32
  }

  private var table: [Slot] = []
  // Different in each process, so that no file can be written to make the table slow. Findings don't depend on it.
  private let seed = UInt64.random(in: .min ... .max)

  /// Reports each key together with the first one that it equals.
  ///
  /// - Complexity: O(bytes of the keys) expected.
  mutating func find(
    in nodes: UnsafeBufferPointer<NodeTree.Node>, of mapping: Int, source: UnsafeRawBufferPointer,
    arena: UnsafeRawBufferPointer, into found: inout [Collision]
  ) {
    @inline(__always) func text(_ node: Int) -> UnsafeRawBufferPointer {
      let key = nodes[node]
      if key.kind != .string { return UnsafeRawBufferPointer(start: nil, count: 0) }
      return UnsafeRawBufferPointer(
        rebasing: (key.flags.contains(.inSource) ? source : arena)[Int(key.offset)..<Int(key.offset + key.length)])
    }
    @inline(__always) func next(_ node: Int) -> Int { Int(nodes[Int(nodes[node].next)].next) }
    let pairs = Int(nodes[mapping].length) / 2
    if pairs <= 8 {
      var later = Int(nodes[mapping].offset)
      while later != 0 {
        var earlier = Int(nodes[mapping].offset)
        while earlier != later {
          if nodes[earlier].length == nodes[later].length, Self.equalButForCase(text(earlier), text(later)) {
            report(earlier, later, nodes, text, &found)
            break
          }
          earlier = next(earlier)
        }
        later = next(later)
      }
      return
    }
    var capacity = 32
    while capacity < pairs * 2 { capacity *= 2 }
    table.removeAll(keepingCapacity: true)
    table.append(contentsOf: repeatElement(Slot(hash: 0, node: 0), count: capacity))
    let mask = capacity - 1
    var key = Int(nodes[mapping].offset)
    while key != 0 {
      let bytes = text(key)
      let full = ByteHash.foldingCase(bytes, seed: seed)
      let hash = UInt32(truncatingIfNeeded: full >> 32)
      var index = Int(truncatingIfNeeded: full) & mask
      while true {
        let slot = table[index]
        if slot.node == 0 {
          table[index] = Slot(hash: hash, node: UInt32(key))
          break
        }
        if slot.hash == hash, Self.equalButForCase(text(Int(slot.node)), bytes) {
          report(Int(slot.node), key, nodes, text, &found)
          break
        }
        index = (index + 1) & mask
      }
      key = next(key)
    }
  }

  private func report(
    _ earlier: Int, _ later: Int, _ nodes: UnsafeBufferPointer<NodeTree.Node>,
    _ text: (Int) -> UnsafeRawBufferPointer, _ found: inout [Collision]
  ) {
    // Faulty keys (a null, a list, a merge key) have been reported as such.
    if nodes[earlier].flags.contains(.faulty) || nodes[later].flags.contains(.faulty) { return }
    let isExact = text(earlier).elementsEqual(text(later))
    // Of `A a a` the last two are exact duplicates although the table holds the first only. (Not looked for among
    // hundreds of spellings of one key.)
    var exact: Int?
    if !isExact {
      exact =
        found.prefix(64).first { !$0.isExact && $0.earlier == earlier && text($0.later).elementsEqual(text(later)) }?
        .later
    }
    found.append(Collision(earlier: exact ?? earlier, later: later, isExact: isExact || exact != nil))
  }

  private static func equalButForCase(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count else { return false }
    for index in 0..<a.count where a[index] != b[index] {
      let folded = a[index] | 0x20
      guard folded == b[index] | 0x20, folded >= 0x61, folded <= 0x7A else { return false }
    }
    return true
  }
}
