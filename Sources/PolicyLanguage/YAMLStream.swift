/// One file's documents as node trees, with what is wrong with its text.
///
/// This layer knows YAML and the rules that hold for any document (duplicate keys, tags, aliases, depth); it knows no
/// kinds and no fields. Reading never crashes, never recurses with the input's depth, and is bounded by ``Limits``.
public struct YAMLStream: Sendable {
  /// What a file may take. One table for documentation, decoder and fuzzing.
  public enum Limits {
    /// Bytes of one file, as it lies on the disk.
    public static let fileBytes = 16 << 20
    /// Lists and mappings inside one another; the document's own mapping is level 1.
    public static let depth = 64
    /// Documents of one file.
    public static let documents = 10_000
    /// Nodes of one file once aliases are expanded.
    public static let nodes = 1_000_000
    /// Nodes and bytes of text that all aliases of a tree's files may add to what is written. What is written is
    /// bounded by itself; a few aliases could stand for any amount.
    public static let aliasedNodes = 100_000
    public static let aliasedBytes = 4 << 20
  }

  public let text: SourceText
  /// The documents before a syntax error, if there is one; otherwise all.
  public let documents: [NodeTree]
  /// Unsorted.
  public let diagnostics: [Diagnostic]
  /// The text was YAML to its end (a rule of the language may still be broken).
  public let isComplete: Bool
  /// What its aliases add to what is written.
  let aliased: AliasExpansion

  /// Reads a file's raw bytes: any of the encodings of rule 4.
  public init(bytes: [UInt8], path: String, relativePath: String? = nil) {
    var sink = DiagnosticSink(path: path)
    guard bytes.count <= Limits.fileBytes else {
      text = SourceText(path: path, relativePath: relativePath ?? path, normal: .init(bytes: [], isASCII: true))
      sink.report(.fileTooLarge, at: .start, "the file has \(bytes.count) bytes, more than \(Limits.fileBytes)")
      (documents, diagnostics, isComplete, aliased) = ([], sink.diagnostics, false, .init())
      return
    }
    let (text, fault) = SourceText.reading(bytes, path: path, relativePath: relativePath ?? path)
    self.text = text
    if let fault {
      sink.report(fault.code, at: fault.position, fault.message)
      let shown = sink.diagnostics.map(UnreadPart(text: text).conceal)
      (documents, diagnostics, isComplete, aliased) = ([], shown, false, .init())
      return
    }
    var reader = StreamReader(text: text, sink: sink)
    let isComplete = reader.read()
    self.isComplete = isComplete
    documents = reader.documents
    diagnostics = reader.diagnostics
    aliased = reader.builder.aliased
  }
}

/// What aliases add to what is written: of a file, or of the files of a tree.
struct AliasExpansion: Sendable {
  var nodes = 0
  var bytes = 0

  /// The limit that was passed, in words.
  var excess: String? {
    if nodes > YAMLStream.Limits.aliasedNodes { return "\(YAMLStream.Limits.aliasedNodes) values" }
    if bytes > YAMLStream.Limits.aliasedBytes { return "\(YAMLStream.Limits.aliasedBytes) bytes of text" }
    return nil
  }

  static func += (sum: inout AliasExpansion, other: AliasExpansion) {
    sum.nodes += other.nodes
    sum.bytes += other.bytes
  }
}

/// Walks over the events of a file and hands them to a builder, document after document.
private struct StreamReader {
  let text: SourceText
  var builder: DocumentBuilder
  var documents: [NodeTree] = []
  /// What was not read to its end; nil where all was.
  private var unread: UnreadPart?

  /// What is wrong with the text, and may be shown.
  var diagnostics: [Diagnostic] {
    let all = builder.sink.diagnostics
    return unread.map { all.map($0.conceal) } ?? all
  }

  init(text: SourceText, sink: DiagnosticSink) {
    self.text = text
    builder = DocumentBuilder(text: text, sink: sink)
  }

  mutating func read() -> Bool {
    let bytes = text.bytes
    return bytes.withUnsafeBufferPointer { buffer in
      var events = YAMLEvents(parsing: buffer)
      do throws(YAMLEvents.Fault) {
        while true {
          switch try events.next() {
          case .scalar: builder.scalar(events, in: buffer)
          case .mappingStart: builder.begin(.mapping, events)
          case .sequenceStart: builder.begin(.sequence, events)
          case .mappingEnd, .sequenceEnd: builder.end()
          case .alias: builder.alias(events)
          case .documentStart: builder.beginDocument(events)
          case .documentEnd: documents.append(builder.endDocument(events))
          case .streamStart: break
          case .streamEnd: return true
          }
          if builder.hasGivenUp {
            unread = UnreadPart(of: builder)
            return false
          }
        }
      } catch {
        var unread = UnreadPart(of: builder)
        let fault = SyntaxFault(error, in: text, unread)
        fault.report(to: &builder.sink)
        // Behind a value of several lines it may be one of them.
        if let key = fault.unexpectedKey, builder.nodes.last.map({ $0.extent > 0 }) ?? false { unread.admit(key: key) }
        self.unread = unread
        return false
      }
    }
  }
}
