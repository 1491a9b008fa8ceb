extension Validation {
  private func damaged(_ what: String, _ offset: Int) -> ForcedDomainError {
    ForcedDomainError(.damaged(what), at: offset)
  }

  func domainsAndKeys() throws(ForcedDomainError) {
    let layout = view.layout
    let keyNames = view.section(layout.keyNames)
    guard isWellFormedUTF8(keyNames) else { throw damaged("a key is no UTF-8", layout.keyNames.offset) }
    var lastKeyEnd = 0
    var lastNameEnd = 0
    var lastEntryEnd = 0
    for domain in 0..<layout.domains.count {
      let keyEnd = try self.domain(domain, firstKey: lastKeyEnd)
      var lastName: UnsafeRawBufferPointer?
      for key in lastKeyEnd..<keyEnd {
        let record = layout.keys.offset &+ key &* Layout.Stride.key
        let nameEnd = Int(view.word4(record))
        let forcedEnd = Int(view.word4(record &+ 4))
        let recommendedEnd = Int(view.word4(record &+ 8))
        guard nameEnd >= lastNameEnd, nameEnd <= keyNames.count else {
          throw damaged("ends of keys do not ascend", record)
        }
        guard forcedEnd >= lastEntryEnd, recommendedEnd >= forcedEnd, recommendedEnd > lastEntryEnd,
          recommendedEnd <= layout.entries.count
        else { throw damaged("ends of entries do not ascend", record + 4) }
        guard keyNames.isCharacterBoundary(nameEnd) else { throw damaged("a key is cut inside a character", record) }
        let name = view.slice(layout.keyNames.offset &+ lastNameEnd, nameEnd &- lastNameEnd)
        if let lastName, lastName.compared(with: name) >= 0 { throw damaged("keys are not in order", record) }
        lastName = name
        lastNameEnd = nameEnd
        lastEntryEnd = recommendedEnd
      }
      lastKeyEnd = keyEnd
    }
    guard lastKeyEnd == layout.keys.count, lastNameEnd == keyNames.count, lastEntryEnd == layout.entries.count else {
      throw damaged("keys or entries belong to no domain", layout.keys.offset)
    }
  }

  /// Checks a domain's record, those before it being sound.
  ///
  /// - Returns: where its keys end.
  func domain(_ index: Int, firstKey: Int) throws(ForcedDomainError) -> Int {
    let layout = view.layout
    let at = layout.domains.offset + index * Layout.Stride.domain
    guard view.word4(at) < UInt32(layout.textEnds.count) else {
      throw damaged("there is no text \(view.word4(at))", at)
    }
    guard index == 0 || view.domainName(index - 1).compared(with: view.domainName(index)) < 0 else {
      throw damaged("domains are not in order", at)
    }
    let keyEnd = Int(view.word4(at + 4))
    guard keyEnd > firstKey, keyEnd <= layout.keys.count else {
      throw damaged("ends of domains do not ascend", at + 4)
    }
    return keyEnd
  }

  /// Each key is found through the index, and the index holds nothing else.
  func index() throws(ForcedDomainError) {
    let layout = view.layout
    let start = layout.index.offset
    let slots = layout.index.count
    guard slots == Format.indexCount(forKeys: layout.keys.count) else {
      throw damaged("an index of \(slots) slots for \(layout.keys.count) keys", start)
    }
    var occupied = 0
    var highest: UInt32 = 0
    for slot in 0..<slots {
      let stored = view.word4(start &+ slot &* 4)
      if stored != 0 { occupied &+= 1 }
      highest = max(highest, stored)
    }
    guard highest <= UInt32(layout.keys.count) else {
      throw damaged("the index names a key that is not there", start)
    }
    // As many slots as keys, and each key has one: so none is named twice. Some are free, so every probe ends.
    guard occupied == layout.keys.count else {
      throw damaged("the index names \(occupied) of \(layout.keys.count) keys", start)
    }
    var budget = Format.probeBudget(forKeys: layout.keys.count)
    let mask = slots &- 1
    var nameStart = layout.keyNames.offset
    for domain in 0..<layout.domains.count {
      for key in view.keyRange(ofDomain: domain) {
        let nameEnd = layout.keyNames.offset &+ view.field(layout.keys, key, stride: Layout.Stride.key, 0)
        let name = view.slice(nameStart, nameEnd &- nameStart)
        nameStart = nameEnd
        var slot = Int(truncatingIfNeeded: ByteHash.hash(name, seed: UInt64(domain))) & mask
        while true {
          let stored = view.word4(start &+ slot &* 4)
          if stored == UInt32(truncatingIfNeeded: key &+ 1) { break }
          budget &-= 1
          guard stored != 0, budget >= 0 else {
            throw damaged("the index does not find key \(key)", start &+ slot &* 4)
          }
          slot = (slot &+ 1) & mask
        }
      }
    }
  }

  func entriesAndValues() throws(ForcedDomainError) {
    let layout = view.layout
    let strings = view.section(layout.strings)
    guard isWellFormedUTF8(strings) else { throw damaged("a string is no UTF-8", layout.strings.offset) }
    let starts = try valueStarts()
    var start = 0
    for key in 0..<layout.keys.count {
      let forcedEnd = view.field(layout.keys, key, stride: Layout.Stride.key, 1)
      let end = view.field(layout.keys, key, stride: Layout.Stride.key, 2)
      if end &- start == 1 && forcedEnd == end && isPlain(start, strings: strings) {
        start = end
        continue
      }
      start = end
      try entries(ofKey: key, .forced, strings: strings, starts: starts)
      try entries(ofKey: key, .recommended, strings: strings, starts: starts)
    }
  }

  /// Whether an entry, the only one of its key, is one of those that most files have almost nothing else of: it replaces,
  /// and its value is a scalar. What is not plain may be sound nevertheless: `entries(ofKey:_:strings:starts:)` decides.
  @inline(__always)
  private func isPlain(_ index: Int, strings: UnsafeRawBufferPointer) -> Bool {
    let at = view.layout.entries.offset &+ index &* Layout.Stride.entry
    let bits = view.word8(at &+ 8)
    let links = view.word8(at &+ 16)
    let small = view.word8(at &+ 24)
    let replaces = UInt64(PolicySection.forced.rawValue) | UInt64(EntryAction.replace.rawValue) << 8
    let precision = UInt8(truncatingIfNeeded: small >> 16)
    guard small & 0xFFFF_FFFF_0000_FFFF == replaces, precision < 32, precision & 3 < 3,
      Int(UInt32(truncatingIfNeeded: links)) < view.layout.conditions.count,
      Int(links >> 32) < view.layout.profiles.count
    else { return false }
    switch UInt8(truncatingIfNeeded: small >> 24) {
    case Format.Tag.integer, Format.Tag.real, Format.Tag.date: return true
    case Format.Tag.boolean: return bits <= 1
    case Format.Tag.string:
      let start = Int(UInt32(truncatingIfNeeded: bits))
      let end = start &+ Int(bits >> 32)
      return end <= strings.count && strings.isCharacterBoundary(start) && strings.isCharacterBoundary(end)
    default: return false
    }
  }

  @inline(__always)
  func entries(
    ofKey key: Int, _ section: PolicySection, strings: UnsafeRawBufferPointer, starts: ValueStarts
  ) throws(ForcedDomainError) {
    let layout = view.layout
    var last: EntryRecord?
    var firstTag = Format.Tag.none
    var isMixed = false
    var hasUnion = false
    for index in view.entryRange(ofKey: key, section) {
      let entry = view.entry(index)
      let at = layout.entries.offset + index * Layout.Stride.entry
      guard entry.section == section.rawValue else { throw damaged("an entry in the wrong section", at + 24) }
      guard let action = EntryAction(rawValue: entry.action) else { throw damaged("an unknown action", at + 25) }
      guard entry.precision < 32, entry.precision & 3 < 3, entry.key == 0 else {
        throw damaged("an unknown rank", at + 26)
      }
      guard entry.condition < UInt32(layout.conditions.count) else {
        throw damaged("there is no condition \(entry.condition)", at + 16)
      }
      guard entry.profile < UInt32(layout.profiles.count) else {
        throw damaged("there is no profile \(entry.profile)", at + 20)
      }
      if let last, !last.precedesOrEquals(entry) { throw damaged("entries are not in rank order", at) }
      last = entry
      try value(of: entry, strings: strings, starts: starts, at: at)
      if action == .release {
        guard entry.tag == Format.Tag.none, section == .forced else {
          throw damaged("a release with a value, or of a recommendation", at + 25)
        }
        continue
      }
      guard entry.tag != Format.Tag.none else { throw damaged("an entry without a value", at + 27) }
      if firstTag == Format.Tag.none { firstTag = entry.tag }
      if entry.tag != firstTag { isMixed = true }
      if action == .union {
        hasUnion = true
        guard entry.tag == Format.Tag.array || entry.tag == Format.Tag.dictionary else {
          throw damaged("a union of what has no elements", at + 27)
        }
      }
    }
    if hasUnion && isMixed {
      throw damaged(
        "a union of values of different types",
        layout.entries.offset + view.entryRange(ofKey: key, section).lowerBound * Layout.Stride.entry)
    }
  }

  private func value(
    of entry: EntryRecord, strings: UnsafeRawBufferPointer, starts: ValueStarts, at: Int
  ) throws(ForcedDomainError) {
    switch entry.tag {
    case Format.Tag.none:
      guard entry.bits == 0 else { throw damaged("an absent value has bits", at + 8) }
    case Format.Tag.boolean:
      guard entry.bits <= 1 else { throw damaged("a boolean that is neither", at + 8) }
    case Format.Tag.integer, Format.Tag.real, Format.Tag.date: break
    case Format.Tag.largeInteger:
      guard entry.bits > UInt64(Int64.max) else { throw damaged("a large integer that is small", at + 8) }
    case Format.Tag.string:
      // Two numbers of 32 bits: their sum can't overflow.
      let (start, end) = (entry.start, entry.start + entry.count)
      guard end <= strings.count else { throw damaged("a string runs over the end", at + 8) }
      guard strings.isCharacterBoundary(start), strings.isCharacterBoundary(end) else {
        throw damaged("a string is cut inside a character", at + 8)
      }
    case Format.Tag.data, Format.Tag.array, Format.Tag.dictionary:
      guard starts.contains(entry.start) else { throw damaged("a value starts where none does", at + 8) }
      let place = view.layout.values.offset + entry.start
      guard view.byte(place) == entry.tag, entry.count == Int(view.word4(place + 1)) + 5 else {
        throw damaged("a value is of another type or length than its entry says", at + 8)
      }
    default: throw damaged("a value of the unknown type \(entry.tag)", at + 27)
    }
  }

  /// Where values start in their section: one bit for each 8 bytes.
  struct ValueStarts {
    var bits: [UInt64] = []

    func contains(_ offset: Int) -> Bool {
      offset & 7 == 0 && offset >> 9 < bits.count && bits[offset >> 9] >> (UInt64(offset >> 3) & 63) & 1 != 0
    }
  }

  /// Checks each coded value once, however many entries share it.
  private func valueStarts() throws(ForcedDomainError) -> ValueStarts {
    let values = view.section(view.layout.values)
    var starts = ValueStarts()
    guard values.count > 0 else { return starts }
    starts.bits = [UInt64](repeating: 0, count: (values.count >> 9) + 1)
    var at = 0
    while at < values.count {
      starts.bits[at >> 9] |= 1 << (UInt64(at >> 3) & 63)
      guard let tag = values[checked: at], tag >= Format.Tag.data, tag <= Format.Tag.dictionary else {
        throw damaged("a stored value is neither data nor a container", view.layout.values.offset + at)
      }
      var check = CodedValueCheck(bytes: values, base: view.layout.values.offset, at: at)
      try check.value(end: values.count, depth: 0)
      let next = Format.aligned(check.at)
      guard next <= values.count, values[check.at..<next].allSatisfy({ $0 == 0 }) else {
        throw damaged("padding between values is not zero", view.layout.values.offset + check.at)
      }
      at = next
    }
    return starts
  }

  func provenance() throws(ForcedDomainError) {
    let layout = view.layout
    guard layout.provenance.count == (kind.hasProvenance ? layout.entries.count : 0) else {
      throw damaged("provenance of \(layout.provenance.count) entries", layout.provenance.offset)
    }
    for index in 0..<layout.provenance.count {
      let at = layout.provenance.offset + index * Layout.Stride.provenance
      for field in [0, 3, 4, 5] where view.word4(at + field * 4) >= UInt32(layout.textEnds.count) {
        throw damaged("there is no text \(view.word4(at + field * 4))", at + field * 4)
      }
    }
    let annex = view.section(layout.annex)
    guard annex.count > 0 else { return }
    var check = CodedValueCheck(bytes: annex, base: layout.annex.offset, at: 0)
    try check.value(end: annex.count, depth: 0)
    guard check.at == annex.count, annex[0] == Format.Tag.dictionary else {
      throw damaged("the annex is not one dictionary", layout.annex.offset)
    }
  }
}

extension UnsafeRawBufferPointer {
  subscript(checked offset: Int) -> UInt8? { offset < count ? self[offset] : nil }
}

/// Checks one coded value (`ValueCoding`) inside bounds that nothing in it is believed about.
struct CodedValueCheck {
  let bytes: UnsafeRawBufferPointer
  /// Where `bytes` start in the file, for error messages.
  let base: Int
  var at: Int

  private func damaged(_ what: String) -> ForcedDomainError { ForcedDomainError(.damaged(what), at: base + at) }

  /// Checks the value at `at` and steps over it.
  ///
  /// - Parameters:
  ///   - end: the first byte that it may not touch.
  ///   - depth: containers around it.
  mutating func value(end: Int, depth: Int) throws(ForcedDomainError) {
    guard at < end else { throw damaged("a value is missing") }
    switch bytes[at] {
    case Format.Tag.integer, Format.Tag.real, Format.Tag.date: try skip(9, end: end)
    case Format.Tag.largeInteger:
      try skip(9, end: end)
      guard bytes[at - 1] & 0x80 != 0 else { throw damaged("a large integer that is small") }
    case Format.Tag.boolean:
      try skip(2, end: end)
      guard bytes[at - 1] <= 1 else { throw damaged("a boolean that is neither") }
    case Format.Tag.string:
      at += 1
      guard isWellFormedUTF8(try content(end: end)) else { throw damaged("a string is no UTF-8") }
    case Format.Tag.data:
      at += 1
      _ = try content(end: end)
    case Format.Tag.array:
      let (count, bodyEnd) = try header(end: end, depth: depth)
      for _ in 0..<count { try value(end: bodyEnd, depth: depth + 1) }
      guard at == bodyEnd else { throw damaged("an array is longer than its elements") }
    case Format.Tag.dictionary:
      let (count, bodyEnd) = try header(end: end, depth: depth)
      var last: UnsafeRawBufferPointer?
      for _ in 0..<count {
        let key = try content(end: bodyEnd)
        guard isWellFormedUTF8(key) else { throw damaged("a key of a dictionary is no UTF-8") }
        if let last, last.compared(with: key) >= 0 { throw damaged("keys of a dictionary are not in order") }
        last = key
        try value(end: bodyEnd, depth: depth + 1)
      }
      guard at == bodyEnd else { throw damaged("a dictionary is longer than its members") }
    default: throw damaged("a value of the unknown type \(bytes[at])")
    }
  }

  private mutating func skip(_ count: Int, end: Int) throws(ForcedDomainError) {
    guard end - at >= count else { throw damaged("a value runs over the end") }
    at += count
  }

  private func word4(_ offset: Int) -> Int {
    Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  private mutating func content(end: Int) throws(ForcedDomainError) -> UnsafeRawBufferPointer {
    guard end - at >= 4, end - at - 4 >= word4(at) else { throw damaged("a value runs over the end") }
    let start = at + 4
    at = start + word4(at)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<at])
  }

  private mutating func header(end: Int, depth: Int) throws(ForcedDomainError) -> (count: Int, end: Int) {
    guard depth < Format.maximumDepth else {
      throw damaged("a value is nested more than \(Format.maximumDepth) deep")
    }
    guard end - at >= 9 else { throw damaged("a value runs over the end") }
    let length = word4(at + 1)
    guard length >= 4, end - at - 5 >= length else { throw damaged("a value runs over the end") }
    let bodyEnd = at + 5 + length
    let count = word4(at + 5)
    at += 9
    // The smallest element takes two bytes, so a count beyond that is a lie that must not cost memory.
    guard count <= (bodyEnd - at) / 2 else { throw damaged("a container counts more elements than it has room for") }
    return (count, bodyEnd)
  }
}
