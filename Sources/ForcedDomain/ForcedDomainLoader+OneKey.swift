import LinuxFiles
public import PropertyList

/// One question, answered without a check of everything.
///
/// A process that asks for one key would spend most of its time on reading and checking the other ten thousand. Where the
/// marker vouches for the file (its generation, and the checksum that the installer wrote down after it had checked the whole
/// file), what is left to be checked is that the bytes are those, and whatever the question touches: nothing is believed
/// that was not held against its section. Only a scalar that the domain itself forces is ever told; for everything else, a
/// key that is not there above all, `load` has to be asked, which checks the whole file.
extension ForcedDomainLoader {
  /// The scalar that a domain itself forces for a key.
  ///
  /// - Returns: nil where `load` has to be asked.
  public func forcedScalar(domain: String, key: String, in context: EvaluationContext) -> PropertyListValue? {
    guard case .some(.some(let marker)) = try? marker(),
      let file = try? TrustedFile.opened(
        "forced", in: installation.stateDirectory, of: installation, limit: ForcedDomain.maximumByteCount)
    else { return nil }
    let metadata = file.metadata
    guard let parts = CheckedParts(file.descriptor, count: Int(metadata.size)),
      parts.checksum == marker.forcedChecksum, var question = OneKey(parts)
    else { return nil }
    guard question.generation == marker.generation, let key = question.key(key, inDomain: domain) else { return nil }
    let truth = question.truth(in: context, isOwnedOutside: installation.isOutsideRoot(metadata.userID))
    return question.forcedScalar(ofKey: key, under: truth)
  }
}

/// A file of which no more is there than one question touches.
private struct OneKey: ~Copyable {
  private var parts: CheckedParts
  private let view: DomainView
  private let validation: Validation
  private var layout: Layout { view.layout }

  /// Has the header there, the domains, and the tables before the keys, and checks them.
  init?(_ parts: consuming CheckedParts) {
    guard parts.require(0, Format.headerSize),
      let (layout, kind) = try? Validation.header(parts.bytes, expecting: .forced, checksum: parts.checksum),
      parts.require(0, layout.keyNames.offset),
      parts.require(layout.domains.offset, layout.domains.count * Layout.Stride.domain),
      let validation = try? Validation.checkTables(parts.bytes, layout, kind)
    else { return nil }
    self.parts = parts
    self.validation = validation
    view = validation.view
  }

  var generation: UInt64 { view.word8(Format.Header.generation) }

  func truth(in context: EvaluationContext, isOwnedOutside: Bool) -> ConditionTruth {
    var evaluation = ConditionEvaluation(
      view, kind: .forced, horizon: validation.horizon, isOwnedOutside: isOwnedOutside, context)
    return ConditionTruth(context: context, decisions: evaluation.decideAll(), nextEdge: evaluation.nextEdge)
  }

  /// The number of a key; nil for one that is not there, and for damage.
  mutating func key(_ key: String, inDomain domain: String) -> Int? {
    var (key, domain) = (key, domain)
    guard let (number, keys) = domain.withUTF8({ name in self.domain(named: UnsafeRawBufferPointer(name)) }) else {
      return nil
    }
    return key.withUTF8 { key in index(of: UnsafeRawBufferPointer(key), in: keys, ofDomain: number) }
  }

  private func domain(named name: UnsafeRawBufferPointer) -> (Int, Range<Int>)? {
    var found: (Int, Range<Int>)?
    var firstKey = 0
    for index in 0..<layout.domains.count {
      guard let end = try? validation.domain(index, firstKey: firstKey) else { return nil }
      if view.domainName(index).compared(with: name) == 0 { found = (index, firstKey..<end) }
      firstKey = end
    }
    return found
  }

  /// Asks the index as `DomainView.keyIndex` does.
  private mutating func index(of key: UnsafeRawBufferPointer, in keys: Range<Int>, ofDomain domain: Int) -> Int? {
    let slots = layout.index.count
    guard slots == Format.indexCount(forKeys: layout.keys.count) else { return nil }
    var slot = Int(truncatingIfNeeded: ByteHash.hash(key, seed: UInt64(domain))) & (slots - 1)
    for _ in 0..<slots {
      let place = layout.index.offset + slot * 4
      guard parts.require(place, 4) else { return nil }
      let found = Int(view.word4(place)) - 1
      guard found >= 0, found < layout.keys.count else { return nil }
      if keys.contains(found) {
        guard requireKey(found) else { return nil }
        let start = view.end(layout.keys, found - 1, stride: Layout.Stride.key, 0)
        let end = view.field(layout.keys, found, stride: Layout.Stride.key, 0)
        guard start <= end, end <= layout.keyNames.count, parts.require(layout.keyNames.offset + start, end - start)
        else { return nil }
        if view.keyName(found).compared(with: key) == 0 { return found }
      }
      slot = (slot + 1) & (slots - 1)
    }
    return nil
  }

  /// Has the record of a key there, and the one before it, which tells where its parts start.
  private mutating func requireKey(_ key: Int) -> Bool {
    let first = max(0, key - 1)
    return parts.require(
      layout.keys.offset + first * Layout.Stride.key, (key - first + 1) * Layout.Stride.key)
  }

  mutating func forcedScalar(ofKey key: Int, under truth: borrowing ConditionTruth) -> PropertyListValue? {
    let start = view.end(layout.keys, key - 1, stride: Layout.Stride.key, 2)
    let end = view.field(layout.keys, key, stride: Layout.Stride.key, 1)
    guard start <= end, end <= layout.entries.count,
      parts.require(layout.entries.offset + start * Layout.Stride.entry, (end - start) * Layout.Stride.entry)
    else { return nil }
    for index in start..<end {
      let entry = view.entry(index)
      guard entry.tag == Format.Tag.string else { continue }
      // With the byte behind it, which tells that no character is cut.
      let length = min(entry.count + 1, layout.strings.count - entry.start)
      guard length >= 0, entry.count <= length, parts.require(layout.strings.offset + entry.start, length) else {
        return nil
      }
    }
    // Where containers start is not known: each is taken for damage, and `load` is asked.
    let strings = view.section(layout.strings)
    guard (try? validation.entries(ofKey: key, .forced, strings: strings, starts: Validation.ValueStarts())) != nil
    else { return nil }
    var contributors = Contributors()
    view.walk(start..<end, under: truth, recording: &contributors)
    guard let value = view.value(of: contributors) else { return nil }
    if case .string(let utf8) = value, !isWellFormedUTF8(utf8) { return nil }
    return value.value
  }
}
