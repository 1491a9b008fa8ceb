import PropertyList

/// libyaml's complaints in an administrator's words: where, where it began, and what to write instead.
struct SyntaxFault {
  private let fault: YAMLEvents.Fault
  private let text: SourceText
  private let unread: UnreadPart

  /// - Parameter unread: what may be shown of the text.
  init(_ fault: YAMLEvents.Fault, in text: SourceText, _ unread: UnreadPart) {
    self.fault = fault
    self.text = text
    self.unread = unread
  }

  func report(to sink: inout DiagnosticSink) {
    switch fault.stage {
    case .memory:
      sink.report(.syntax, at: .start, "not enough memory to read this file")
    case .reading:
      sink.report(
        .controlCharacter, at: text.position(ofByte: fault.offset),
        "byte \(fault.offset) begins a character that YAML does not allow")
    case .scanning, .parsing:
      if let tab = indentingTab {
        sink.report(.tabIndentation, at: tab, "a tab can't indent YAML; use spaces")
      } else {
        // Of these two libyaml says where it noticed; the mistake is where it began.
        let isAtContext = fault.problem == Self.missingName || fault.problem == Self.missingColon
        var related: [RelatedPosition] = []
        if !isAtContext, let place = contextPosition { related = [sink.related(place, contextMessage)] }
        sink.report(
          .syntax, at: position(isAtContext ? fault.contextPlace : fault.place), message, hint: hint, related: related)
      }
    }
  }

  // MARK: Places

  /// The key that stands where none was expected: the reader took it for one.
  var unexpectedKey: SourcePosition? {
    guard fault.problem == "did not find expected key", fault.context == "while parsing a block mapping" else {
      return nil
    }
    let rest = text.bytes[byteOffset(ofCharacter: fault.place.index)...]
    let word = rest.prefix { 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 | 0x20 || "_.-".utf8.contains($0) }
    let end = rest[word.endIndex...].prefix(2)
    guard !word.isEmpty, end.first == UInt8(ascii: ":"), end.count == 1 || end.last == 0x20 || end.last == 0x0A
    else { return nil }
    var place = position(fault.place)
    place.length = UInt32(word.count)
    return place
  }

  private func position(_ mark: YAMLEvents.Mark) -> SourcePosition {
    if text.hasForeignLineEnds { return text.position(ofByte: byteOffset(ofCharacter: mark.index)) }
    return SourcePosition(line: UInt32(mark.line + 1), column: UInt32(mark.column + 1), length: 1)
  }

  private func byteOffset(ofCharacter index: Int) -> Int {
    if text.isASCII { return min(index, text.bytes.count) }
    var characters = 0
    for (offset, byte) in text.bytes.enumerated() where byte & 0xC0 != 0x80 {
      if characters == index { return offset }
      characters += 1
    }
    return text.bytes.count
  }

  private var contextPosition: SourcePosition? {
    guard let context = fault.context, fault.contextPlace.index != fault.place.index,
      context != "while scanning for the next token"
    else { return nil }
    return position(fault.contextPlace)
  }

  private func byte(at mark: YAMLEvents.Mark) -> UInt8? {
    let offset = byteOffset(ofCharacter: mark.index)
    return offset < text.bytes.count ? text.bytes[offset] : nil
  }

  /// A tab in the white space that begins the line of the problem, or at the problem itself.
  private var indentingTab: SourcePosition? {
    let place = position(fault.place)
    for line in [place.line, place.line &- 1] where line > 0 {
      guard let bytes = text.line(line) else { continue }
      for (index, byte) in bytes.enumerated() {
        if byte == UInt8(ascii: "\t") {
          let here = SourcePosition(line: line, column: UInt32(index + 1), length: 1)
          // A tab on the line before explains the problem only where the problem is the line's own start.
          return line == place.line || fault.problem.contains(bytesOf: "expected") ? here : nil
        }
        if byte != UInt8(ascii: " ") { break }
      }
      if byte(at: fault.place) == UInt8(ascii: "\t") { return place }
    }
    return nil
  }

  // MARK: Words

  private static let missingName = "did not find expected alphabetic or numeric character"
  private static let missingColon = "could not find expected ':'"

  private var isFlowSequence: Bool { fault.context == "while parsing a flow sequence" }
  private var isFlowMapping: Bool { fault.context == "while parsing a flow mapping" }
  private var isQuoted: Bool { fault.context == "while scanning a quoted scalar" }
  private var isAtEnd: Bool { byteOffset(ofCharacter: fault.place.index) >= text.bytes.count }

  private var message: String {
    if isFlowSequence && fault.problem == "did not find expected ',' or ']'" {
      return isAtEnd ? "'[' is never closed" : "expected ',' or ']' in the list that was opened with '['"
    }
    if isFlowMapping && fault.problem == "did not find expected ',' or '}'" {
      return isAtEnd ? "'{' is never closed" : "expected ',' or '}' in the mapping that was opened with '{'"
    }
    if isQuoted && fault.problem == "found unexpected end of stream" { return "the quotes are never closed" }
    switch fault.problem {
    case Self.missingName:
      return fault.context == "while scanning an anchor"
        ? "'&' begins an anchor, which needs a name" : "'*' begins an alias, which needs a name"
    case Self.missingColon: return "this line has no ':' between a key and its value"
    case "mapping values are not allowed in this context": return "a ':' can't stand here"
    case "found character that cannot start any token": return "no value can begin with \(quotedCharacter)"
    case "did not find expected key": return "expected a key here, at the depth of the keys above"
    case "did not find expected '-' indicator": return "expected '-' here, at the depth of the items above"
    case "did not find expected node content": return "expected a value here"
    case "found incompatible YAML document": return "YAML is read in versions 1.1 and 1.2 only"
    case "found undefined tag handle": return "the tag's handle was not declared"
    case "found duplicate %YAML directive": return "a document has one %YAML directive only"
    case "found unexpected end of stream": return "the file ends in the middle of this"
    case "block sequence entries are not allowed in this context": return "a '-' item can't stand here"
    default: return fault.problem
    }
  }

  private var contextMessage: String {
    if isFlowSequence { return "the list is opened here" }
    if isFlowMapping { return "the mapping is opened here" }
    if isQuoted { return "the quotes are opened here" }
    switch fault.context {
    case "while parsing a block mapping": return "the mapping begins here"
    case "while parsing a block collection": return "the list begins here"
    case "while scanning a simple key": return "the key would be here"
    case "while scanning a block scalar": return "the block of text begins here"
    case let context?: return "\(context.hasPrefix("while ") ? String(context.dropFirst(6)) : context) here"
    case nil: return ""
    }
  }

  private var quotedCharacter: String {
    guard let byte = byte(at: fault.place), byte > 0x20, byte < 0x7F else { return "this character" }
    return "'\(Unicode.Scalar(byte))'"
  }

  private var hint: String? {
    let problem = fault.problem
    if problem == Self.missingName {
      return "put a text that begins with '*' or '&' in quotes" + example { word(at: fault.contextPlace) }
    }
    if isFlowSequence && problem == "did not find expected ',' or ']'" {
      if byte(at: fault.place) == UInt8(ascii: "[") {
        return "put a text with brackets in quotes"
          + example { word(at: wordStart(before: fault.place), throughBrackets: true) }
      }
      return "close the list with ']'; put a text with brackets in quotes"
    }
    if problem == "found character that cannot start any token" {
      return "put the text in quotes"
    }
    if problem == "mapping values are not allowed in this context" {
      return "put a text that contains ': ' in quotes, or check the indentation"
    }
    if problem == Self.missingColon { return "write `key: value`" }
    if isFlowMapping { return "close the mapping with '}'" }
    if isQuoted { return "close the quotes" }
    if problem == "did not find expected key" { return "check the indentation of this line and of those above" }
    return nil
  }

  /// How the text would be written, where it may be shown.
  private func example(_ word: () -> String) -> String {
    unread.quotation(at: position(fault.place)) == .line ? ": \"\(word())\"" : ""
  }

  private func wordStart(before mark: YAMLEvents.Mark) -> YAMLEvents.Mark {
    var mark = mark
    let bytes = text.bytes
    var offset = byteOffset(ofCharacter: mark.index)
    while offset > 0, !isWordEnd(bytes[offset - 1], inBrackets: false) {
      offset -= 1
      if bytes[offset] & 0xC0 != 0x80 { mark.index -= 1 }
    }
    return mark
  }

  private func isWordEnd(_ byte: UInt8, inBrackets: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "}"),
      UInt8(ascii: "{"), UInt8(ascii: "\""):
      true
    case UInt8(ascii: "["), UInt8(ascii: "]"): !inBrackets
    default: false
    }
  }

  /// The text that was meant: up to a blank, a comma or a closing bracket.
  private func word(at mark: YAMLEvents.Mark, throughBrackets: Bool = false) -> String {
    var end = byteOffset(ofCharacter: mark.index)
    let start = end
    let bytes = text.bytes
    var open = 0
    while end < bytes.count, end - start < 64 {
      if throughBrackets && bytes[end] == UInt8(ascii: "[") {
        open += 1
      } else if throughBrackets && bytes[end] == UInt8(ascii: "]") && open > 0 {
        open -= 1
      } else if isWordEnd(bytes[end], inBrackets: false) {
        break
      }
      end += 1
    }
    return String(decoding: bytes[start..<end], as: UTF8.self).shown
  }
}
