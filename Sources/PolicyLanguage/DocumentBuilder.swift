/// Turns events into the flat tree of one document, and reports what no document may contain.
///
/// No recursion: open collections are on a stack of their own, at most ``YAMLStream/Limits/depth`` of them.
struct DocumentBuilder {
  typealias Node = NodeTree.Node

  /// A collection that is still open.
  struct Frame {
    var node: Int
    /// The child before, 0 before the first.
    var last = 0
    var count: UInt32 = 0
    var isMapping: Bool
    /// Nodes of the file and bytes of their text, aliases expanded, when it was opened.
    var nodesBefore: Int
    var bytesBefore: Int
    /// The deepest level below it.
    var deepest: Int
    var anchor: String?
    /// Of a mapping: the key whose value is being read.
    var key = 0

    var expectsKey: Bool {
      @inline(__always) get { isMapping && count & 1 == 0 }
    }
  }

  /// What an alias of this name means, nil for the node while it is still open.
  private struct Anchor {
    var node: Node?
    var expandedNodes = 1
    var expandedBytes = 0
    var height = 0
  }

  let text: SourceText
  var sink: DiagnosticSink
  /// A limit was passed: the rest of the file is not looked at.
  private(set) var hasGivenUp = false

  var nodes: ContiguousArray<Node> = []
  var arena: [UInt8] = []
  var frames: [Frame] = []
  private var anchors: [String: Anchor] = [:]
  private var documents = 0
  /// The line on which the last document ended; 0 before the first end.
  private(set) var finishedLine: UInt32 = 0
  /// Of all documents so far.
  private var expandedNodes = 0
  private var expandedBytes = 0
  /// What aliases have added to what is written.
  private(set) var aliased = AliasExpansion()
  private var holdsRemarkableScalars = false
  private var holdsHighText = false
  var collisions = KeyCollisions()
  private let lineStarts: [Int]

  init(text: SourceText, sink: DiagnosticSink) {
    self.text = text
    self.sink = sink
    lineStarts = text.hasForeignLineEnds ? Self.lineStarts(of: text.bytes) : []
  }

  mutating func beginDocument(_ events: borrowing YAMLEvents) {
    documents += 1
    if documents > YAMLStream.Limits.documents {
      hasGivenUp = true
      sink.report(
        .tooManyNodes, at: position(events.start, events.end),
        "the file has more than \(YAMLStream.Limits.documents) documents")
    }
    nodes = []
    // A key or a value takes some 24 bytes of text. Most files are one document; the others grow as they need.
    if documents == 1 { nodes.reserveCapacity(min(text.bytes.count / 24 + 16, YAMLStream.Limits.nodes)) }
    arena = []
    frames = []
    anchors = [:]
    holdsRemarkableScalars = false
    holdsHighText = false
  }

  mutating func endDocument(_ events: borrowing YAMLEvents) -> NodeTree {
    defer { nodes = [] }
    finishedLine = position(events.start, events.end).line
    if nodes.capacity > 2 * nodes.count + 16 { nodes = ContiguousArray(nodes[...]) }
    return NodeTree(
      nodes: nodes, source: text.bytes, text: arena, holdsRemarkableScalars: holdsRemarkableScalars,
      holdsHighText: holdsHighText)
  }

  // MARK: Positions

  // libyaml also counts U+0085, U+2028 and U+2029 as line ends; where they occur, places are counted anew from LF alone.
  private static func lineStarts(of bytes: [UInt8]) -> [Int] {
    var starts = [0]
    var index = 0
    for byte in bytes where byte & 0xC0 != 0x80 {
      index += 1
      if byte == UInt8(ascii: "\n") { starts.append(index) }
    }
    return starts
  }

  @inline(__always)
  func position(_ start: YAMLEvents.Mark, _ end: YAMLEvents.Mark) -> SourcePosition {
    if !lineStarts.isEmpty { return recounted(start.index) }
    return SourcePosition(
      line: UInt32(truncatingIfNeeded: start.line + 1), column: UInt32(truncatingIfNeeded: start.column + 1),
      length: start.line == end.line ? UInt32(truncatingIfNeeded: end.column - start.column) : 0)
  }

  private func recounted(_ index: Int) -> SourcePosition {
    var low = 0
    var high = lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= index { low = middle } else { high = middle }
    }
    return SourcePosition(line: UInt32(low + 1), column: UInt32(index - lineStarts[low] + 1))
  }

  // MARK: Nodes

  @inline(__always)
  private mutating func append(_ node: Node) {
    let index = nodes.count
    nodes.append(node)
    expandedNodes += 1
    guard !frames.isEmpty else { return }
    let top = frames.count - 1
    let last = frames[top].last
    if last == 0 {
      nodes[frames[top].node].offset = UInt32(truncatingIfNeeded: index)
    } else {
      nodes[last].next = UInt32(truncatingIfNeeded: index)
    }
    if frames[top].expectsKey { frames[top].key = index }
    frames[top].last = index
    frames[top].count &+= 1
    if expandedNodes > YAMLStream.Limits.nodes { giveUpOnNodes(node.position) }
  }

  private mutating func giveUpOnNodes(_ position: SourcePosition) {
    guard !hasGivenUp else { return }
    hasGivenUp = true
    sink.report(
      .tooManyNodes, at: position,
      "the file has more than \(YAMLStream.Limits.nodes) values once its aliases are expanded")
  }

  /// Counts what one alias stands for. Each number is below its limit before, so no sum can overflow.
  private mutating func count(_ anchor: Anchor, at position: SourcePosition) {
    expandedNodes += anchor.expandedNodes - 1
    expandedBytes += anchor.expandedBytes
    aliased.nodes += anchor.expandedNodes - 1
    aliased.bytes += anchor.expandedBytes
    guard let excess = aliased.excess, !hasGivenUp else { return }
    hasGivenUp = true
    sink.report(.aliasExpansion, at: position, "the aliases of the file stand for more than \(excess)")
  }

  private var expectsKey: Bool {
    @inline(__always) get { frames.last?.expectsKey ?? false }
  }

  @inline(__always)
  mutating func scalar(_ events: borrowing YAMLEvents, in source: UnsafeBufferPointer<UInt8>) {
    let scalar = events.scalar
    let (start, end) = (events.start, events.end)
    var node = Node(kind: .string, position: position(start, end))
    let length = scalar.text.count
    node.length = UInt32(truncatingIfNeeded: length)
    if let place = Self.place(of: scalar, start, end, in: source, isASCII: text.isASCII) {
      node.offset = UInt32(truncatingIfNeeded: place)
      node.flags = .inSource
    } else {
      node.offset = UInt32(truncatingIfNeeded: arena.count)
      arena.append(contentsOf: scalar.text)
      if !holdsHighText && CanonicalSpelling.holdsHighBytes(scalar.text) { holdsHighText = true }
    }
    expandedBytes += length
    let isKey = expectsKey
    if let tag = scalar.tag {
      resolve(tag: String(cString: tag), text: scalar.text, &node)
    } else if scalar.isPlain {
      let resolution = PlainScalar.resolve(scalar.text)
      node.kind = resolution.kind
      node.flags.formUnion(resolution.flags.union(.plain))
    }
    if let anchor = scalar.anchor { anchors[String(cString: anchor)] = Anchor(node: node, expandedBytes: length) }
    if isKey {
      checkKey(&node, text: scalar.text)
    } else if !node.flags.isDisjoint(with: .remarkable) {
      holdsRemarkableScalars = true
    }
    append(node)
  }

  /// Where the scalar's text stands in the source as it is: plain or quoted, on one line, without escapes.
  @inline(__always)
  private static func place(
    of scalar: YAMLEvents.Scalar, _ start: YAMLEvents.Mark, _ end: YAMLEvents.Mark,
    in source: UnsafeBufferPointer<UInt8>, isASCII: Bool
  ) -> Int? {
    guard isASCII, start.line == end.line, let base = source.baseAddress, let text = scalar.text.baseAddress else {
      return nil
    }
    let quotes = scalar.isPlain ? 0 : 1
    let length = scalar.text.count
    guard end.index - start.index == length + 2 * quotes,
      UnsafeRawBufferPointer(start: base + start.index + quotes, count: length)
        .elementsEqual(bytesAt: text)
    else { return nil }
    return start.index + quotes
  }

  /// What keys must be: text, in its written spelling whatever it looks like.
  @inline(__always)
  private mutating func checkKey(_ node: inout Node, text: UnsafeRawBufferPointer) {
    if node.kind == .null && node.flags.contains(.plain) {
      node.flags.insert(.faulty)
      sink.report(.keyNotString, at: node.position, "a key can't be null")
    } else if node.flags.contains(.plain) && text.count == 2 && text[0] == 0x3C && text[1] == 0x3C {
      node.flags.insert(.faulty)
      sink.report(.mergeKey, at: node.position, "merge keys ('<<') are not part of the language")
    }
    node.kind = .string
    node.flags.subtract(.remarkable)
  }

  mutating func begin(_ kind: NodeTree.Kind, _ events: borrowing YAMLEvents) {
    let (tag, anchor) = events.collection
    var node = Node(kind: kind, position: position(events.start, events.end))
    if expectsKey {
      node.flags.insert(.faulty)
      sink.report(
        .keyNotString, at: node.position, "a key can't be a \(kind == .mapping ? "mapping" : "list")",
        hint: "put a text that begins with '\(kind == .mapping ? "{" : "[")' in quotes")
    }
    if let tag { check(collectionTag: String(cString: tag), &node) }
    if frames.count == YAMLStream.Limits.depth {
      hasGivenUp = true
      sink.report(
        .nestingTooDeep, at: node.position, "lists and mappings are nested more than \(YAMLStream.Limits.depth) deep")
      return
    }
    let before = expandedNodes
    append(node)
    var frame = Frame(
      node: nodes.count - 1, isMapping: kind == .mapping, nodesBefore: before, bytesBefore: expandedBytes,
      deepest: frames.count + 1)
    if let anchor {
      frame.anchor = String(cString: anchor)
      anchors[frame.anchor!] = Anchor(node: nil)
    }
    frames.append(frame)
  }

  mutating func end() {
    guard let frame = frames.popLast() else { return }
    nodes[frame.node].length = frame.count
    if frame.isMapping && frame.count > 2 { reportCollisions(in: frame) }
    if frame.isMapping && holdsHighText { reportSpellings(in: frame) }
    if let top = frames.indices.last { frames[top].deepest = max(frames[top].deepest, frame.deepest) }
    if let anchor = frame.anchor {
      anchors[anchor] = Anchor(
        node: nodes[frame.node], expandedNodes: expandedNodes - frame.nodesBefore,
        expandedBytes: expandedBytes - frame.bytesBefore,
        height: frame.deepest - frames.count)
    }
  }

  mutating func alias(_ events: borrowing YAMLEvents) {
    let name = events.aliasName
    let place = position(events.start, events.end)
    var node = Node(kind: .string, flags: .faulty, position: place)
    if let anchor = anchors[name] {
      if let target = anchor.node {
        node = target
        node.next = 0
        (node.line, node.column, node.extent) = (place.line, place.column, place.length)
        // The text of an alias is written elsewhere; that it may be meant as a string still holds.
        if expectsKey {
          if node.kind == .mapping || node.kind == .sequence {
            node.flags.insert(.faulty)
            sink.report(.keyNotString, at: place, "a key can't be a list or a mapping, nor an alias of one")
          } else {
            checkKey(&node, text: UnsafeRawBufferPointer(start: nil, count: 0))
          }
        }
        count(anchor, at: place)
        if hasGivenUp { return }
        let depth = frames.count + anchor.height
        if depth > YAMLStream.Limits.depth {
          hasGivenUp = true
          sink.report(
            .nestingTooDeep, at: place,
            "with this alias, lists and mappings are nested more than \(YAMLStream.Limits.depth) deep")
          return
        }
        if let top = frames.indices.last { frames[top].deepest = max(frames[top].deepest, depth) }
      } else {
        sink.report(.recursiveAlias, at: place, "the alias *\(name.shown) stands inside the value that it means")
      }
    } else {
      sink.report(
        .undefinedAlias, at: place, "there is no anchor &\(name.shown) above for the alias *\(name.shown)",
        hint: "a text that begins with '*' needs quotes: \"*\(name.shown)\"")
    }
    append(node)
  }

  // MARK: Tags

  private static let core = "tag:yaml.org,2002:"

  private mutating func check(collectionTag tag: String, _ node: inout Node) {
    if tag == "!" || tag == Self.core + (node.kind == .mapping ? "map" : "seq") { return }
    node.flags.insert(.faulty)
    report(tag: tag, node.position, kind: node.kind == .mapping ? "a mapping" : "a list")
  }

  private mutating func report(tag: String, _ position: SourcePosition, kind: String) {
    if tag.hasPrefix("!") {
      sink.report(.localTag, at: position, "the local tag \(tag.shown) has no meaning here")
    } else if tag.hasPrefix(Self.core) {
      sink.report(
        .unknownTag, at: position,
        "the tag !!\(tag.dropFirst(Self.core.count).description.shown) can't stand on \(kind)")
    } else {
      sink.report(.unknownTag, at: position, "the tag \(tag.shown) is not known")
    }
  }

  private mutating func resolve(tag: String, text: UnsafeRawBufferPointer, _ node: inout Node) {
    if tag == "!" { return }
    guard tag.hasPrefix(Self.core) else {
      node.flags.insert(.faulty)
      return report(tag: tag, node.position, kind: "a scalar")
    }
    let plain = PlainScalar.resolve(text)
    var problem: (DiagnosticCode, String)?
    switch tag.dropFirst(Self.core.count) {
    case "str": return
    case "int":
      node.kind = .integer
      if plain.kind != .integer { problem = (.invalidTaggedValue, "an integer") }
    case "float":
      node.kind = .real
      if plain.kind != .real && plain.kind != .integer { problem = (.invalidTaggedValue, "a real") }
    case "bool":
      node.kind = .boolean
      if plain.kind != .boolean { problem = (.invalidTaggedValue, "true or false") }
    case "null":
      node.kind = .null
      if plain.kind != .null { problem = (.invalidTaggedValue, "null") }
    case "timestamp":
      node.kind = .date
      if Timestamp(yaml: text) == nil {
        problem = (.invalidTaggedValue, "a date that exists, such as 2026-12-24 or 2026-12-24T23:59:59+01:00")
      }
    case "binary":
      node.kind = .data
      if Base64.decode(text) == nil { problem = (.invalidTaggedValue, "base64") }
    default:
      node.flags.insert(.faulty)
      return report(tag: tag, node.position, kind: "a scalar")
    }
    if let problem {
      node.kind = .string
      node.flags.insert(.faulty)
      let shown = String(decoding: text, as: UTF8.self).shown
      sink.report(
        problem.0, at: node.position,
        "\(shown.isEmpty ? "nothing" : "'\(shown)'") is tagged !!\(tag.dropFirst(Self.core.count)), but is not \(problem.1)"
      )
    } else {
      node.flags.formUnion(plain.flags.intersection(.outOfRange))
    }
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  func elementsEqual(bytesAt other: UnsafeRawPointer) -> Bool {
    let mine = self
    var index = 0
    while index + 8 <= count {
      if mine.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        != other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      {
        return false
      }
      index += 8
    }
    while index < count {
      if mine[index] != other.load(fromByteOffset: index, as: UInt8.self) { return false }
      index += 1
    }
    return true
  }
}
