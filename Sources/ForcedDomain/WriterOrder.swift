/// The canonical order of what a writer gathered: domains and keys by their bytes, entries by rank.
struct WriterOrder {
  /// The writer's numbers of the domains that have keys, in byte order.
  var domains: [Int] = []
  /// For each of `domains`, where its keys end in `keys`.
  var keyEnds: [Int] = []
  /// The writer's numbers of the keys that have entries, domain by domain, in byte order.
  var keys: [Int] = []
  /// Indices of the writer's entries, key by key, forced ones first, in rank order.
  var entries: [Int] = []
  /// For each of `keys`, where its forced and its recommended entries end in `entries`.
  var forcedEnds: [Int] = []
  var recommendedEnds: [Int] = []

  /// - Complexity: O(entries + keys log keys of a domain).
  init(_ writer: borrowing ForcedDomainWriter) {
    let keyCount = writer.keys.count
    // Where each key's entries start, by the writer's numbers (one more than needed, so that n…n+1 is n's range).
    var starts = [Int](repeating: 0, count: keyCount + 1)
    for entry in writer.entries { starts[Int(entry.key) + 1] += 1 }
    for key in 0..<keyCount { starts[key + 1] += starts[key] }
    var grouped = [Int](repeating: 0, count: writer.entries.count)
    var next = starts
    for index in writer.entries.indices {
      let key = Int(writer.entries[index].key)
      grouped[next[key]] = index
      next[key] += 1
    }

    var keysOfDomain = [[Int]](repeating: [], count: writer.domains.count)
    for key in 0..<keyCount where starts[key + 1] > starts[key] {
      keysOfDomain[Int(writer.keys.owners[key])].append(key)
    }
    domains = writer.domains.indices.filter { !keysOfDomain[$0].isEmpty }
    Self.sort(&domains, in: writer.texts) { Int(writer.domains[$0]) }
    keys.reserveCapacity(keyCount)
    entries.reserveCapacity(writer.entries.count)
    for domain in domains {
      Self.sort(&keysOfDomain[domain], in: writer.keys) { $0 }
      for key in keysOfDomain[domain] {
        keys.append(key)
        let range = starts[key]..<starts[key + 1]
        if range.count > 1 { Self.sortByRank(&grouped, range, writer) }
        let forced = grouped[range].prefix { writer.entries[$0].record.section == PolicySection.forced.rawValue }
        forcedEnds.append(entries.count + forced.count)
        entries.append(contentsOf: grouped[range])
        recommendedEnds.append(entries.count)
      }
      keyEnds.append(keys.count)
    }
  }

  // Few entries a key as a rule: insertion keeps the order of arrival where nothing else tells them apart.
  private static func sortByRank(_ indices: inout [Int], _ range: Range<Int>, _ writer: borrowing ForcedDomainWriter) {
    if range.count > 16 {
      let sorted = indices[range].sorted {
        let order = compare($0, $1, writer)
        return order != 0 ? order < 0 : $0 < $1
      }
      indices.replaceSubrange(range, with: sorted)
      return
    }
    for end in range.dropFirst() {
      var at = end
      while at > range.lowerBound, compare(indices[at - 1], indices[at], writer) > 0 {
        indices.swapAt(at - 1, at)
        at -= 1
      }
    }
  }

  private static func compare(_ a: Int, _ b: Int, _ writer: borrowing ForcedDomainWriter) -> Int {
    let (x, y) = (writer.entries[a].record, writer.entries[b].record)
    if x.section != y.section { return Int(x.section) - Int(y.section) }
    if x.priority != y.priority { return x.priority > y.priority ? -1 : 1 }
    if x.precision != y.precision { return Int(y.precision) - Int(x.precision) }
    return writer.compare(ValueReference(tag: x.tag, bits: x.bits), ValueReference(tag: y.tag, bits: y.bits))
  }

  /// Sorts numbers of a table by its bytes: by eight bytes behind what all have in common, then by the rest.
  private static func sort(_ numbers: inout [Int], in table: borrowing ByteTable, text: (Int) -> Int) {
    guard numbers.count > 1 else { return }
    table.bytes.withUnsafeBytes { bytes in
      func content(_ number: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[table.range(text(number))])
      }
      var common = content(numbers[0])
      var isSorted = true
      var last = common
      for number in numbers.dropFirst() {
        let current = content(number)
        if last.compared(with: current) > 0 { isSorted = false }
        last = current
        var shared = 0
        while shared < common.count, shared < current.count, common[shared] == current[shared] { shared += 1 }
        common = UnsafeRawBufferPointer(rebasing: common[..<shared])
      }
      if isSorted { return }
      let skip = common.count
      var keyed = numbers.map { number -> (prefix: UInt64, number: Int) in
        let rest = content(number).dropFirst(skip)
        var prefix: UInt64 = 0
        for byte in rest.prefix(8) { prefix = prefix << 8 | UInt64(byte) }
        return (prefix << (8 * UInt64(8 - min(8, rest.count))), number)
      }
      keyed.sort { a, b in
        a.prefix != b.prefix ? a.prefix < b.prefix : content(a.number).compared(with: content(b.number)) < 0
      }
      for index in keyed.indices { numbers[index] = keyed[index].number }
    }
  }
}
