public import PolicyLanguage

/// What became of a tree of policies.
public struct Compilation: Sendable {
  /// The payload of a bundle (a forced domain of the kind `fleet`); nil when there is any error.
  public let payload: [UInt8]?
  /// SHA-256 of the normalised sources, 32 bytes; there with errors too.
  public let sourceDigest: [UInt8]
  /// Everything that was found, sorted by file, line, column and code.
  public let diagnostics: [Diagnostic]
  public let statistics: CompilationStatistics

  public var errorCount: Int { diagnostics.count { $0.severity == .error } }
  public var warningCount: Int { diagnostics.count { $0.severity == .warning } }
}

/// Counts of what a tree holds, for messages.
public struct CompilationStatistics: Sendable, Hashable {
  public var files = 0
  public var profiles = 0
  public var inventories = 0
  public var manifests = 0
  /// Cases of `kind: Tests` documents.
  public var testCases = 0
  /// Keys with at least one entry, each (domain, key) once.
  public var keys = 0
  /// Applications that some profile contains.
  public var containedApplications = 0
  /// Entries of the payload, after items of several classes were divided.
  public var entries = 0

  public init() {}
}
