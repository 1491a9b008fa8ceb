public import PropertyList

extension NodeTree {
  public func string(_ id: NodeID) -> String { withUTF8(id) { String(decoding: $0, as: UTF8.self) } }

  /// The value of an integer node; one outside Int64 was reported and reads as the nearest.
  public func integer(_ id: NodeID) -> Int64 { withUTF8(id) { PlainScalar.integer($0).value } }

  public func real(_ id: NodeID) -> Double { withUTF8(id) { PlainScalar.real($0) } }

  public func boolean(_ id: NodeID) -> Bool { withUTF8(id) { $0.first == 0x74 || $0.first == 0x54 } }

  /// The value of a date node: what `!!timestamp` tagged.
  public func date(_ id: NodeID) -> PropertyListDate {
    withUTF8(id) { Timestamp(yaml: $0)?.date } ?? PropertyListDate(unixTime: 0)
  }

  /// The value of a data node: what `!!binary` tagged.
  public func data(_ id: NodeID) -> [UInt8] { withUTF8(id) { Base64.decode($0) } ?? [] }

  /// The node as a property-list value. For values of a policy that passed validation; what is no value (a null, which
  /// is an error everywhere) reads as the empty string.
  ///
  /// - Complexity: O(nodes below it); nesting is at most 64 deep.
  public func value(_ id: NodeID) -> PropertyListValue {
    switch kind(id) {
    case .string: return .string(string(id))
    case .integer: return .integer(PropertyListInteger(integer(id)))
    case .real: return .real(real(id))
    case .boolean: return .boolean(boolean(id))
    case .date: return .date(date(id))
    case .data: return .data(data(id))
    case .null: return .string("")
    case .sequence:
      var elements: [PropertyListValue] = []
      elements.reserveCapacity(count(of: id))
      forEachElement(of: id) { elements.append(value($0)) }
      return .array(elements)
    case .mapping:
      var members: [String: PropertyListValue] = [:]
      members.reserveCapacity(count(of: id))
      forEachMember(of: id) { members[string($0)] = value($1) }
      return .dictionary(members)
    }
  }

  /// The property-list type of a node, nil for null.
  public func type(_ id: NodeID) -> PropertyListType? {
    switch kind(id) {
    case .mapping: .dictionary
    case .sequence: .array
    case .string: .string
    case .integer: .integer
    case .real: .real
    case .boolean: .boolean
    case .date: .date
    case .data: .data
    case .null: nil
    }
  }

  /// What messages call a node's type.
  func typeName(_ id: NodeID) -> String { type(id)?.description ?? "null" }

  /// A copy of a plainly written scalar as the string that its source text is: for keys whose manifest says string.
  func retyped(_ id: NodeID) -> NodeID {
    var node = nodes[Int(id.index)]
    node.kind = .string
    node.next = 0
    nodes.append(node)
    return NodeID(index: UInt32(nodes.count - 1))
  }

  /// A copy of a sequence in which plainly written scalars are strings.
  func retypedElements(_ id: NodeID) -> NodeID {
    var list = nodes[Int(id.index)]
    let copies = elements(of: id).map { element in
      flags(element).contains(.plain) ? retyped(element) : copied(element)
    }
    for (copy, next) in zip(copies, copies.dropFirst()) { nodes[Int(copy.index)].next = next.index }
    list.offset = copies.first?.index ?? 0
    list.next = 0
    nodes.append(list)
    return NodeID(index: UInt32(nodes.count - 1))
  }

  private func copied(_ id: NodeID) -> NodeID {
    var node = nodes[Int(id.index)]
    node.next = 0
    nodes.append(node)
    return NodeID(index: UInt32(nodes.count - 1))
  }
}
