/// A node's place in its tree.
public struct NodeID: Hashable, Sendable {
  public let index: UInt32

  @inlinable public init(index: UInt32) { self.index = index }
}

/// One YAML document as a flat tree of positioned nodes: 28 bytes a node, no object and no `String` for any of them.
///
/// Scalars are already resolved by the rules of YAML 1.2's core schema (``PlainScalar``); keys of mappings are strings in
/// their written spelling. Text lies in the source where it stands there as it is, otherwise in the tree. An alias is a
/// node of its own that shares the children of what it means, so an alias bomb takes no more memory than its source.
///
/// Immutable once the loader has returned; before that, validation alone adds nodes (`retyped`).
public final class NodeTree: @unchecked Sendable {
  /// What a node is. The scalar kinds but `null` are those of property lists.
  public enum Kind: UInt8, Sendable {
    case mapping, sequence, string, integer, real, boolean, date, data, null
  }

  @usableFromInline struct Node: Sendable {
    @usableFromInline var kind: Kind
    @usableFromInline var flags: NodeFlags
    /// Scalars: where the text begins. Collections: the first child, 0 without one.
    @usableFromInline var offset: UInt32
    /// Scalars: bytes of text. Collections: children; keys and values of a mapping count both.
    @usableFromInline var length: UInt32
    /// The next child of the same parent, 0 after the last (the root, at 0, is nobody's child).
    @usableFromInline var next: UInt32
    @usableFromInline var line: UInt32
    @usableFromInline var column: UInt32
    @usableFromInline var extent: UInt32

    init(kind: Kind, flags: NodeFlags = [], position: SourcePosition, offset: UInt32 = 0, length: UInt32 = 0) {
      self.kind = kind
      self.flags = flags
      self.offset = offset
      self.length = length
      next = 0
      line = position.line
      column = position.column
      extent = position.length
    }

    var position: SourcePosition { SourcePosition(line: line, column: column, length: extent) }
  }

  @usableFromInline struct NodeFlags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt8
    @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The text lies in the source.
    @inlinable static var inSource: NodeFlags { NodeFlags(rawValue: 1) }
    /// Written plainly: no quotes, no tag; its text may be meant as a string.
    static let plain = NodeFlags(rawValue: 2)
    static let ambiguousBoolean = NodeFlags(rawValue: 4)
    static let leadingZero = NodeFlags(rawValue: 8)
    static let trailingZero = NodeFlags(rawValue: 16)
    static let outOfRange = NodeFlags(rawValue: 32)
    /// Already reported as a mistake: say nothing more about it.
    static let faulty = NodeFlags(rawValue: 64)

    static let remarkable: NodeFlags = [.ambiguousBoolean, .leadingZero, .trailingZero, .outOfRange]
  }

  @usableFromInline var nodes: ContiguousArray<Node>
  @usableFromInline let source: [UInt8]
  @usableFromInline let text: [UInt8]
  /// Some scalar deserves a warning, or an error unless a manifest says string.
  let holdsRemarkableScalars: Bool
  /// Some scalar is not ASCII: its names have to be compared as Unicode compares text.
  let holdsHighText: Bool

  init(
    nodes: ContiguousArray<Node>, source: [UInt8], text: [UInt8], holdsRemarkableScalars: Bool, holdsHighText: Bool
  ) {
    self.nodes = nodes
    self.source = source
    self.text = text
    self.holdsRemarkableScalars = holdsRemarkableScalars
    self.holdsHighText = holdsHighText
  }

  public var root: NodeID { NodeID(index: 0) }

  @inlinable public func kind(_ id: NodeID) -> Kind { nodes[Int(id.index)].kind }

  public func position(_ id: NodeID) -> SourcePosition { nodes[Int(id.index)].position }

  func flags(_ id: NodeID) -> NodeFlags { nodes[Int(id.index)].flags }

  func isFaulty(_ id: NodeID) -> Bool { flags(id).contains(.faulty) }

  /// Elements of a sequence, members of a mapping; 0 for scalars.
  public func count(of id: NodeID) -> Int {
    let node = nodes[Int(id.index)]
    switch node.kind {
    case .sequence: return Int(node.length)
    case .mapping: return Int(node.length / 2)
    default: return 0
    }
  }

  /// The text of a scalar: of a string its value, of other kinds what the source says; empty for collections.
  @inlinable
  public func withUTF8<R>(_ id: NodeID, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    let node = nodes[Int(id.index)]
    guard node.kind != .mapping && node.kind != .sequence else {
      return try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return try (node.flags.contains(.inSource) ? source : text).withUnsafeBytes { bytes in
      try body(UnsafeRawBufferPointer(rebasing: bytes[Int(node.offset)..<Int(node.offset + node.length)]))
    }
  }

  @inlinable
  public func forEachElement(of id: NodeID, _ body: (NodeID) throws -> Void) rethrows {
    let node = nodes[Int(id.index)]
    guard node.kind == .sequence else { return }
    var child = node.offset
    while child != 0 {
      try body(NodeID(index: child))
      child = nodes[Int(child)].next
    }
  }

  @inlinable
  public func forEachMember(of id: NodeID, _ body: (_ key: NodeID, _ value: NodeID) throws -> Void) rethrows {
    let node = nodes[Int(id.index)]
    guard node.kind == .mapping else { return }
    var key = node.offset
    while key != 0 {
      let value = nodes[Int(key)].next
      try body(NodeID(index: key), NodeID(index: value))
      key = nodes[Int(value)].next
    }
  }

  public func elements(of id: NodeID) -> [NodeID] {
    var elements: [NodeID] = []
    forEachElement(of: id) { elements.append($0) }
    return elements
  }

  public func members(of id: NodeID) -> [(key: NodeID, value: NodeID)] {
    var members: [(key: NodeID, value: NodeID)] = []
    forEachMember(of: id) { members.append(($0, $1)) }
    return members
  }
}
