/// The canonical order of what a writer gathered: domains and keys by their bytes, entries by rank.
///
/// Numbers of 32 bits, as the file has them: a large compilation holds six of these lists beside everything else.
struct WriterOrder {
  /// The writer's numbers of the domains that have keys, in byte order.
  var domains: [Int] = []
  /// For each of `domains`, where its keys end in `keys`.
  var keyEnds: [Int] = []
  /// The writer's numbers of the keys that have entries, domain by domain, in byte order.
  var keys: [UInt32] = []
  /// Indices of the writer's entries, key by key, forced ones first, in rank order.
  var entries: [UInt32] = []
  /// For each of `keys`, where its forced and its recommended entries end in `entries`.
  var forcedEnds: [UInt32] = []
  var recommendedEnds: [UInt32] = []

  /// - Complexity: O(entries + keys log keys of a domain).
  init(_ writer: borrowing ForcedDomainWriter) {
    let keyCount = writer.keys.count
    // Where each key's entries start, by the writer's numbers (one more than needed, so that n…n+1 is n's range).
    var starts = [UInt32](repeating: 0, count: keyCount + 1)
    for entry in writer.entries { starts[Int(entry.key) + 1] += 1 }
    for key in 0..<keyCount { starts[key + 1] += starts[key] }
    var grouped = [UInt32](repeating: 0, count: writer.entries.count)
    var next = starts
    for index in writer.entries.indices {
      let key = Int(writer.entries[index].key)
      grouped[Int(next[key])] = UInt32(index)
      next[key] += 1
    }

    var keysOfDomain = [[UInt32]](repeating: [], count: writer.domains.count)
    for key in 0..<keyCount where starts[key + 1] > starts[key] {
      keysOfDomain[Int(writer.keys.owner(key))].append(UInt32(key))
    }
    domains = writer.domains.indices.filter { !keysOfDomain[$0].isEmpty }
    Self.sort(&domains, in: writer.texts) { Int(writer.domains[$0]) }
    keys.reserveCapacity(keyCount)
    forcedEnds.reserveCapacity(keyCount)
    recommendedEnds.reserveCapacity(keyCount)
    entries.reserveCapacity(writer.entries.count)
    for domain in domains {
      Self.sort(&keysOfDomain[domain], in: writer.keys) { Int($0) }
      for key in keysOfDomain[domain] {
        keys.append(key)
        let range = Int(starts[Int(key)])..<Int(starts[Int(key) + 1])
        if range.count > 1 { Self.sortByRank(&grouped, range, writer) }
        var forcedCount = 0
        for place in range {
          let entry = grouped[place]
          if writer.entries[Int(entry)].section == PolicySection.forced.rawValue { forcedCount += 1 }
          entries.append(entry)
        }
        forcedEnds.append(UInt32(entries.count - range.count + forcedCount))
        recommendedEnds.append(UInt32(entries.count))
      }
      keyEnds.append(keys.count)
    }
  }

  // Few entries a key as a rule: insertion keeps the order of arrival where nothing else tells them apart.
  private static func sortByRank(_ indices: inout [UInt32], _ range: Range<Int>, _ writer: borrowing ForcedDomainWriter)
  {
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

  private static func compare(_ a: UInt32, _ b: UInt32, _ writer: borrowing ForcedDomainWriter) -> Int {
    let (x, y) = (writer.entries[Int(a)], writer.entries[Int(b)])
    if x.section != y.section { return Int(x.section) - Int(y.section) }
    if x.priority != y.priority { return x.priority > y.priority ? -1 : 1 }
    if x.precision != y.precision { return Int(y.precision) - Int(x.precision) }
    return writer.compare(ValueReference(tag: x.tag, bits: x.bits), ValueReference(tag: y.tag, bits: y.bits))
  }

  /// Sorts numbers of a table by its bytes: by eight bytes behind what all have in common, then by the rest.
  private static func sort<Number: BinaryInteger>(
    _ numbers: inout [Number], in table: borrowing ByteTable, text: (Number) -> Int
  ) {
    guard numbers.count > 1 else { return }
    table.bytes.withUnsafeBytes { bytes in
      func content(_ number: Number) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[table.range(text(number))])
      }
      // A tree that was written in order, as most are, needs no second look and no memory.
      var last = content(numbers[0])
      var common = last.count
      var isSorted = true
      for number in numbers.dropFirst() {
        let current = content(number)
        if isSorted && last.compared(with: current) > 0 { isSorted = false }
        common = min(common, current.count)
        var shared = 0
        while shared < common, current[shared] == last[shared] { shared += 1 }
        common = shared
        last = current
      }
      if isSorted { return }
      var keyed = numbers.map { number in
        let content = content(number)
        var prefix: UInt64 = 0
        for byte in common..<(common + 8) { prefix = prefix << 8 | UInt64(byte < content.count ? content[byte] : 0) }
        return SortKey(prefix: prefix, number: Int(number), bytes: content)
      }
      keyed.sort { a, b in a.prefix != b.prefix ? a.prefix < b.prefix : a.bytes.compared(with: b.bytes) < 0 }
      for index in keyed.indices { numbers[index] = Number(keyed[index].number) }
    }
  }

  private struct SortKey {
    var prefix: UInt64
    var number: Int
    var bytes: UnsafeRawBufferPointer
  }
}
