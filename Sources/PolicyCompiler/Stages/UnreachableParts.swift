import ForcedDomain
import HostPatterns
import PolicyLanguage

/// Overrides and exemptions that can never hold, since they stand within a profile that never applies where they do.
///
/// An override narrows its profile. One for a host, a user or a time that the profile leaves out is an entry that no
/// machine will ever use; whoever wrote it meant something else.
struct UnreachableParts {
  private var inventory: FlatInventory
  private var zones = TimeZoneShelf()

  // Steps of a search for a host that both mean. What takes longer is taken to have one.
  private static let work = 100_000

  /// Appends a warning for each.
  static func report(_ compiler: inout CompilerState) {
    var search = UnreachableParts(inventory: compiler.inventory)
    for profile in compiler.tree.profiles where !profile.applies.isUnlimited {
      let parts =
        profile.overrides.map { ($0.scope, $0.expires?.value, $0.position, "override") }
        + profile.exemptions.map { ($0.scope, $0.expires.value, $0.position, "exemption") }
      if parts.isEmpty { continue }
      // A part that can't hold by itself, or whose profile can't, has its warning where that is written.
      guard search.canHold(compiler.scopes.condition(of: profile.applies)) else { continue }
      for (scope, expires, position, name) in parts {
        let end = expires.map(\.firstUnixSecondNotBefore)
        let own = compiler.scopes.condition(of: scope)
        let both = compiler.scopes.condition(of: scope, inside: profile.applies, notAfter: end)
        guard !search.canHold(both), search.canHold(own) else { continue }
        compiler.diagnostics.append(
          Diagnostic(
            .neverApplies, path: compiler.tree.sources[profile.source].path, at: position,
            "the \(name) can never hold: its profile applies to none of its hosts, users and times",
            related: Self.related(profile, compiler.tree)))
      }
    }
  }

  private static func related(_ profile: Profile, _ tree: PolicyTree) -> [RelatedPosition] {
    let scope = profile.applies
    guard let position = scope.hosts?.position ?? scope.users?.position ?? scope.windows.first?.position else {
      return []
    }
    return [
      RelatedPosition(
        path: tree.sources[profile.source].path, position: position, message: "the profile's own scope is here")
    ]
  }

  /// False only where it is proven that the condition holds nowhere, for nobody or never.
  private mutating func canHold(_ condition: Condition) -> Bool {
    guard WindowReach(of: condition).canMeet(WindowReach(), zones: &zones),
      UserReach(of: condition, in: &inventory).canMeet(UserReach())
    else { return false }
    let hosts = HostReach(of: condition, in: &inventory)
    // A group that holds nobody, or is not declared, is reported elsewhere.
    if hosts.lists.contains(where: \.isEmpty) || (hosts.lists.count < 2 && hosts.exceptions.isEmpty) { return true }
    return HostNameSearch(oneOfEach: hosts.lists, noneOf: hosts.exceptions).run(limit: Self.work) != .none
  }
}
