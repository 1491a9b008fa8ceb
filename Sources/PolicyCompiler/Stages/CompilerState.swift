import ForcedDomain
import PolicyLanguage

/// What the stages hand on to each other.
struct CompilerState {
  let tree: PolicyTree
  var diagnostics: [Diagnostic]
  let inventory: FlatInventory
  var scopes: ScopeLowering
  var writer = ForcedDomainWriter(kind: .fleet)
  var entries = KeyedEntries()
  /// The source files that provenance names, by their place in the tree.
  private var sourceFiles: [Int: UInt32] = [:]
  var payload: [UInt8]?
  var sourceDigest: [UInt8] = []
  var statistics = CompilationStatistics()

  init(_ tree: PolicyTree) {
    self.tree = tree
    diagnostics = []
    inventory = FlatInventory(tree.inventory)
    scopes = ScopeLowering(inventory)
  }

  var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

  /// Settings in all parts of all profiles.
  var settingCount: Int {
    func count(_ domains: [DomainSettings]) -> Int { domains.reduce(0) { $0 + $1.settings.count } }
    return tree.profiles.reduce(0) { total, profile in
      profile.overrides.reduce(total + count(profile.forced) + count(profile.recommended)) {
        $0 + count($1.forced) + count($1.recommended)
      }
    }
  }

  /// Makes a part of a profile known, with its conditions in the writer's table.
  mutating func addPart(
    profile index: Int, isOverride: Bool, hostClass: HostClass? = nil, _ conditions: [RankedCondition],
    reason: Located<String>?, owner: Located<String>?, ticket: Located<String>?
  ) -> UInt32 {
    let profile = tree.profiles[index]
    let reference = writer.addProfile(
      ProfileReference(id: profile.id.value, title: profile.title.value, owner: profile.owner?.value))
    var numbered: [(number: UInt32, hostClass: HostClass, userClass: UserClass)] = []
    for ranked in conditions {
      numbered.append((addCondition(ranked.condition), ranked.hostClass, ranked.userClass))
    }
    return entries.append(
      ProfilePart(
        profile: index, source: profile.source, tree: profile.tree, reference: reference,
        priority: profile.priority.value, isOverride: isOverride,
        hostClass: hostClass, conditions: numbered, reason: text(reason), owner: text(owner), ticket: text(ticket)))
  }

  /// Puts a condition into the writer's table, those around it first.
  mutating func addCondition(_ condition: Condition) -> UInt32 {
    for outer in condition.within { _ = addCondition(outer) }
    let number = writer.addCondition(condition)
    entries.note(condition, number: number)
    return number
  }

  private mutating func text(_ text: Located<String>?) -> UInt32 { text.map { writer.addText($0.value) } ?? 0 }

  /// The number of a source file in the writer.
  mutating func sourceFile(_ index: Int) -> UInt32 {
    if let known = sourceFiles[index] { return known }
    let number = writer.addSourceFile(tree.sources[index].relativePath)
    sourceFiles[index] = number
    return number
  }

  /// Where a statement was written.
  func position(of statement: Statement) -> SourcePosition {
    position(of: statement, in: entries.parts[Int(statement.part)])
  }

  /// Where a statement of a part was written.
  func position(of statement: Statement, in part: ProfilePart) -> SourcePosition {
    switch statement.origin {
    case .setting(let setting): part.tree.position(setting.value)
    case .release(let index): entries.releases[Int(index)].position
    }
  }

  /// The key of a statement, as it was written.
  func key(of statement: Statement) -> String {
    switch statement.origin {
    case .setting(let setting): entries.parts[Int(statement.part)].tree.string(setting.key)
    case .release(let index): entries.releases[Int(index)].value
    }
  }

  /// The id of the profile that a statement stands in.
  func profileID(of statement: Statement) -> String {
    tree.profiles[entries.parts[Int(statement.part)].profile].id.value
  }

  /// The displayed path of the file in which a statement stands.
  func path(of statement: Statement) -> String { tree.sources[entries.parts[Int(statement.part)].source].path }
}
