/// A whole policy tree, read, decoded and validated.
///
/// With errors among the diagnostics the parts that could be decoded are still here, for tools that show them; nothing
/// may be compiled from them (rule 6).
public struct PolicyTree: Sendable {
  /// Sorted by the bytes of their relative paths.
  public let sources: [SourceText]
  public internal(set) var profiles: [Profile]
  /// The first in order, should there be several (an error).
  public internal(set) var inventory: Inventory?
  public internal(set) var manifests: [Manifest]
  public internal(set) var tests: [PolicyTestCase]
  /// Of reading, decoding and validating; sorted.
  public internal(set) var diagnostics: [Diagnostic]
  /// As they were read, for ``concealing(_:)``.
  var documents: [Concealment.Documents] = []

  public var hasErrors: Bool { diagnostics.hasErrors }

  /// Diagnostics of this tree without values of secret keys.
  ///
  /// - Complexity: O(1) for none, else as for reading the files that they are about.
  public func concealing(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
    if diagnostics.isEmpty { return [] }
    return Concealment(of: documents, paths: Set(diagnostics.map(\.path))).apply(to: diagnostics)
  }

  /// The manifest of a domain, the first in order should there be several (an error).
  public func manifest(of domain: String) -> Manifest? { manifests.first { $0.domain.value == domain } }
}
