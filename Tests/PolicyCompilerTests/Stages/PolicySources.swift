import PolicyCompiler
import PolicyLanguage

/// Small policy trees, as text.
enum PolicySources {
  /// Compiles files given by relative path.
  static func compile(_ files: [String: String]) -> (compilation: Compilation, tree: PolicyTree) {
    compile(files.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  /// Compiles files in the order in which they are listed.
  static func compile(_ files: [(path: String, text: String)]) -> (compilation: Compilation, tree: PolicyTree) {
    let tree = PolicyTreeLoader.load(
      sources: files.map { (path: $0.path, bytes: Array($0.text.utf8)) }, now: now)
    return (PolicyCompiler.compile(tree), tree)
  }

  /// The diagnostics as `policyctl check` prints them.
  static func report(_ files: [String: String]) -> String {
    let (compilation, tree) = compile(files)
    return DiagnosticRenderer(sources: tree.sources).render(compilation.diagnostics)
  }

  /// 2026-11-30T00:00:00Z.
  static let now: Int64 = 1_795_996_800

  /// A profile with one forced string in one domain.
  static func profile(
    _ id: String, priority: Int = 0, applies: String = "", key: String = "HomePage", value: String
  ) -> String {
    """
    version: 1
    kind: Profile
    id: org.example.\(id)
    title: \(id)
    priority: \(priority)
    \(applies.isEmpty ? "" : "applies: \(applies)\n")forced:
      org.example.Browser:
        \(key): \(value)

    """
  }

  /// Two rooms of thirty machines, and groups of both kinds.
  static func inventory(unknownHosts: String = "refuse") -> String {
    """
    version: 1
    kind: Inventory
    unknownHosts: \(unknownHosts)
    hosts:
      groups:
        lab-a: {names: ["lab-a-[01-30]"]}
        lab-b: {names: ["lab-b-[01-30]"]}
        labs: {groups: [lab-a, lab-b]}
        projectors: {names: [lab-a-07, lab-b-07]}
    users:
      groups:
        students: {unixGroups: [students]}
        teachers: {names: [miller], unixGroups: [staff]}
        staff: {groups: [teachers]}
        pair: {names: [ada, grace]}
        trio: {names: [joan, mary, ruth]}

    """
  }
}
