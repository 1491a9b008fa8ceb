import HostPatterns

/// Which selectors mean one host: asked by the resolver, and by narrowing, so that both give one answer.
///
/// Groups are decided once, when this is made. A text that is no pattern matches no host; neither the compiler writes one
/// nor does the reader accept one.
public struct HostMembership: Sendable {
  public let host: HostIdentity
  private let groups: Set<String>

  /// - Complexity: O(patterns of all groups).
  public init(of host: HostIdentity, in groups: [HostGroup]) {
    self.host = host
    var mine: Set<String> = []
    for group in groups where group.patterns.contains(where: { Self.matches($0, host) }) { mine.insert(group.name) }
    self.groups = mine
  }

  public func isMember(ofGroup name: String) -> Bool { groups.contains(name) }

  /// Whether any item of `include` means the host (none given: yes) and none of `exclude` does.
  public func isMeant(by selector: HostSelector) -> Bool {
    (selector.include.isEmpty || selector.include.contains(where: isMeant))
      && !selector.exclude.contains(where: isMeant)
  }

  /// Whether the hosts of a condition, and of the conditions around it, mean the host.
  public func isMeant(by condition: Condition) -> Bool {
    condition.hosts.map(isMeant(by:)) ?? true && condition.within.allSatisfy(isMeant(by:))
  }

  private func isMeant(by atom: HostAtom) -> Bool {
    switch atom {
    case .pattern(let text): Self.matches(text, host)
    case .group(let name): groups.contains(name)
    }
  }

  private static func matches(_ text: String, _ host: HostIdentity) -> Bool {
    guard let pattern = try? HostPattern(parsing: text) else { return false }
    return pattern.matches(hostName: host.name)
  }
}
