import ForcedDomain
import HostPatterns
import PolicyLanguage

/// The stage `lay out`: statements become the entries of a payload.
///
/// Everything goes in in the order of the sources, which are sorted by their relative paths, and nothing else: no
/// absolute path, no time, no name of a machine.
enum LayOutStage {
  static func run(_ compiler: inout CompilerState) {
    count(compiler.tree, &compiler.statistics)
    guard !compiler.hasErrors else { return }
    layOutEntries(&compiler)
    compiler.entries.removeStatements()
    compiler.writer.setHostGroups(hostGroups(&compiler))
    compiler.writer.setUserGroups(userGroups(&compiler))
    compiler.writer.setAnnex(Annex.encode(&compiler))
    // Moved out, so that the bytes are made from the only copy of the tables.
    var writer = ForcedDomainWriter(kind: .fleet)
    swap(&writer, &compiler.writer)
    do throws(ForcedDomainError) {
      compiler.payload = try writer.finish(FileStamp())
    } catch {
      compiler.diagnostics.append(
        Diagnostic(
          .payloadTooLarge, path: compiler.tree.sources.first?.path ?? "", at: .start,
          error.description)
      )
    }
  }

  private static func layOutEntries(_ compiler: inout CompilerState) {
    // Statements of one part follow each other: what they share is looked up once.
    var current: UInt32?
    var part: ProfilePart!
    var provenance = ProvenanceReference(file: 0, line: 0, column: 0)
    for index in compiler.entries.statements.indices {
      let statement = compiler.entries.statements[index]
      if statement.part != current {
        current = statement.part
        part = compiler.entries.parts[Int(statement.part)]
        provenance = ProvenanceReference(
          file: compiler.sourceFile(part.source), line: 0, column: 0, reason: part.reason, owner: part.owner,
          ticket: part.ticket)
      }
      let position = compiler.position(of: statement, in: part)
      provenance.line = position.line
      provenance.column = position.column
      for condition in part.conditions {
        compiler.writer.addEntry(
          key: statement.key, section: statement.section, action: statement.action, rank: part.rank(condition),
          condition: condition.number, profile: part.reference, value: statement.value, provenance: provenance)
        compiler.statistics.entries += 1
      }
    }
  }

  private static func count(_ tree: PolicyTree, _ statistics: inout CompilationStatistics) {
    statistics.files = tree.sources.count
    statistics.profiles = tree.profiles.count
    statistics.containedApplications = Set(tree.profiles.flatMap { $0.containers.map(\.domain.value) }).count
    statistics.inventories = tree.inventory == nil ? 0 : 1
    statistics.manifests = tree.manifests.count
    statistics.testCases = tree.tests.count
  }

  /// The host groups that conditions name, in the order of their names.
  private static func hostGroups(_ compiler: inout CompilerState) -> [FlatHostGroup] {
    var names: Set<String> = []
    func collect(_ condition: Condition) {
      for atom in (condition.hosts?.include ?? []) + (condition.hosts?.exclude ?? []) {
        if case .group(let name) = atom { names.insert(name) }
      }
      condition.within.forEach(collect)
    }
    compiler.entries.conditions.forEach(collect)
    var inventory = compiler.inventory
    return names.sorted().map { name in
      FlatHostGroup(name: name, patterns: inventory.hosts(ofGroup: name).map(\.text))
    }
  }

  /// All user groups: a what-if about a user whom no machine knows asks which of them list the name.
  private static func userGroups(_ compiler: inout CompilerState) -> [FlatUserGroup] {
    var names: Set<String> = []
    func collect(_ condition: Condition) {
      for atom in (condition.users?.include ?? []) + (condition.users?.exclude ?? []) {
        if case .group(let name) = atom { names.insert(name) }
      }
      condition.within.forEach(collect)
    }
    compiler.entries.conditions.forEach(collect)
    var inventory = compiler.inventory
    return names.sorted().map { name in
      let members = inventory.users(ofGroup: name)
      return FlatUserGroup(name: name, names: members.names, unixGroups: members.unixGroups)
    }
  }
}
