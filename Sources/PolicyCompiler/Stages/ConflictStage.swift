import ForcedDomain
import PolicyLanguage
import PropertyList

/// The stage `conflicts`: nothing may be left to chance.
///
/// The law (rule 1 of the policy language): two entries of one key, one section and one rank that can hold together must
/// agree. `replace` entries agree when their values are the same; a `release` agrees with releases only; `union`
/// entries agree unless they are dictionaries that differ on a key, or of different types. Neither ids, nor names of
/// files and groups, nor any order decides; so where entries don't agree, the tree is refused, both places named.
enum ConflictStage {
  static func run(_ compiler: inout CompilerState) {
    var overlap = Overlap(compiler.inventory)
    let (keyCount, shared) = compiler.entries.grouped()
    compiler.statistics.keys = keyCount
    for group in shared {
      for section in PolicySection.allCases {
        let statements = group.filter { compiler.entries.statements[Int($0)].section == section }
        if statements.count > 1 { check(statements, &overlap, &compiler) }
      }
    }
  }

  /// An entry of the key: a statement under one of its conditions.
  private struct Entry {
    let statement: Int32
    let rank: Rank
    let condition: UInt32
  }

  private static func check(_ statements: [Int32], _ overlap: inout Overlap, _ compiler: inout CompilerState) {
    let first = compiler.entries.statements[Int(statements[0])]
    let agree = statements.dropFirst().allSatisfy {
      ConflictingValues.between(first, compiler.entries.statements[Int($0)], compiler) == nil
    }
    // Unions agree pairwise only, dictionaries may share no key with the first; anything else agrees with its equals.
    if agree && first.action != .union { return }

    var entries: [Entry] = []
    for statement in statements {
      let part = compiler.entries.parts[Int(compiler.entries.statements[Int(statement)].part)]
      for condition in part.conditions {
        entries.append(Entry(statement: statement, rank: part.rank(condition), condition: condition.number))
      }
    }
    entries.sort { $0.rank > $1.rank }  // Stable: statements stay in the order of the sources.
    var conflicts: [Int32: [Int32: Conflict]] = [:]
    var start = 0
    while start < entries.count {
      var end = start + 1
      while end < entries.count && entries[end].rank == entries[start].rank { end += 1 }
      if end - start > 1 { compare(Array(entries[start..<end]), &overlap, compiler, &conflicts) }
      start = end
    }
    if !conflicts.isEmpty { report(statements, conflicts, &overlap, &compiler) }
  }

  /// Two entries that can meet, and what they disagree about.
  private struct Conflict {
    let values: ConflictingValues
    let conditions: (UInt32, UInt32)
  }

  private static func compare(
    _ entries: [Entry], _ overlap: inout Overlap, _ compiler: CompilerState,
    _ conflicts: inout [Int32: [Int32: Conflict]]
  ) {
    for (i, j) in overlap.meetings(of: entries.map(\.condition), in: compiler.entries.conditions) {
      let (a, b) = (entries[i], entries[j])
      guard a.statement != b.statement, conflicts[a.statement]?[b.statement] == nil else { continue }
      let (x, y) = (compiler.entries.statements[Int(a.statement)], compiler.entries.statements[Int(b.statement)])
      guard let values = ConflictingValues.between(x, y, compiler) else { continue }
      conflicts[a.statement, default: [:]][b.statement] = Conflict(
        values: values, conditions: (a.condition, b.condition))
    }
  }

  // MARK: Reporting

  /// One diagnostic for each statement that conflicts with later ones, unless an earlier one has named it already.
  private static func report(
    _ statements: [Int32], _ conflicts: [Int32: [Int32: Conflict]], _ overlap: inout Overlap,
    _ compiler: inout CompilerState
  ) {
    func place(_ statement: Int32) -> (Int, SourcePosition) {
      let statement = compiler.entries.statements[Int(statement)]
      return (compiler.entries.parts[Int(statement.part)].source, compiler.position(of: statement))
    }
    let ordered = statements.map { (statement: $0, place: place($0)) }.sorted { $0.place < $1.place }
    var named: Set<Int32> = []
    for (index, one) in ordered.enumerated() where !named.contains(one.statement) {
      var others: [(statement: Int32, conflict: Conflict)] = []
      for other in ordered[(index + 1)...] {
        guard
          let conflict = conflicts[one.statement]?[other.statement] ?? conflicts[other.statement]?[one.statement]
        else { continue }
        others.append((other.statement, conflict))
        named.insert(other.statement)
      }
      guard !others.isEmpty else { continue }
      let statement = compiler.entries.statements[Int(one.statement)]
      let wording = ConflictWording(key: compiler.key(of: statement), section: statement.section)
      compiler.diagnostics.append(
        Diagnostic(
          .conflict, path: compiler.path(of: statement), at: one.place.1,
          wording.message(others[0].conflict.values),
          hint: wording.hint(
            others.map { compiler.profileID(of: compiler.entries.statements[Int($0.statement)]) },
            with: compiler.profileID(of: statement)),
          related: others.map { other in
            let second = compiler.entries.statements[Int(other.statement)]
            let hosts = overlap.wording(
              other.conflict.conditions.0, other.conflict.conditions.1, in: compiler.entries.conditions)
            return RelatedPosition(
              path: compiler.path(of: second), position: compiler.position(of: second),
              message: wording.note(second.action, after: statement.action) + ", " + hosts)
          }))
    }
  }
}

/// What two statements of one key disagree about.
enum ConflictingValues {
  case values
  case release
  case types
  case dictionaryKey(String)

  /// nil where they agree.
  static func between(_ a: Statement, _ b: Statement, _ compiler: CompilerState) -> ConflictingValues? {
    guard let x = a.value, let y = b.value else { return a.action == b.action ? nil : .release }
    if compiler.writer.areEqual(x, y) { return nil }
    guard a.action == .union, b.action == .union else { return .values }
    switch (decoded(a, compiler), decoded(b, compiler)) {
    case (.array, .array): return nil
    case (.dictionary(let left), .dictionary(let right)):
      return left.keys.filter { right[$0] != nil && right[$0] != left[$0] }.min().map { .dictionaryKey($0) }
    case (let left, let right): return left.type == right.type ? .values : .types
    }
  }

  private static func decoded(_ statement: Statement, _ compiler: CompilerState) -> PropertyListValue {
    guard case .setting(let setting) = statement.origin else { preconditionFailure("a release has no value") }
    return compiler.entries.parts[Int(statement.part)].tree.value(setting.value)
  }
}

/// The words of a conflict.
struct ConflictWording {
  let key: String
  let section: PolicySection

  func message(_ values: ConflictingValues) -> String {
    switch values {
    case .values where section == .recommended: "\(key) is recommended with different values at the same rank"
    case .values: "\(key) is forced to different values at the same rank"
    case .release: "\(key) is forced and released at the same rank"
    case .types: "\(key) gathers values of different types at the same rank"
    case .dictionaryKey(let inner): "\(key) gathers different values for '\(inner)' at the same rank"
    }
  }

  func note(_ action: EntryAction, after first: EntryAction) -> String {
    if action == .release { return "it is released here" }
    return first == .release ? "it is forced here" : "the other value is here"
  }

  /// Nothing where the code's own hint fits: two profiles.
  func hint(_ others: [String], with profile: String) -> String? {
    others.contains(profile)
      ? "make their hosts disjoint, or move one of them to a profile of a higher priority" : nil
  }
}
