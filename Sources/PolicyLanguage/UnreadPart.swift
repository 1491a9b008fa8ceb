/// What may be shown of the part of a file that could not be read to its end.
///
/// Which of its keys are secret, and even what is a key and what a value, nobody knows for certain there. Of a line its key is shown, where
/// the reader came to take it for one (or where it is a field of the language), and never what comes after. A line is shown whole only
/// where it is the language's own: it begins with a field that has no value of a preference in it, and whatever follows belongs to that.
struct UnreadPart {
  private let text: SourceText
  /// Lines before it belong to documents that were read whole.
  private let firstLine: UInt32
  private var keys: [UInt32: SourcePosition]
  /// The line that may be shown whole.
  private let ownLine: UInt32?

  /// Of a file that is no text, or too large: nothing was read.
  init(text: SourceText) {
    self.text = text
    firstLine = 0
    keys = [:]
    ownLine = nil
  }

  init(of builder: DocumentBuilder) {
    text = builder.text
    firstLine = builder.finishedLine
    var keys: [UInt32: SourcePosition] = [:]
    PreferenceValues(of: builder.unfinishedTree()).noteFirstKeys(in: &keys)
    self.keys = keys
    ownLine = Self.ownLine(of: builder)
  }

  /// The line of the innermost key, if it is the language's own.
  private static func ownLine(of builder: DocumentBuilder) -> UInt32? {
    let open = builder.frames.filter { $0.isMapping && $0.key != 0 }
    guard let innermost = open.last else { return nil }
    let names = open.map { builder.shownText(builder.nodes[$0.key]) }
    let key = builder.nodes[innermost.key]
    guard PolicySchema.fieldNames.contains(names.last ?? ""), let line = builder.text.line(key.line),
      !names.contains(where: { PreferenceValues.sections.contains($0) || $0 == "keys" })
    else { return nil }
    let scalars = Array(String(decoding: line, as: UTF8.self).unicodeScalars)
    let isInBlocks = open.allSatisfy { frame in
      let node = builder.nodes[frame.node]
      guard let line = builder.text.line(node.line) else { return false }
      let scalars = String(decoding: line, as: UTF8.self).unicodeScalars
      return scalars.dropFirst(Int(node.column) - 1).first != "{"
    }
    if isInBlocks, !scalars.contains("{"), SourceText.onlyMarks(in: line, before: key.column) { return key.line }
    // One `:` behind the key, which is its own: no other key follows.
    let rest = scalars.dropFirst(Int(key.column + key.extent) - 1)
    return key.extent > 0 && rest.count(where: { $0 == ":" }) == 1 ? key.line : nil
  }

  /// A key that the reader came upon last.
  mutating func admit(key: SourcePosition) {
    if keys[key.line] == nil { keys[key.line] = key }
  }

  func contains(_ position: SourcePosition) -> Bool { position.line >= firstLine }

  func quotation(at position: SourcePosition) -> Quotation {
    if position.line == ownLine { return .line }
    guard let line = text.line(position.line) else { return .nothing }
    if let key = keys[position.line] {
      return SourceText.quotation(of: line, keyAt: key.column, length: key.length)
    }
    // A word that stands in the documentation is no secret.
    let start = line.prefix { " -\t".utf8.contains($0) }
    let word = line[start.endIndex...].prefix { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }
    guard line[word.endIndex...].first == UInt8(ascii: ":"),
      PolicySchema.fieldNames.contains(String(decoding: word, as: UTF8.self))
    else { return .nothing }
    return .key(through: UInt32(start.count + word.count))
  }

  /// The diagnostic without what it must not show.
  func conceal(_ diagnostic: Diagnostic) -> Diagnostic {
    guard contains(diagnostic.position), diagnostic.quotation == .line else { return diagnostic }
    var result = diagnostic
    result.quotation = quotation(at: diagnostic.position)
    if result.quotation == .line { return result }
    let isOwn = [.syntax, .tabIndentation, .controlCharacter].contains(diagnostic.code)
    // The words of a syntax error are made to be shown.
    if !isOwn { result.concealValue(of: nil, keepsMessage: UnreadPart.aboutTheFile.contains(diagnostic.code)) }
    return result
  }

  /// Codes about the file as a whole, whose words hold numbers alone.
  private static let aboutTheFile: Set<DiagnosticCode> = [
    .fileTooLarge, .invalidUTF8, .invalidUTF16, .nulByte, .nestingTooDeep, .tooManyNodes, .aliasExpansion, .moreErrors,
    .moreWarnings,
  ]
}

extension DocumentBuilder {
  /// What there is of the document that is being read, as a tree: open mappings get their last value.
  func unfinishedTree() -> NodeTree {
    var nodes = nodes
    for frame in frames where frame.isMapping && frame.count & 1 == 1 {
      let key = nodes[frame.last]
      nodes[frame.last].next = UInt32(truncatingIfNeeded: nodes.count)
      nodes.append(Node(kind: .null, position: key.position))
    }
    return NodeTree(
      nodes: nodes, source: text.bytes, text: arena, holdsRemarkableScalars: false, holdsHighText: false)
  }
}

extension PolicySchema {
  /// The names of all fields of the language.
  static let fieldNames: Set<String> = {
    var names: Set<String> = []
    func add(_ shape: Shape) {
      for field in shape.fields {
        names.insert(field.name)
        add(field.type)
      }
    }
    func add(_ type: FieldType) {
      switch type {
      case .list(let element, _): add(element)
      case .keyed(let element): add(element)
      case .oneOf(let types): types.forEach(add)
      case .mapping(let shape): add(shape)
      default: break
      }
    }
    for kind in kinds { add(kind.shape) }
    return names
  }()
}
