import ForcedDomain
import PolicyLanguage
import PropertyList

/// The stage `rank`: every line of policy becomes a statement with a condition and a rank.
///
/// No text is made here for a key or a string: their bytes go from the tree straight to the writer.
enum RankStage {
  static func run(_ compiler: inout CompilerState) {
    compiler.entries.reserve(compiler.settingCount)
    compiler.writer.reserve(keys: compiler.settingCount, entries: compiler.settingCount)
    let unions = UnionKeys(compiler.tree.manifests)
    for index in compiler.tree.profiles.indices { rank(profile: index, unions, &compiler) }
    UnreachableParts.report(&compiler)
  }

  private static func rank(profile index: Int, _ unions: UnionKeys, _ compiler: inout CompilerState) {
    let profile = compiler.tree.profiles[index]
    let own = compiler.addPart(
      profile: index, isOverride: false, compiler.scopes.conditions(of: profile.applies), reason: nil, owner: nil,
      ticket: nil)
    rank(profile.forced, .forced, of: profile, part: own, unions, &compiler)
    rank(profile.recommended, .recommended, of: profile, part: own, unions, &compiler)
    rank(profile.release, part: own, &compiler)
    for override in profile.overrides {
      let conditions = compiler.scopes.conditions(
        of: override.scope, inside: profile.applies, notAfter: (override.expires?.value).map(\.firstUnixSecondNotBefore)
      )
      let part = compiler.addPart(
        profile: index, isOverride: true, conditions, reason: override.reason, owner: override.owner,
        ticket: override.ticket)
      rank(override.forced, .forced, of: profile, part: part, unions, &compiler)
      rank(override.recommended, .recommended, of: profile, part: part, unions, &compiler)
      rank(override.release, part: part, &compiler)
    }
    for exemption in profile.exemptions { rank(exemption, of: index, &compiler) }
  }

  private static func rank(
    _ domains: [DomainSettings], _ section: PolicySection, of profile: Profile, part: UInt32, _ unions: UnionKeys,
    _ compiler: inout CompilerState
  ) {
    let tree = profile.tree
    for domain in domains {
      let number = compiler.writer.addDomain(domain.domain.value)
      let unionKeys = unions.keys(ofDomain: domain.domain.value)
      let secretKeys = compiler.tree.hasErrors ? secretKeys(ofDomain: domain.domain.value, compiler.tree) : []
      for setting in domain.settings {
        // That a secret has a value was reported; a conflict about it would show the value's line.
        if !secretKeys.isEmpty && secretKeys.contains(tree.string(setting.key)) { continue }
        guard let value = value(of: setting.value, tree, &compiler.writer) else { continue }
        let key = tree.withUTF8(setting.key) { compiler.writer.addKey(domain: number, key: $0) }
        let isUnion = !unionKeys.isEmpty && unionKeys.contains(tree.string(setting.key))
        compiler.entries.append(
          Statement(
            key: key, part: part, action: isUnion ? .union : .replace, section: section, value: value,
            origin: .setting(setting)))
      }
    }
  }

  private static func secretKeys(ofDomain domain: String, _ tree: PolicyTree) -> Set<String> {
    Set(tree.manifest(of: domain)?.keys.filter(\.isSecret).map(\.name.value) ?? [])
  }

  private static func rank(_ releases: [DomainKeys], part: UInt32, _ compiler: inout CompilerState) {
    for release in releases {
      let domain = compiler.writer.addDomain(release.domain.value)
      for key in release.keys {
        let number = compiler.writer.addKey(domain: domain, key: key.value)
        compiler.entries.append(releaseOf: key, number: number, part: part)
      }
    }
  }

  /// Rule 11: an exemption releases the keys of its control at the rank of a literal host override of its own profile.
  private static func rank(_ exemption: Exemption, of index: Int, _ compiler: inout CompilerState) {
    let profile = compiler.tree.profiles[index]
    let name = exemption.control.value
    guard
      let control = profile.controls.first(where: { $0.id.value == name })
        ?? compiler.tree.profiles.lazy.flatMap(\.controls).first(where: { $0.id.value == name })
    else { return }  // Reported when the tree was validated.
    let conditions = compiler.scopes.conditions(
      of: exemption.scope, inside: profile.applies, notAfter: exemption.expires.value.firstUnixSecondNotBefore)
    let part = compiler.addPart(
      profile: index, isOverride: true, hostClass: .name, conditions, reason: exemption.reason, owner: exemption.owner,
      ticket: nil)
    var seen: Set<UInt32> = []
    for expectation in control.expectations {
      let domain = compiler.writer.addDomain(expectation.domain.value)
      let key = compiler.writer.addKey(domain: domain, key: expectation.key.value)
      guard seen.insert(key).inserted else { continue }
      compiler.entries.append(
        releaseOf: Located(expectation.key.value, at: exemption.position), number: key, part: part)
    }
  }

  /// A value, handed to the writer; nil for a null or an unusable node, which is an error that was reported.
  private static func value(
    of node: NodeID, _ tree: NodeTree, _ writer: inout ForcedDomainWriter
  ) -> ValueReference? {
    switch tree.kind(node) {
    case .string: tree.withUTF8(node) { writer.addString($0) }
    case .integer: .integer(tree.integer(node))
    case .boolean: .boolean(tree.boolean(node))
    case .real: .real(tree.real(node))
    case .date: .date(tree.date(node))
    case .data: writer.addValue(.data(tree.data(node)))
    case .mapping, .sequence: writer.addValue(tree.value(node))
    case .null: nil
    }
  }
}

/// Which keys gather the values of several entries, as manifests say.
struct UnionKeys {
  private var domains: [String: Set<String>] = [:]

  init(_ manifests: [Manifest]) {
    for manifest in manifests {
      let keys = manifest.keys.filter { $0.merge == .union }.map(\.name.value)
      if !keys.isEmpty { domains[manifest.domain.value] = Set(keys) }
    }
  }

  func keys(ofDomain domain: String) -> Set<String> { domains[domain] ?? [] }
}
