/// One spelling for each name of a tree: names that differ in code points alone are refused.
///
/// Where a name is a key of one mapping, reading the file has found its other spelling already; here are names of
/// several mappings, documents and files. ASCII files cost a look at a flag.
extension TreeValidation {
  /// What a name is a name of: two names are compared only where they could mean the same thing.
  private enum Kind: Hashable {
    case file, domain, control, hostGroup, userGroup, user, unixGroup
    case key(domain: String)
    /// A member of the dictionaries that a key gathers from several profiles.
    case member(domain: String, key: String)

    var description: String {
      switch self {
      case .file: "file"
      case .domain: "domain"
      case .control: "control"
      case .hostGroup: "host group"
      case .userGroup: "user group"
      case .user: "user"
      case .unixGroup: "Unix group"
      case .key: "key"
      case .member: "key of a dictionary"
      }
    }
  }

  private struct Name {
    var kind: Kind
    var text: String
    var source: Int
    var position: SourcePosition
  }

  mutating func checkSpellings() {
    let hasHighText =
      tree.sources.contains { !$0.isASCII || CanonicalSpelling.holdsHighBytes($0.relativePath) }
      || tree.profiles.contains { $0.tree.holdsHighText } || tree.tests.contains { $0.tree.holdsHighText }
      || !tree.manifests.isEmpty || tree.inventory != nil
    guard hasHighText else { return }
    var unusual: [Name] = []
    visitNames(onlyHigh: true) { unusual.append($0) }
    if unusual.isEmpty { return }
    var tables: [Kind: CanonicalSpelling.Table<Name>] = [:]
    for name in unusual {
      if let other = tables[name.kind, default: .init()].insert(name.text, name) { report(name, other.place) }
    }
    guard tables.values.contains(where: \.mayEqualASCII) else { return }
    var found: [(Name, Name)] = []
    visitNames(onlyHigh: false) { name in
      if CanonicalSpelling.holdsHighBytes(name.text) { return }
      if let other = tables[name.kind]?.differing(from: name.text) { found.append((name, other.place)) }
    }
    for (name, other) in found { report(name, other) }
  }

  private mutating func report(_ name: Name, _ other: Name) {
    sinks[name.source].report(
      .lookalikeName, at: name.position,
      "the \(name.kind.description) \(name.text.spelledOut) is also written \(other.text.spelledOut)",
      related: [related(other.source, other.position, "it is here")])
  }

  // MARK: All names

  private func visitNames(onlyHigh: Bool, _ body: (Name) -> Void) {
    let unions = onlyHigh || !tree.manifests.isEmpty ? unionKeys() : [:]
    func visit(_ kind: @autoclosure () -> Kind, _ text: String, _ source: Int, _ position: SourcePosition) {
      if onlyHigh && !CanonicalSpelling.holdsHighBytes(text) { return }
      body(Name(kind: kind(), text: text, source: source, position: position))
    }
    func visit(_ kind: @autoclosure () -> Kind, _ name: Located<String>, _ source: Int) {
      visit(kind(), name.value, source, name.position)
    }
    func visit(_ domains: [DomainSettings], _ document: NodeTree, _ source: Int) {
      for domain in domains {
        visit(.domain, domain.domain, source)
        let united = unions[domain.domain.value] ?? []
        for setting in domain.settings {
          let isWanted = !onlyHigh || document.withUTF8(setting.key, CanonicalSpelling.holdsHighBytes)
          if isWanted {
            visit(
              .key(domain: domain.domain.value), document.string(setting.key), source, document.position(setting.key))
          }
          guard !united.isEmpty, document.kind(setting.value) == .mapping else { continue }
          let key = document.string(setting.key)
          guard united.contains(key) else { continue }
          for (member, _) in document.members(of: setting.value) where !document.isFaulty(member) {
            visit(
              .member(domain: domain.domain.value, key: key), document.string(member), source,
              document.position(member))
          }
        }
      }
    }
    func visit(_ releases: [DomainKeys], _ source: Int) {
      for release in releases {
        visit(.domain, release.domain, source)
        for key in release.keys { visit(.key(domain: release.domain.value), key, source) }
      }
    }
    for (index, source) in tree.sources.enumerated() { visit(.file, source.relativePath, index, .start) }
    if let inventory = tree.inventory {
      for group in inventory.hostGroups {
        for name in [group.name] + group.groups { visit(.hostGroup, name, inventory.source) }
      }
      for group in inventory.userGroups {
        for name in [group.name] + group.groups { visit(.userGroup, name, inventory.source) }
        for name in group.names { visit(.user, name, inventory.source) }
        for name in group.unixGroups { visit(.unixGroup, name, inventory.source) }
      }
    }
    for manifest in tree.manifests {
      visit(.domain, manifest.domain, manifest.source)
      for key in manifest.keys { visit(.key(domain: manifest.domain.value), key.name, manifest.source) }
    }
    for profile in tree.profiles where !onlyHigh || profile.tree.holdsHighText {
      visit(profile.forced, profile.tree, profile.source)
      visit(profile.recommended, profile.tree, profile.source)
      visit(profile.release, profile.source)
      for override in profile.overrides {
        visit(override.forced, profile.tree, profile.source)
        visit(override.recommended, profile.tree, profile.source)
        visit(override.release, profile.source)
      }
      for control in profile.controls {
        visit(.control, control.id, profile.source)
        for expectation in control.expectations {
          visit(.domain, expectation.domain, profile.source)
          visit(.key(domain: expectation.domain.value), expectation.key, profile.source)
        }
      }
      for exemption in profile.exemptions { visit(.control, exemption.control, profile.source) }
      visit(profile.roaming, profile.source)
      for container in profile.containers {
        for domain in [container.domain] + container.groups + container.read { visit(.domain, domain, profile.source) }
      }
    }
    for (source, scope) in scopes {
      for items in [scope.hosts?.include, scope.hosts?.except] {
        for group in items?.groups ?? [] { visit(.hostGroup, group, source) }
      }
      for items in [scope.users?.include, scope.users?.except] {
        for name in items?.names ?? [] { visit(.user, name, source) }
        for group in items?.groups ?? [] { visit(.userGroup, group, source) }
      }
    }
    for test in tree.tests {
      if let user = test.given.user { visit(.user, user, test.source) }
      for group in test.given.groups { visit(.userGroup, group, test.source) }
      if let app = test.given.app { visit(.domain, app, test.source) }
      for expectation in test.expectations {
        visit(.domain, expectation.domain, test.source)
        visit(.key(domain: expectation.domain.value), expectation.key, test.source)
      }
    }
  }

  private func unionKeys() -> [String: Set<String>] {
    var keys: [String: Set<String>] = [:]
    for manifest in tree.manifests {
      for key in manifest.keys where key.merge == .union {
        keys[manifest.domain.value, default: []].insert(key.name.value)
      }
    }
    return keys
  }
}
