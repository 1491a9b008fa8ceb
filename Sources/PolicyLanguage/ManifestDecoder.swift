import PropertyList

/// `kind: Manifest`.
extension DocumentDecoder {
  mutating func decodeManifest() {
    guard let fields = fields(of: tree.root, as: PolicySchema.manifest, named: "a manifest") else { return }
    let domain = text(fields["domain"])
    let isDomain = domain.map { checkDomain($0) } ?? false
    var keys: [ManifestKey] = []
    for (key, value) in members(fields["keys"], whenEmpty: .emptySection) {
      if tree.isEmptyText(key) {
        sink.report(.emptyKey, at: tree.position(key), "a key can't be the empty text")
      } else if let description = manifestKey(Entry(name: tree.string(key), key: key, value: value)) {
        keys.append(description)
      }
    }
    guard let domain, isDomain else { return }
    manifests.append(Manifest(source: source, position: tree.position(tree.root), domain: domain, keys: keys))
  }

  private mutating func manifestKey(_ entry: Entry) -> ManifestKey? {
    guard let fields = fields(of: entry.value, as: PolicySchema.manifestKey, named: entry.name) else { return nil }
    let type = valueType(fields["type"])
    let items = valueType(fields["items"])
    let merge = choice(fields["merge"], of: ManifestKey.Merge.self) ?? .replace
    if items != nil && type != .array {
      contradiction(fields["items"], "\(entry.name.shown) has items, but is not of type array")
    }
    if merge == .union && type != .array && type != .dictionary {
      contradiction(fields["merge"], "\(entry.name.shown) is united, but is neither of type array nor dictionary")
    }
    let range = range(fields["range"], type: type, of: entry.name)
    let enumeration = enumeration(fields["enum"], type: type, of: entry.name)
    let defaultValue = typed(fields["default"], type: type, items: items, of: entry.name)
    let title = text(fields["title"])?.value
    let unit = text(fields["unit"])?.value
    let isSecret = boolean(fields["secret"]) ?? false
    let deprecated = text(fields["deprecated"])?.value
    return ManifestKey(
      name: located(entry.key), type: type, items: items, range: range, enumeration: enumeration,
      defaultValue: defaultValue, title: title, unit: unit, merge: merge, isSecret: isSecret, deprecated: deprecated)
  }

  private mutating func contradiction(_ entry: Entry?, _ message: String) {
    guard let entry else { return }
    sink.report(.invalidManifest, at: tree.position(entry.value), message)
  }

  private mutating func valueType(_ entry: Entry?) -> PropertyListType? {
    guard let entry, let name = text(entry) else { return nil }
    if let type = PropertyListType(name.value) { return type }
    reportChoice(name, of: entry.name, choices: PropertyListType.allCases.map(\.description))
    return nil
  }

  private mutating func range(_ entry: Entry?, type: PropertyListType?, of key: String) -> ManifestKey.Range? {
    guard let entry else { return nil }
    if let type, type != .integer && type != .real {
      contradiction(entry, "\(key.shown) has a range, but is of type \(type)")
      return nil
    }
    let nodes = elements(entry, of: "two numbers")
    if nodes.isEmpty { return nil }
    guard nodes.count == 2, nodes.allSatisfy({ tree.kind($0) == .integer || tree.kind($0) == .real }) else {
      sink.report(.invalidValue, at: tree.position(entry.value), "range has two numbers, the least and the greatest")
      return nil
    }
    if let type, let wrong = nodes.first(where: { tree.type($0) != type && type == .integer }) {
      sink.report(
        .invalidManifest, at: tree.position(wrong),
        "\(key.shown) is of type \(type), but its range holds a \(tree.typeName(wrong))")
      return nil
    }
    let (low, high) = (tree.value(nodes[0]), tree.value(nodes[1]))
    let condition = ControlExpectation.Condition(comparison: .max, operand: nodes[1], value: high)
    guard condition.holds(for: low) else {
      sink.report(.reversedRange, at: tree.position(entry.value), "the range of \(key.shown) ends below its start")
      return nil
    }
    return ManifestKey.Range(low: low, high: high)
  }

  private mutating func enumeration(_ entry: Entry?, type: PropertyListType?, of key: String) -> [PropertyListValue]? {
    guard let entry else { return nil }
    if let type, type != .string && type != .integer && type != .real {
      contradiction(entry, "\(key.shown) has an enum, but is of type \(type)")
      return nil
    }
    let values = elements(entry, of: "values").compactMap { element in
      typed(Entry(name: "enum", key: element, value: element), type: type, items: nil, of: key)
    }
    return values.isEmpty ? nil : values
  }

  /// A value in the manifest itself, held against the manifest's type.
  private mutating func typed(
    _ entry: Entry?, type: PropertyListType?, items: PropertyListType?, of key: String
  ) -> PropertyListValue? {
    guard let entry, !tree.isFaulty(entry.value) else { return nil }
    checkValue(entry.value, key: entry.key)
    if tree.kind(entry.value) == .null { return nil }
    guard let type else { return tree.value(entry.value) }
    guard let node = TypedReading.node(entry.value, in: tree, as: type, items: items) else {
      contradiction(
        entry, "\(key.shown) is of type \(type), but its \(entry.name) is of type \(tree.typeName(entry.value))")
      return nil
    }
    return tree.value(node)
  }
}
