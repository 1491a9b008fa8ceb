import PropertyList

/// Values against manifests, and spellings that mean something else than they seem to.
extension TreeValidation {
  mutating func checkValues() {
    let manifests = Dictionary(tree.manifests.map { ($0.domain.value, $0) }) { first, _ in first }
    for profile in tree.profiles.indices {
      var checker = ValueChecker(tree: tree.profiles[profile].tree, sink: sinks[tree.profiles[profile].source])
      checker.check(&tree.profiles[profile].forced, manifests, use: .setting)
      checker.check(&tree.profiles[profile].recommended, manifests, use: .setting)
      for override in tree.profiles[profile].overrides.indices {
        checker.check(&tree.profiles[profile].overrides[override].forced, manifests, use: .setting)
        checker.check(&tree.profiles[profile].overrides[override].recommended, manifests, use: .setting)
      }
      for control in tree.profiles[profile].controls.indices {
        checker.check(&tree.profiles[profile].controls[control].expectations, manifests)
      }
      sinks[tree.profiles[profile].source] = checker.sink
    }
    for test in tree.tests.indices {
      var checker = ValueChecker(tree: tree.tests[test].tree, sink: sinks[tree.tests[test].source])
      for index in tree.tests[test].expectations.indices {
        let expectation = tree.tests[test].expectations[index]
        guard let operand = expectation.operand else { continue }
        let node = checker.check(
          operand, key: expectation.key,
          description: manifests[expectation.domain.value]?.key(named: expectation.key.value),
          use: .test)
        tree.tests[test].expectations[index].value = tree.tests[test].tree.value(node)
      }
      sinks[tree.tests[test].source] = checker.sink
    }
  }
}

/// Holds the values of one document against manifests.
private struct ValueChecker {
  enum Use { case setting, control, test }

  let tree: NodeTree
  var sink: DiagnosticSink

  // Keys of one domain for which a nearly equal name is looked for; a domain with more unknown keys is another domain.
  private static let mostSuggestions = 256

  mutating func check(_ domains: inout [DomainSettings], _ manifests: [String: Manifest], use: Use) {
    for domain in domains.indices {
      let manifest = manifests[domains[domain].domain.value]
      if manifest == nil && !tree.holdsRemarkableScalars { continue }
      var unknown = 0
      for index in domains[domain].settings.indices {
        let setting = domains[domain].settings[index]
        if tree.isFaulty(setting.key) { continue }
        guard let manifest else {
          reportSpelling(setting.value, key: setting.key)
          continue
        }
        let place = tree.withUTF8(setting.key) { manifest.index(ofKey: $0) }
        let description = place.map { manifest.keys[$0] }
        if description == nil {
          unknown += 1
          if unknown <= Self.mostSuggestions { reportUnknown(setting.key, manifest) }
        }
        let key = Located(tree.string(setting.key), at: tree.position(setting.key))
        domains[domain].settings[index].value = check(setting.value, key: key, description: description, use: use)
      }
    }
  }

  mutating func check(_ expectations: inout [ControlExpectation], _ manifests: [String: Manifest]) {
    for index in expectations.indices {
      let expectation = expectations[index]
      let description = manifests[expectation.domain.value]?.key(named: expectation.key.value)
      for place in expectation.conditions.indices {
        let condition = expectation.conditions[place]
        var operand = condition.operand
        switch condition.comparison {
        case .is:
          operand = check(operand, key: expectation.key, description: description, use: .control)
        case .oneOf:
          if description?.type == .string, tree.elements(of: operand).allSatisfy({ TypedReading.isText($0, in: tree) })
          {
            operand = tree.retypedElements(operand)
          } else {
            for element in tree.elements(of: operand) { reportSpelling(element, key: nil) }
          }
        case .contains:
          let isText = description?.type == .string || (description?.type == .array && description?.items == .string)
          if isText && TypedReading.isText(operand, in: tree) {
            operand = tree.retyped(operand)
          } else {
            reportSpelling(operand, key: nil)
          }
        case .min, .max:
          reportSpelling(operand, key: nil)
        }
        if description?.isSecret == true && condition.comparison != .is { reportSecret(expectation.key) }
        expectations[index].conditions[place].operand = operand
        expectations[index].conditions[place].value = tree.value(operand)
      }
    }
  }

  /// Checks one value; the node to read it from comes back.
  mutating func check(
    _ node: NodeID, key: Located<String>, description: ManifestKey?, use: Use
  ) -> NodeID {
    guard let description else {
      reportSpelling(node, key: nil, name: key.value)
      return node
    }
    if description.isSecret {
      reportSecret(key)
      return node
    }
    if let advice = description.deprecated, use == .setting {
      sink.report(.deprecatedKey, at: key.position, "\(key.value.shown) is deprecated: \(advice.shown)")
    }
    // A null, or what the reader refused, has been reported.
    guard tree.kind(node) != .null, !tree.isFaulty(node) else { return node }
    guard let type = description.type else {
      reportSpelling(node, key: nil, name: key.value)
      checkEnumeration(node, key, description)
      return node
    }
    guard let typed = TypedReading.node(node, in: tree, as: type, items: description.items) else {
      reportMismatch(node, key, description, type)
      return node
    }
    let isText = type == .string || (type == .array && description.items == .string)
    if !isText {
      reportSpelling(typed, key: nil, name: key.value)
    } else {
      reportAmbiguousBooleans(node, name: key.value)
    }
    checkRange(typed, key, description)
    checkEnumeration(typed, key, description)
    return typed
  }

  // MARK: Manifest

  private mutating func reportSecret(_ key: Located<String>) {
    sink.report(.secretKey, at: key.position, "\(key.value.shown) is secret; a policy can't give it a value")
  }

  private mutating func reportMismatch(
    _ node: NodeID, _ key: Located<String>, _ description: ManifestKey, _ type: PropertyListType
  ) {
    if type == .array, tree.kind(node) == .sequence, let items = description.items {
      for (index, element) in tree.elements(of: node).enumerated() {
        let isRight = items == .string ? TypedReading.isText(element, in: tree) : tree.type(element) == items
        if isRight || tree.kind(element) == .null || tree.isFaulty(element) { continue }
        sink.report(
          .typeMismatch, at: tree.position(element),
          "\(key.value.shown), element \(index + 1): expected \(items), found \(tree.typeName(element))",
          hint: Self.hint(expected: items, found: element, in: tree))
      }
      return
    }
    sink.report(
      .typeMismatch, at: tree.position(node),
      "\(key.value.shown): expected \(description.typeName), found \(tree.typeName(node))",
      hint: Self.hint(expected: type, found: node, in: tree))
  }

  private static func hint(expected: PropertyListType, found node: NodeID, in tree: NodeTree) -> String? {
    let text = tree.string(node).shown
    switch (expected, tree.kind(node)) {
    case (.boolean, .string) where tree.flags(node).contains(.ambiguousBoolean): return "write true or false"
    case (.real, .integer): return "write it with a point: \(text).0"
    case (.date, .string): return "tag a date: !!timestamp \(text)"
    case (.data, .string): return "tag data: !!binary \(text)"
    case (.integer, .string), (.real, .string), (.boolean, .string):
      var written = tree.string(node)
      let kind = written.withUTF8 { PlainScalar.resolve(UnsafeRawBufferPointer($0)).kind }
      let fits =
        (expected == .integer && kind == .integer) || (expected == .real && kind == .real)
        || (expected == .boolean && kind == .boolean)
      return fits ? "write it without quotes: \(text)" : nil
    default: return nil
    }
  }

  private mutating func checkRange(_ node: NodeID, _ key: Located<String>, _ description: ManifestKey) {
    guard let range = description.range else { return }
    let value = tree.value(node)
    let isWithin = [(ControlExpectation.Operator.min, range.low), (.max, range.high)].allSatisfy { comparison, bound in
      ControlExpectation.Condition(comparison: comparison, operand: node, value: bound).holds(for: value)
    }
    if isWithin { return }
    sink.report(
      .outOfRange, at: tree.position(node),
      "\(key.value.shown): \(tree.string(node).shown) is not from \(Self.text(range.low)) to \(Self.text(range.high))")
  }

  private mutating func checkEnumeration(_ node: NodeID, _ key: Located<String>, _ description: ManifestKey) {
    guard let choices = description.enumeration, !choices.contains(tree.value(node)) else { return }
    let written =
      tree.kind(node) == .mapping || tree.kind(node) == .sequence ? "the value" : "'\(tree.string(node).shown)'"
    let texts = choices.map { Self.text($0) }
    let suggestion = Spelling.nearest(to: tree.string(node), in: texts).map { "; did you mean '\($0)'?" } ?? ""
    sink.report(
      .notInEnumeration, at: tree.position(node),
      "\(key.value.shown): \(written) is none of its values\(suggestion)",
      hint: "its values are: \(texts.prefix(20).joined(separator: ", "))\(texts.count > 20 ? ", …" : "")")
  }

  private static func text(_ value: PropertyListValue) -> String {
    switch value {
    case .string(let text): text.shown
    case .integer(let integer): integer.description
    case .real(let real): "\(real)"
    case .boolean(let boolean): "\(boolean)"
    default: "\(value.type)"
    }
  }

  private mutating func reportUnknown(_ key: NodeID, _ manifest: Manifest) {
    let name = tree.string(key)
    guard let near = Spelling.nearest(to: name, in: manifest.keys.map(\.name.value)) else { return }
    sink.report(
      .unknownKey, at: tree.position(key),
      "\(name.shown) is not in the manifest of \(manifest.domain.value.shown); did you mean '\(near.shown)'?")
  }

  // MARK: Spellings

  /// Reports what a value's plain spelling hides, at any depth.
  private mutating func reportSpelling(_ node: NodeID, key: NodeID?, name: String? = nil) {
    switch tree.kind(node) {
    case .sequence:
      for element in tree.elements(of: node) { reportSpelling(element, key: nil, name: name) }
    case .mapping:
      for (key, value) in tree.members(of: node) { reportSpelling(value, key: key) }
    default:
      let flags = tree.flags(node)
      if !flags.isDisjoint(with: .remarkable) { reportScalar(node, flags, name ?? key.map { tree.string($0) }) }
    }
  }

  private mutating func reportScalar(_ node: NodeID, _ flags: NodeTree.NodeFlags, _ name: String?) {
    let position = tree.position(node)
    let text = tree.string(node).shown
    let subject = name.map { "\($0.shown): " } ?? ""
    if flags.contains(.outOfRange) {
      if tree.kind(node) == .integer {
        sink.report(.integerOutOfRange, at: position, "\(subject)\(text) does not fit in 64 bits")
      } else {
        sink.report(.realOutOfRange, at: position, "\(subject)\(text) is larger than any real that can be stored")
      }
      return
    }
    if flags.contains(.ambiguousBoolean) { reportAmbiguousBoolean(node) }
    if flags.contains(.leadingZero) {
      let value = tree.kind(node) == .integer ? "\(tree.integer(node))" : "\(tree.real(node))"
      sink.report(
        .leadingZero, at: position,
        "\(subject)\(text) is the \(tree.typeName(node)) \(value); write it so, or in quotes to mean the text")
    }
    if flags.contains(.trailingZero) {
      sink.report(
        .trailingZero, at: position,
        "\(subject)\(text) is the real \(tree.real(node)), its trailing zero is lost; put it in quotes to mean the text"
      )
    }
  }

  private mutating func reportAmbiguousBoolean(_ node: NodeID) {
    let text = tree.string(node)
    let isTrue = ["y", "yes", "on"].contains(text.lowercased())
    sink.report(
      .ambiguousBoolean, at: tree.position(node),
      "'\(text)' is a string in YAML 1.2; write \(isTrue) for a boolean")
  }

  /// Of values that a manifest says are text: numbers keep their text, but `no` is easily meant as a boolean.
  private mutating func reportAmbiguousBooleans(_ node: NodeID, name: String) {
    if tree.kind(node) == .sequence {
      for element in tree.elements(of: node) { reportAmbiguousBooleans(element, name: name) }
    } else if tree.flags(node).contains(.ambiguousBoolean) {
      reportAmbiguousBoolean(node)
    }
  }
}
