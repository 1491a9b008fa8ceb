import PropertyList

extension DomainView {
  /// The value that a walk's contributors make together, nil when there are none.
  @inline(__always)
  func value(of contributors: Contributors) -> ResolvedValue? {
    guard let first = contributors.first, let stored = storedValue(first) else { return nil }
    if first.action == EntryAction.replace.rawValue { return ResolvedValue(stored) }
    return .gathered(gathered([first] + contributors.rest))
  }

  /// Unites arrays or dictionaries; validation has seen to it that they are all of one type.
  private func gathered(_ entries: [EntryRecord]) -> PropertyListValue {
    var seen: Set<CodedBytes> = []
    if entries[0].tag == Format.Tag.array {
      var elements: [PropertyListValue] = []
      for entry in entries {
        guard let coded = storedValue(entry)?.bytes else { continue }
        var decoder = ValueDecoder(coded)
        for _ in 0..<decoder.containerHeader() {
          let element = decoder.nextCoded()
          guard seen.insert(CodedBytes(bytes: element)).inserted else { continue }
          var elementDecoder = ValueDecoder(element)
          elements.append(elementDecoder.next())
        }
      }
      return .array(elements)
    }
    var members: [String: PropertyListValue] = [:]
    for entry in entries {
      guard let coded = storedValue(entry)?.bytes else { continue }
      var decoder = ValueDecoder(coded)
      for _ in 0..<decoder.containerHeader() {
        let key = decoder.content()
        let value = decoder.nextCoded()
        guard seen.insert(CodedBytes(bytes: key)).inserted else { continue }
        var valueDecoder = ValueDecoder(value)
        members[String(decoding: key, as: UTF8.self)] = valueDecoder.next()
      }
    }
    return .dictionary(members)
  }
}

/// Bytes as a member of a set: equal when all bytes are.
private struct CodedBytes: Hashable {
  let bytes: UnsafeRawBufferPointer

  static func == (a: Self, b: Self) -> Bool { a.bytes.compared(with: b.bytes) == 0 }
  func hash(into hasher: inout Hasher) { hasher.combine(bytes: bytes) }
}
