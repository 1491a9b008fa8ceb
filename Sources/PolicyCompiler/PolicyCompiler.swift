import ForcedDomain
public import PolicyLanguage

/// One step of the compiler, by name.
public struct CompilationStage: Sendable {
  /// As it is spoken of: `rank`, `lay out`.
  public let name: String
  /// What the step makes, in one sentence.
  public let purpose: String
  let run: @Sendable (inout CompilerState) -> Void
}

/// From a tree of policies to the payload of a bundle.
///
/// The law: all or nothing. Every stage adds what it finds wrong to the diagnostics and goes on, so that all mistakes of a
/// tree are reported together; if any of them is an error, there is no payload. The same sources give the same payload,
/// byte for byte, on every machine, whatever its locale, its time zone, the order of its directories or the time.
public enum PolicyCompiler {
  /// The table of contents: what happens to policies, in this order.
  ///
  /// The stages of the language have run when a tree is there (`PolicyTreeLoader`); here they contribute what they found.
  public static let stages: [CompilationStage] = [
    CompilationStage(name: "parse", purpose: "YAML text becomes nodes with positions.") { _ in },
    CompilationStage(name: "decode", purpose: "Nodes become profiles, inventories, manifests and tests.") { _ in },
    CompilationStage(name: "validate", purpose: "The tree is held against the rules as a whole.") {
      $0.diagnostics += $0.tree.diagnostics
    },
    CompilationStage(name: "rank", purpose: "Each line of policy becomes entries with a condition and a rank.") {
      RankStage.run(&$0)
    },
    CompilationStage(name: "conflicts", purpose: "No two entries may leave the answer to chance.") {
      ConflictStage.run(&$0)
    },
    CompilationStage(name: "lay out", purpose: "Entries become the bytes that hosts read.") { LayOutStage.run(&$0) },
    CompilationStage(name: "seal", purpose: "The sources get the digest that the envelope states.") {
      SealStage.run(&$0)
    },
  ]

  /// Compiles a tree.
  ///
  /// - Complexity: O(text of the sources), however many hosts a range or a group stands for; keys with several entries
  ///   of one rank are compared pairwise where their hosts begin alike.
  public static func compile(_ tree: PolicyTree) -> Compilation {
    var state = CompilerState(tree)
    for stage in stages { stage.run(&state) }
    return Compilation(
      payload: state.hasErrors ? nil : state.payload, sourceDigest: state.sourceDigest,
      diagnostics: tree.concealing(state.diagnostics).sortedForReport(), statistics: state.statistics)
  }

  /// The digest that a compilation of this tree states: to learn whether sources match what is installed, nothing needs
  /// to be compiled.
  public static func sourceDigest(of tree: PolicyTree) -> [UInt8] { SealStage.digest(of: tree.sources) }
}
