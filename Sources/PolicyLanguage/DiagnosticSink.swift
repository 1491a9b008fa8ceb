/// Gathers the diagnostics of one file, within a bound.
///
/// A file of a million mistakes must not fill the memory: of errors and of warnings the first thousand are kept. Errors
/// are never crowded out by warnings, so a refused tree stays refused.
struct DiagnosticSink {
  static let limit = 1_000

  let path: String
  private(set) var diagnostics: [Diagnostic] = []
  private var errors = 0
  private var warnings = 0

  init(path: String) { self.path = path }

  /// Goes on where another sink of the same file stopped.
  init(path: String, diagnostics: [Diagnostic]) {
    self.path = path
    self.diagnostics = diagnostics
    errors = diagnostics.count { $0.severity == .error }
    warnings = diagnostics.count - errors
  }

  mutating func report(
    _ code: DiagnosticCode, at position: SourcePosition, _ message: @autoclosure () -> String, hint: String? = nil,
    related: [RelatedPosition] = []
  ) {
    let isError = code.row.severity == .error
    if isError { errors += 1 } else { warnings += 1 }
    let count = isError ? errors : warnings
    if count > Self.limit {
      if count == Self.limit + 1 {
        diagnostics.append(
          Diagnostic(
            isError ? .moreErrors : .moreWarnings, path: path, at: position,
            "from here on, further \(isError ? "errors" : "warnings") of this file are not shown"))
      }
      return
    }
    diagnostics.append(Diagnostic(code, path: path, at: position, message(), hint: hint, related: related))
  }

  func related(_ position: SourcePosition, _ message: String) -> RelatedPosition {
    RelatedPosition(path: path, position: position, message: message)
  }
}

extension String {
  /// The text as messages show it: on one line, no control or direction-changing characters, shortened.
  var shown: String {
    var result = ""
    var count = 0
    for scalar in unicodeScalars {
      if count == 80 { return result + "…" }
      count += 1
      if scalar.isUnsafeToPrint {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// Control characters and those that change the direction or the lines of a terminal's text.
  var isUnsafeToPrint: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    case .format: true
    default: false
    }
  }
}
