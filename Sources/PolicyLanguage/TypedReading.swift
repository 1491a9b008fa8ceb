import PropertyList

/// A value under a manifest's type: nothing is coerced, but a plainly written scalar under `string` keeps its text.
enum TypedReading {
  /// The node to read the value from (a copy where the text is kept), or nil for a value of another type.
  static func node(
    _ node: NodeID, in tree: NodeTree, as type: PropertyListType, items: PropertyListType? = nil
  ) -> NodeID? {
    if type == .string && isText(node, in: tree) { return tree.kind(node) == .string ? node : tree.retyped(node) }
    guard tree.type(node) == type else { return nil }
    guard type == .array, let items else { return node }
    let elements = tree.elements(of: node)
    guard items == .string else { return elements.allSatisfy { tree.type($0) == items } ? node : nil }
    guard elements.allSatisfy({ isText($0, in: tree) }) else { return nil }
    return elements.allSatisfy { tree.kind($0) == .string } ? node : tree.retypedElements(node)
  }

  /// Whether a node is a string, or may be meant as one: written plainly, and not null.
  static func isText(_ node: NodeID, in tree: NodeTree) -> Bool {
    switch tree.kind(node) {
    case .string: true
    case .integer, .real, .boolean: tree.flags(node).contains(.plain)
    default: false
    }
  }
}
