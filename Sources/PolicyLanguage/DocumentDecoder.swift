import PropertyList

/// Turns the documents of one file into profiles, inventories, manifests and tests, gathering every mistake.
///
/// Each kind has a file of its own that extends this type; here is what they share: fields, text, lists, numbers.
struct DocumentDecoder {
  typealias Shape = PolicySchema.Shape

  let source: Int
  var tree: NodeTree
  var sink: DiagnosticSink

  var profiles: [Profile] = []
  var inventories: [Inventory] = []
  var manifests: [Manifest] = []
  var tests: [PolicyTestCase] = []

  init(source: Int, tree: NodeTree, sink: DiagnosticSink) {
    self.source = source
    self.tree = tree
    self.sink = sink
  }

  /// Decodes one document of the file.
  mutating func decode(_ tree: NodeTree) {
    self.tree = tree
    let root = tree.root
    guard tree.kind(root) == .mapping else {
      if tree.kind(root) == .null {
        sink.report(.emptyDocument, at: tree.position(root), "the document is empty")
      } else if !tree.isFaulty(root) {
        sink.report(
          .wrongType, at: tree.position(root),
          "a document is a dictionary with `version` and `kind`, found \(tree.typeName(root))")
      }
      return
    }
    if tree.isFaulty(root) { return }
    if tree.count(of: root) == 0 {
      return sink.report(.emptyDocument, at: tree.position(root), "the document is empty")
    }
    guard let kind = tree.members(of: root).first(where: { tree.string($0.key) == "kind" }) else {
      return sink.report(
        .missingField, at: tree.position(root), "a document needs `kind`, which is missing",
        hint: "write kind: Profile, Inventory, Manifest or Tests")
    }
    guard let name = text(kind.value, of: "kind"), checkVersion() else { return }
    switch name.value {
    case "Profile": decodeProfile()
    case "Inventory": decodeInventory()
    case "Manifest": decodeManifest()
    case "Tests": decodeTests()
    default:
      sink.report(
        .unknownKind, at: name.position,
        "'\(name.value.shown)' is no kind of document\(Self.suggestion(name.value, PolicySchema.kinds.map(\.name)))")
    }
  }

  // MARK: Fields

  /// The fields of a mapping that the table knows, by their place in it.
  struct Fields {
    let node: NodeID
    fileprivate let shape: Shape
    fileprivate var found: [Entry?]

    subscript(_ name: String) -> Entry? { shape.index(of: name).flatMap { found[$0] } }
  }

  /// A field's name and value.
  struct Entry {
    let name: String
    let key: NodeID
    let value: NodeID
  }

  /// Reads a mapping by the table: unknown, reserved and missing fields are reported.
  mutating func fields(of node: NodeID, as shape: Shape, named name: String) -> Fields? {
    guard tree.kind(node) == .mapping else {
      reportType(node, name, expected: "dictionary")
      return nil
    }
    if tree.isFaulty(node) { return nil }
    var fields = Fields(node: node, shape: shape, found: Array(repeating: nil, count: shape.fields.count))
    for (key, value) in tree.members(of: node) where !tree.isFaulty(key) {
      let name = tree.string(key)
      if let index = shape.index(of: name) {
        if fields.found[index] == nil { fields.found[index] = Entry(name: name, key: key, value: value) }
      } else if shape.reserved.contains(name) {
        sink.report(.reservedField, at: tree.position(key), "`\(name)` is reserved for a later version of the language")
      } else {
        let known = shape.fields.map(\.name)
        sink.report(
          .unknownField, at: tree.position(key),
          "'\(name.shown)' is no field of \(shape.name)\(Self.suggestion(name, known))",
          hint: "its fields are: \(known.joined(separator: ", "))")
      }
    }
    for (field, entry) in zip(shape.fields, fields.found) where field.isRequired && entry == nil {
      sink.report(.missingField, at: tree.position(node), "\(shape.name) needs `\(field.name)`, which is missing")
    }
    return fields
  }

  /// Checks `version`; a document of another version is not decoded. One without is reported with the other fields.
  private mutating func checkVersion() -> Bool {
    guard let (_, version) = tree.members(of: tree.root).first(where: { tree.string($0.key) == "version" }) else {
      return true
    }
    if tree.isFaulty(version) { return false }
    if tree.kind(version) == .integer && tree.integer(version) == 1 { return true }
    let found = tree.kind(version) == .null ? "nothing" : tree.string(version).shown
    sink.report(
      .unsupportedVersion, at: tree.position(version),
      "version is 1, found \(found.isEmpty ? tree.typeName(version) : found)")
    return false
  }

  // MARK: Scalars

  /// A field's text: a string, or a plainly written scalar as it is written. Nil after a report.
  mutating func text(_ entry: Entry?) -> Located<String>? {
    guard let entry else { return nil }
    return text(entry.value, of: entry.name, key: entry.key)
  }

  mutating func text(_ node: NodeID, of name: String, key: NodeID? = nil) -> Located<String>? {
    if tree.isFaulty(node) { return nil }
    let isText = tree.kind(node) == .string || (tree.flags(node).contains(.plain) && tree.kind(node) != .null)
    guard isText else {
      reportType(node, name, expected: "string", key: key)
      return nil
    }
    let value = tree.string(node)
    if value.isEmpty {
      sink.report(.emptyField, at: tree.position(node), "\(name.shown) is empty")
      return nil
    }
    if tree.holdsHighText && CanonicalSpelling.hasTooManyMarks(value) {
      sink.report(.combiningMarks, at: tree.position(node), CanonicalSpelling.objection(name.shown))
      return nil
    }
    return Located(value, at: tree.position(node))
  }

  mutating func integer(_ entry: Entry?) -> Located<Int64>? {
    guard let entry, !tree.isFaulty(entry.value) else { return nil }
    guard tree.kind(entry.value) == .integer else {
      reportType(entry.value, entry.name, expected: "integer", key: entry.key)
      return nil
    }
    if tree.flags(entry.value).contains(.outOfRange) {
      sink.report(
        .integerOutOfRange, at: tree.position(entry.value),
        "\(entry.name): \(tree.string(entry.value).shown) does not fit in 64 bits")
    }
    return Located(tree.integer(entry.value), at: tree.position(entry.value))
  }

  mutating func boolean(_ entry: Entry?) -> Bool? {
    guard let entry, !tree.isFaulty(entry.value) else { return nil }
    guard tree.kind(entry.value) == .boolean else {
      reportType(
        entry.value, entry.name, expected: "boolean", key: entry.key,
        hint: tree.flags(entry.value).contains(.ambiguousBoolean) ? "write true or false" : nil)
      return nil
    }
    return tree.boolean(entry.value)
  }

  /// One of an enumeration's texts.
  mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ entry: Entry?, of type: Choice.Type
  ) -> Choice? where Choice.RawValue == String {
    guard let entry, let text = text(entry) else { return nil }
    if let choice = Choice(rawValue: text.value) { return choice }
    reportChoice(text, of: entry.name, choices: Choice.allCases.map(\.rawValue))
    return nil
  }

  mutating func reportChoice(_ text: Located<String>, of name: String, choices: [String]) {
    sink.report(
      .invalidValue, at: text.position,
      "\(name.shown): '\(text.value.shown)' is none of its choices\(Self.suggestion(text.value, choices))",
      hint: "its choices are: \(choices.joined(separator: ", "))")
  }

  /// An instant with its offset from UTC.
  mutating func instant(_ entry: Entry?) -> Located<PropertyListDate>? {
    guard let entry, !tree.isFaulty(entry.value) else { return nil }
    let position = tree.position(entry.value)
    guard tree.kind(entry.value) == .string || tree.kind(entry.value) == .date else {
      reportType(entry.value, entry.name, expected: "date", key: entry.key)
      return nil
    }
    let written = tree.string(entry.value)
    guard let instant = Timestamp(written) else {
      sink.report(
        .invalidDate, at: position, "\(entry.name): '\(written.shown)' is no date and time that exists",
        hint: "write it like 2026-12-24T23:59:59+01:00")
      return nil
    }
    guard instant.hasTime && instant.hasOffset else {
      sink.report(
        .missingOffset, at: position,
        "\(entry.name): '\(written.shown)' has no \(instant.hasTime ? "offset from UTC" : "time and no offset from UTC")"
      )
      return nil
    }
    return Located(instant.date, at: position)
  }

  // MARK: Lists

  /// The elements of a list that must not be empty.
  mutating func elements(
    _ entry: Entry?, of elementType: String, whenEmpty code: DiagnosticCode = .emptyField
  ) -> [NodeID] {
    guard let entry, !tree.isFaulty(entry.value) else { return [] }
    guard tree.kind(entry.value) == .sequence else {
      let isText = tree.kind(entry.value) == .string
      reportType(
        entry.value, entry.name, expected: "array of \(elementType)", key: entry.key,
        hint: isText ? "write it as a list: [\(tree.string(entry.value).shown)]" : nil)
      return []
    }
    if tree.count(of: entry.value) == 0 {
      sink.report(code, at: tree.position(entry.value), "\(entry.name.shown) is an empty list")
    }
    return tree.elements(of: entry.value)
  }

  /// A list of texts. One that is listed twice is a warning.
  mutating func texts(
    _ entry: Entry?, whenEmpty code: DiagnosticCode = .emptyField, ignoringCase: Bool = false
  ) -> [Located<String>] {
    guard let entry else { return [] }
    var result: [Located<String>] = []
    // By bytes: two paths that Unicode calls equal are two files. Names of other kinds are compared in the whole tree.
    var seen: [[UInt8]: Located<String>] = [:]
    for element in elements(entry, of: "strings", whenEmpty: code) {
      guard let text = text(element, of: "an element of \(entry.name)") else { continue }
      let identity = Array((ignoringCase ? text.value.lowercased() : text.value).utf8)
      if let first = seen[identity] {
        let related = [sink.related(first.position, "it is here first")]
        sink.report(
          .doubledName, at: text.position,
          first.value == text.value
            ? "'\(text.value.shown)' is listed twice"
            : "'\(text.value.shown)' and '\(first.value.shown)' are one name, listed twice", related: related)
        continue
      }
      seen[identity] = text
      result.append(text)
    }
    return result
  }

  /// A mapping from names to something, which must not be empty.
  mutating func members(
    _ entry: Entry?, whenEmpty code: DiagnosticCode
  ) -> [(key: NodeID, value: NodeID)] {
    guard let entry, !tree.isFaulty(entry.value) else { return [] }
    guard tree.kind(entry.value) == .mapping else {
      reportType(entry.value, entry.name, expected: "dictionary", key: entry.key)
      return []
    }
    if tree.count(of: entry.value) == 0 {
      sink.report(code, at: tree.position(entry.value), "\(entry.name.shown) is empty")
    }
    return tree.members(of: entry.value).filter { !tree.isFaulty($0.key) }
  }

  // MARK: Names

  /// A domain's name from a key or a value (SEMANTICS: no `/`, no leading `.`, at most 216 bytes,
  /// so that its file for one host, whose name has 39 bytes more, can exist; readers refuse longer ones too).
  mutating func checkDomain(_ domain: Located<String>) -> Bool {
    let bytes = domain.value.utf8
    let problem: String? =
      bytes.isEmpty
      ? "is empty"
      : bytes.contains(UInt8(ascii: "/"))
        ? "contains '/'"
        : bytes.contains(0)
          ? "contains a NUL"
          : bytes.first == UInt8(ascii: ".") ? "begins with '.'" : bytes.count > 216 ? "is longer than 216 bytes" : nil
    guard let problem else { return true }
    sink.report(.invalidDomain, at: domain.position, "the domain name '\(domain.value.shown)' \(problem)")
    return false
  }

  func located(_ node: NodeID) -> Located<String> { Located(tree.string(node), at: tree.position(node)) }

  // MARK: Reports

  mutating func reportType(
    _ node: NodeID, _ name: String, expected: String, key: NodeID? = nil, hint: String? = nil
  ) {
    if tree.isFaulty(node) { return }
    if tree.kind(node) == .null {
      sink.report(.emptyField, at: nullPosition(node, key: key), "\(name.shown) has no value")
    } else {
      sink.report(
        .wrongType, at: tree.position(node), "\(name.shown): expected \(expected), found \(tree.typeName(node))",
        hint: hint)
    }
  }

  /// Where a null is reported: where it is written, at its key where nothing is.
  func nullPosition(_ node: NodeID, key: NodeID?) -> SourcePosition {
    guard let key, tree.withUTF8(node, { $0.isEmpty }) else { return tree.position(node) }
    return tree.position(key)
  }

  static func suggestion(_ name: String, _ choices: [String]) -> String {
    Spelling.nearest(to: name, in: choices).map { "; did you mean '\($0)'?" } ?? ""
  }
}
