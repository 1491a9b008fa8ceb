import HostPatterns

/// Host patterns against the inventory: one that can't mean any listed host is a warning.
extension TreeValidation {
  mutating func checkHosts() {
    guard let inventory = tree.inventory else { return }
    let hosts = KnownHosts(inventory.hostGroups.flatMap(\.names).map(\.value))
    guard !hosts.isEmpty else { return }
    var answers: [String: Bool] = [:]
    for (source, scope) in scopes {
      for items in [scope.hosts?.include, scope.hosts?.except] {
        for name in items?.names ?? [] {
          // The syntax was checked where the name was decoded.
          guard let pattern = try? HostPattern(parsing: name.value) else { continue }
          let isKnown = answers[pattern.text] ?? hosts.contain(oneOf: pattern)
          answers[pattern.text] = isKnown
          if !isKnown {
            sinks[source].report(
              .unmatchedPattern, at: name.position, "'\(name.value.shown)' matches no host of the inventory")
          }
        }
      }
    }
    for test in tree.tests {
      guard let name = test.given.host, let pattern = try? HostPattern(parsing: name.value) else { continue }
      if answers[pattern.text] ?? hosts.contain(oneOf: pattern) { continue }
      sinks[test.source].report(
        .unmatchedPattern, at: name.position, "'\(name.value.shown)' is no host of the inventory")
    }
  }
}

/// The hosts that an inventory lists, ready to be asked many times.
private struct KnownHosts {
  private var fullNames: Set<String> = []
  private var shortNames: Set<String> = []
  /// Short names of hosts that are listed by their full name.
  private var shortOfFull: Set<String> = []
  private var literals: [HostPattern] = []
  private var others: [HostPattern] = []

  init(_ names: [String]) {
    for name in Set(names).sorted() {
      guard let pattern = try? HostPattern(parsing: name) else { continue }
      guard pattern.kind == .literal else {
        others.append(pattern)
        continue
      }
      literals.append(pattern)
      if pattern.hasDot {
        fullNames.insert(pattern.text)
        shortOfFull.insert(Self.short(pattern.text))
      } else {
        shortNames.insert(pattern.text)
      }
    }
  }

  var isEmpty: Bool { literals.isEmpty && others.isEmpty }

  func contain(oneOf pattern: HostPattern) -> Bool {
    if pattern.kind == .literal {
      let isListed =
        pattern.hasDot
        ? fullNames.contains(pattern.text) || shortNames.contains(Self.short(pattern.text))
        : shortNames.contains(pattern.text) || shortOfFull.contains(pattern.text)
      if isListed { return true }
    } else if literals.contains(where: { $0.intersects(pattern) }) {
      return true
    }
    return others.contains { $0.intersects(pattern) }
  }

  private static func short(_ name: String) -> String { String(name.prefix { $0 != "." }) }
}
