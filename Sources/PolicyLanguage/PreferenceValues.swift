/// Where a document has values of preferences that are not to be shown, as against the language's own fields.
///
/// The walk goes by names alone, whatever kind the document says it is, and whether or not it is sound: what stands below
/// `forced`, `recommended` and `expect` is domains, below them keys, and what those hold is values; in a manifest, what an
/// entry of `keys` says about values (`default`, `enum`, `range`). A name that is concealed is so at any depth, and wherever a mistake has
/// put it.
struct PreferenceValues {
  /// Which names are concealed.
  struct Concealed {
    /// Of every preference.
    var isEverything = false
    var holds: (_ name: String) -> Bool = { _ in false }
  }

  /// A key and its value. Its name is that of the key, in a manifest that of the entry.
  struct Value {
    var name: String
    var key: NodeID
    var value: NodeID
  }

  /// Keys of the language, domains and names of preferences: what is no value, nor inside of one.
  private(set) var keys: [NodeID] = []
  /// The names of a manifest's entries.
  private(set) var declarations: [NodeID] = []
  /// None lies in another.
  private(set) var values: [Value] = []
  private let concealed: Concealed
  private var entered: Set<Entry> = []
  private let tree: NodeTree

  static let sections: Set<String> = ["forced", "recommended", "expect"]

  /// - Complexity: O(nodes): what aliases share is entered once.
  init(of tree: NodeTree, _ concealed: Concealed = Concealed()) {
    self.tree = tree
    self.concealed = concealed
    if !tree.nodes.isEmpty { visit(tree.root, .root) }
  }

  /// Notes the first key of each line that is made as names are.
  func noteFirstKeys(in keysOfLines: inout [UInt32: SourcePosition]) {
    for key in keys where tree.withUTF8(key, { SourceText.isName($0) }) {
      let position = tree.position(key)
      if keysOfLines[position.line].map({ $0.column > position.column }) ?? true {
        keysOfLines[position.line] = position
      }
    }
  }

  private enum Place: Hashable { case root, language, domains, names, inside, entries }

  private struct Entry: Hashable {
    var start: UInt32
    var place: Place
  }

  private mutating func visit(_ node: NodeID, _ place: Place) {
    guard isCollection(node) else { return }
    let start = tree.nodes[Int(node.index)].offset
    guard start == 0 || entered.insert(Entry(start: start, place: place)).inserted else { return }
    if tree.kind(node) == .sequence {
      for element in tree.elements(of: node) { visit(element, place == .root ? .language : place) }
      return
    }
    for (key, value) in tree.members(of: node) {
      if place != .inside { keys.append(key) }
      visit(tree.shortString(key), key, value, place)
    }
  }

  private func isCollection(_ node: NodeID) -> Bool { tree.kind(node) == .mapping || tree.kind(node) == .sequence }

  private mutating func visit(_ name: String, _ key: NodeID, _ value: NodeID, _ place: Place) {
    let isMapping = tree.kind(value) == .mapping
    switch place {
    case .names, .inside:
      let isLong = name.isEmpty && tree.withUTF8(key) { !$0.isEmpty }
      if concealed.isEverything || isLong || concealed.holds(name) {
        return values.append(Value(name: name, key: key, value: value))
      }
      visit(value, .inside)
    case .entries:
      declarations.append(key)
      guard isMapping else { return values.append(Value(name: name, key: key, value: value)) }
      let isConcealed = concealed.isEverything || concealed.holds(name)
      for (field, said) in tree.members(of: value) {
        keys.append(field)
        if isConcealed, ["default", "enum", "range"].contains(tree.shortString(field)) {
          values.append(Value(name: name, key: field, value: said))
        }
      }
    case .root, .language, .domains:
      if Self.sections.contains(name), isCollection(value) { return visit(value, .domains) }
      if place == .root && name == "keys" { return visit(value, .entries) }
      if place == .domains, isMapping { return visit(value, .names) }
      if concealed.holds(name) || !isCollection(value) && isMisplaced(name, place) {
        return values.append(Value(name: name, key: key, value: value))
      }
      visit(value, .language)
    }
  }

  /// Whether a name with a mere value is none of the language, in a place where only such are.
  private func isMisplaced(_ name: String, _ place: Place) -> Bool {
    concealed.isEverything && (place == .domains || !PolicySchema.fieldNames.contains(name))
  }
}

/// What the manifests of a tree say about which keys are secret.
struct DeclaredSecrets {
  /// Names of entries that say `secret` and not plainly `false`, that have a field which the language does not know, or that
  /// are no entries: what may be meant to be secret.
  private(set) var secret: Set<String> = []
  /// The longer ones of these in lower case; shorter ones stand by chance in many texts.
  private(set) var folded: [[UInt8]] = []
  /// Names of the other entries.
  private(set) var open: Set<String> = []
  /// A document that is none of the other kinds has no `keys`, or an entry no name: nobody knows what it would have said.
  private(set) var isDoubtful = false

  /// - Complexity: O(members of the document + entries).
  mutating func add(_ tree: NodeTree) {
    guard !tree.nodes.isEmpty else { return }
    let members = tree.members(of: tree.root)
    let kind = members.first { tree.shortString($0.key) == "kind" }.map { tree.shortString($0.value) } ?? ""
    let lists = members.filter { tree.shortString($0.key) == "keys" && tree.kind($0.value) == .mapping }
    if lists.isEmpty { isDoubtful = isDoubtful || !["Profile", "Inventory", "Tests"].contains(kind) }
    for (name, entry) in lists.flatMap({ tree.members(of: $0.value) }) {
      // What the reader refused as a key has no name to go by.
      let isUnnamed = tree.isFaulty(name) || tree.shortString(name).isEmpty && !tree.isEmptyText(name)
      let name = tree.shortString(name)
      if isUnnamed {
        isDoubtful = true
      } else if Self.maySaySecret(entry, in: tree) {
        if secret.insert(name).inserted, name.utf8.count > 3 { folded.append(Array(name.lowercased().utf8)) }
      } else {
        open.insert(name)
      }
    }
  }

  private static func maySaySecret(_ entry: NodeID, in tree: NodeTree) -> Bool {
    if tree.kind(entry) != .mapping { return true }
    return tree.members(of: entry).contains { field, said in
      let name = tree.shortString(field)
      if name == "secret" { return tree.kind(said) != .boolean || tree.shortString(said).lowercased() != "false" }
      return PolicySchema.manifestKey.index(of: name) == nil
    }
  }

  /// Words in names of what nobody would want to read in a log, where no manifest says otherwise.
  private static let words = [
    "password", "passwd", "passphrase", "secret", "token", "credential", "apikey", "api_key", "api-key", "privatekey",
    "private_key", "private-key",
  ].map { Array($0.utf8) }

  /// Whether a key of this name is secret or spelled almost as one that is; or whether no manifest describes it, and it sounds so or has such
  /// a name in it, as where a slip made one text of key and value.
  func holds(_ name: String) -> Bool {
    if Spelling.isNear(name, any: secret) { return true }
    if open.contains(name) || PolicySchema.fieldNames.contains(name) { return false }
    let text = Array(name.lowercased().utf8)
    return folded.contains { text.holds($0) } || Self.words.contains { text.holds($0) }
  }
}

extension NodeTree {
  /// The text of a scalar of at most 256 bytes, else the empty text. No name of the language or of a secret is longer, and to compare as
  /// Unicode does takes time that grows with the square of what is piled up in a text.
  fileprivate func shortString(_ id: NodeID) -> String {
    withUTF8(id) { $0.count <= 256 ? String(decoding: $0, as: UTF8.self) : "" }
  }
}

extension [UInt8] {
  /// Whether other bytes stand somewhere in these.
  ///
  /// - Complexity: O(bytes × other bytes).
  func holds(_ other: [UInt8]) -> Bool {
    !other.isEmpty && indices.contains { self[$0...].starts(with: other) }
  }
}
