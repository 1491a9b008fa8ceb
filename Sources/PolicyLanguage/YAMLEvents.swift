import CYAML

/// libyaml's stream of events: the only code that touches libyaml.
///
/// The parser must not move in memory and is therefore allocated. Text that an event points at is valid until the next
/// call of `next`; the bytes that are parsed must outlive the value. Nothing of libyaml's recurses, whatever the input.
struct YAMLEvents: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let event: UnsafeMutablePointer<yaml_event_t>
  private var holdsEvent = false

  /// Begins to parse; the bytes are UTF-8 with LF, without a byte-order mark.
  init(parsing bytes: UnsafeBufferPointer<UInt8>) {
    parser = .allocate(capacity: 1)
    event = .allocate(capacity: 1)
    guard yaml_parser_initialize(parser) != 0 else { fatalError("out of memory") }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  deinit {
    if holdsEvent { yaml_event_delete(event) }
    yaml_parser_delete(parser)
    event.deallocate()
    parser.deallocate()
  }

  /// What libyaml saw next.
  enum Kind {
    case streamStart, streamEnd, documentStart, documentEnd, alias, scalar
    case sequenceStart, sequenceEnd, mappingStart, mappingEnd
  }

  /// A place in the text, counted from 0: characters from the start, line, characters from the line's start.
  struct Mark {
    var index: Int
    var line: Int
    var column: Int

    @inline(__always)
    init(_ mark: yaml_mark_t) {
      index = mark.index
      line = mark.line
      column = mark.column
    }
  }

  struct Scalar {
    var text: UnsafeRawBufferPointer
    var isPlain: Bool
    var tag: UnsafePointer<CChar>?
    var anchor: UnsafePointer<CChar>?
  }

  /// Why parsing can't go on.
  struct Fault: Error {
    enum Stage { case memory, reading, scanning, parsing }
    var stage: Stage
    var problem: String
    var place: Mark
    /// What was being read when the problem was noticed, and where that began.
    var context: String?
    var contextPlace: Mark
    /// For `reading`: the byte at which the text stops being text.
    var offset: Int
  }

  @inline(__always)
  mutating func next() throws(Fault) -> Kind {
    if holdsEvent { yaml_event_delete(event) }
    holdsEvent = false
    guard yaml_parser_parse(parser, event) != 0 else { throw fault() }
    holdsEvent = true
    switch event.pointee.type {
    case YAML_SCALAR_EVENT: return .scalar
    case YAML_MAPPING_START_EVENT: return .mappingStart
    case YAML_MAPPING_END_EVENT: return .mappingEnd
    case YAML_SEQUENCE_START_EVENT: return .sequenceStart
    case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
    case YAML_ALIAS_EVENT: return .alias
    case YAML_DOCUMENT_START_EVENT: return .documentStart
    case YAML_DOCUMENT_END_EVENT: return .documentEnd
    case YAML_STREAM_START_EVENT: return .streamStart
    default: return .streamEnd
    }
  }

  var start: Mark {
    @inline(__always) get { Mark(event.pointee.start_mark) }
  }

  var end: Mark {
    @inline(__always) get { Mark(event.pointee.end_mark) }
  }

  /// The event's scalar; only after `next` gave `scalar`.
  var scalar: Scalar {
    @inline(__always) get {
      let data = event.pointee.data.scalar
      return Scalar(
        text: UnsafeRawBufferPointer(start: data.value, count: data.length),
        isPlain: data.style == YAML_PLAIN_SCALAR_STYLE,
        tag: Self.text(data.tag), anchor: Self.text(data.anchor))
    }
  }

  /// Tag and anchor of a list or mapping that starts.
  var collection: (tag: UnsafePointer<CChar>?, anchor: UnsafePointer<CChar>?) {
    if event.pointee.type == YAML_MAPPING_START_EVENT {
      let data = event.pointee.data.mapping_start
      return (Self.text(data.tag), Self.text(data.anchor))
    }
    let data = event.pointee.data.sequence_start
    return (Self.text(data.tag), Self.text(data.anchor))
  }

  /// The name that an alias uses.
  var aliasName: String { String(cString: event.pointee.data.alias.anchor) }

  @inline(__always)
  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> UnsafePointer<CChar>? {
    guard let pointer else { return nil }
    return UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self)
  }

  private func fault() -> Fault {
    let state = parser.pointee
    let stage: Fault.Stage
    switch state.error {
    case YAML_MEMORY_ERROR: stage = .memory
    case YAML_READER_ERROR: stage = .reading
    case YAML_SCANNER_ERROR: stage = .scanning
    default: stage = .parsing
    }
    return Fault(
      stage: stage, problem: state.problem.map { String(cString: $0) } ?? "out of memory",
      place: Mark(state.problem_mark), context: state.context.map { String(cString: $0) },
      contextPlace: Mark(state.context_mark), offset: state.problem_offset)
  }
}
