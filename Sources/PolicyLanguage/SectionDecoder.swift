/// The sections of profiles and overrides: what is forced, recommended and released.
extension DocumentDecoder {
  /// Domain → key → value.
  mutating func settings(_ entry: Entry?) -> [DomainSettings] {
    var result: [DomainSettings] = []
    for (key, value) in members(entry, whenEmpty: .emptySection) {
      let domain = located(key)
      guard checkDomain(domain) else { continue }
      guard tree.kind(value) == .mapping else {
        reportType(value, domain.value, expected: "dictionary of keys", key: key)
        continue
      }
      if tree.isFaulty(value) { continue }
      if tree.count(of: value) == 0 {
        sink.report(.emptySection, at: tree.position(value), "\(domain.value.shown) is empty")
      }
      result.append(DomainSettings(domain: domain, settings: keySettings(of: value)))
    }
    return result
  }

  /// The keys of one domain. This is what 100,000 keys run through: scalars cost one look at their node each.
  private mutating func keySettings(of mapping: NodeID) -> [KeySetting] {
    let tree = tree
    var settings: [KeySetting] = []
    settings.reserveCapacity(tree.count(of: mapping))
    var unusual: [KeySetting] = []
    tree.forEachMember(of: mapping) { key, value in
      let setting = KeySetting(key: key, value: value)
      switch tree.kind(value) {
      case .string, .integer, .real, .boolean, .date, .data:
        if tree.isFaulty(key) || tree.isFaulty(value) { return }
        if tree.isEmptyText(key) { unusual.append(setting) }
      case .sequence, .mapping:
        if tree.isFaulty(key) || tree.isFaulty(value) { return }
        unusual.append(setting)
      case .null:
        // Nothing that a later stage could compare.
        if !tree.isFaulty(key) { unusual.append(setting) }
        return
      }
      settings.append(setting)
    }
    for setting in unusual {
      if tree.isEmptyText(setting.key) {
        sink.report(.emptyKey, at: tree.position(setting.key), "a key can't be the empty text")
      }
      checkValue(setting.value, key: setting.key)
    }
    return settings
  }

  /// Reports nulls, at any depth. Nesting is bounded by the reader's limit.
  mutating func checkValue(_ node: NodeID, key: NodeID?) {
    switch tree.kind(node) {
    case .null:
      if tree.isFaulty(node) { return }
      let name = key.map { tree.string($0).shown } ?? "an element of the list"
      sink.report(.nullValue, at: nullPosition(node, key: key), "\(name) has no value, and null is none")
    case .sequence:
      for element in tree.elements(of: node) { checkValue(element, key: nil) }
    case .mapping:
      for (key, value) in tree.members(of: node) { checkValue(value, key: key) }
    default: break
    }
  }

  /// Domain → list of keys.
  mutating func keyLists(_ entry: Entry?) -> [DomainKeys] {
    var result: [DomainKeys] = []
    for (key, value) in members(entry, whenEmpty: .emptySection) {
      let domain = located(key)
      guard checkDomain(domain) else { continue }
      let keys = texts(Entry(name: domain.value, key: key, value: value), whenEmpty: .emptySection)
      result.append(DomainKeys(domain: domain, keys: keys))
    }
    return result
  }
}

extension NodeTree {
  func isEmptyText(_ id: NodeID) -> Bool { nodes[Int(id.index)].length == 0 }
}
