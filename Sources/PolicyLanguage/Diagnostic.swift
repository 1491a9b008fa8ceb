/// How bad a mistake is: an error keeps anything from being written, a warning doesn't.
public enum Severity: String, Hashable, Sendable {
  case error, warning
}

/// A second place that a diagnostic is about: the other value of a conflict, the bracket that was never closed.
public struct RelatedPosition: Hashable, Sendable {
  public let path: String
  public let position: SourcePosition
  public let message: String

  public var line: UInt32 { position.line }
  public var column: UInt32 { position.column }
  public var length: UInt32 { position.length }

  public init(path: String, position: SourcePosition, message: String) {
    self.path = path
    self.position = position
    self.message = message
  }
}

/// One mistake, as data: where, how bad, which, in words, and what to do next.
///
/// The text form is ``DiagnosticRenderer``'s. Diagnostics sort by path, line, column and code, so that the same sources
/// give the same report on every machine.
public struct Diagnostic: Hashable, Sendable, Comparable {
  public let path: String
  public let position: SourcePosition
  public let severity: Severity
  public let code: DiagnosticCode
  public internal(set) var message: String
  /// What to do next; nil where the message says it already.
  public internal(set) var hint: String?
  public internal(set) var related: [RelatedPosition]
  /// How much of the source line is shown: it may hold a secret.
  public internal(set) var quotation = Quotation.line

  public var line: UInt32 { position.line }
  public var column: UInt32 { position.column }
  public var length: UInt32 { position.length }

  /// Makes a diagnostic; severity comes from the table of codes, and so does the hint unless one is given.
  public init(
    _ code: DiagnosticCode, path: String, at position: SourcePosition, _ message: String, hint: String? = nil,
    related: [RelatedPosition] = []
  ) {
    let row = code.row
    self.path = path
    self.position = position
    severity = row.severity
    self.code = code
    self.message = message
    self.hint = hint ?? row.hint
    self.related = related
  }

  public static func < (a: Self, b: Self) -> Bool {
    if a.path != b.path { return a.path.utf8.lexicographicallyPrecedes(b.path.utf8) }
    if a.position.line != b.position.line { return a.position.line < b.position.line }
    if a.position.column != b.position.column { return a.position.column < b.position.column }
    if a.code != b.code { return a.code.rawValue < b.code.rawValue }
    if a.message != b.message { return a.message < b.message }
    return a.related.lexicographicallyPrecedes(b.related) { ($0.path, $0.position) < ($1.path, $1.position) }
  }
}

extension [Diagnostic] {
  public var hasErrors: Bool { contains { $0.severity == .error } }

  /// Sorted, and each mistake once: what an alias repeats is one mistake.
  public func sortedForReport() -> [Diagnostic] {
    var result: [Diagnostic] = []
    for diagnostic in sorted() where result.last != diagnostic { result.append(diagnostic) }
    return result
  }
}
