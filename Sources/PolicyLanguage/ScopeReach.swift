import HostPatterns

/// Selections whose exceptions leave nobody: what they apply to is never used, which is hardly meant.
extension TreeValidation {
  mutating func checkExceptions() {
    var groups = GroupMembers(tree.inventory)
    var answers: [[HostPattern]: [[HostPattern]: Bool]] = [:]
    for (source, scope) in scopes {
      if let hosts = scope.hosts, let except = hosts.except,
        let included = groups.patterns(of: hosts.include), let excepted = groups.patterns(of: except),
        !excepted.isEmpty
      {
        let wanted = hosts.include.isEmpty ? groups.everything : included
        let isEmpty = answers[wanted]?[excepted] ?? Self.covers(excepted, wanted)
        answers[wanted, default: [:]][excepted] = isEmpty
        if isEmpty {
          sinks[source].report(.neverApplies, at: hosts.position, "except takes away all the hosts that are selected")
        }
      }
      if let users = scope.users, let except = users.except, !users.include.isEmpty,
        let included = groups.users(of: users.include), let excepted = groups.users(of: except),
        included.isSubset(of: excepted)
      {
        sinks[source].report(.neverApplies, at: users.position, "except takes away all the users that are selected")
      }
    }
  }

  // Steps of a search for a host that is left. What takes longer is taken to leave one.
  private static let work = 100_000

  private static func covers(_ excepted: [HostPattern], _ wanted: [HostPattern]) -> Bool {
    if wanted.isEmpty { return false }
    if excepted.contains(where: { $0.text == "*" }) { return true }
    let rest = wanted.filter { !excepted.contains($0) }
    return rest.isEmpty || HostNameSearch(oneOfEach: [rest], noneOf: excepted).run(limit: work) == .none
  }
}

/// What selections mean with the inventory's groups replaced by what they hold; nil where a group is not declared.
private struct GroupMembers {
  enum User: Hashable {
    case people
    case name(String)
    case unixGroup(String)
  }

  let everything: [HostPattern]
  private let hostGroups: [String: HostGroup]
  private let userGroups: [String: UserGroup]
  private var knownHosts: [String: [HostPattern]] = [:]
  private var knownUsers: [String: Set<User>] = [:]

  init(_ inventory: Inventory?) {
    everything = [try? HostPattern(parsing: "*")].compactMap { $0 }
    hostGroups = Dictionary((inventory?.hostGroups ?? []).map { ($0.name.value, $0) }) { first, _ in first }
    userGroups = Dictionary((inventory?.userGroups ?? []).map { ($0.name.value, $0) }) { first, _ in first }
  }

  mutating func patterns(of items: HostItems) -> [HostPattern]? {
    var patterns = Self.patterns(items.names)
    for group in items.groups {
      guard hostGroups[group.value] != nil else { return nil }
      patterns += hosts(ofGroup: group.value)
    }
    return patterns
  }

  mutating func users(of items: UserItems) -> Set<User>? {
    var users = Set(items.names.map { $0.value == "*" ? User.people : .name($0.value) })
    for group in items.groups {
      guard userGroups[group.value] != nil else { return nil }
      users.formUnion(self.users(ofGroup: group.value))
    }
    return users
  }

  private static func patterns(_ names: [Located<String>]) -> [HostPattern] {
    // The syntax was checked where the name was decoded.
    names.compactMap { try? HostPattern(parsing: $0.value) }
  }

  private mutating func hosts(ofGroup name: String) -> [HostPattern] {
    if let known = knownHosts[name] { return known }
    var patterns: [HostPattern] = []
    Self.walk(from: name) { name in
      guard let group = hostGroups[name] else { return [] }
      patterns += Self.patterns(group.names)
      return group.groups.map(\.value)
    }
    knownHosts[name] = patterns
    return patterns
  }

  private mutating func users(ofGroup name: String) -> Set<User> {
    if let known = knownUsers[name] { return known }
    var users: Set<User> = []
    Self.walk(from: name) { name in
      guard let group = userGroups[name] else { return [] }
      users.formUnion(group.names.map { $0.value == "*" ? .people : .name($0.value) })
      users.formUnion(group.unixGroups.map { .unixGroup($0.value) })
      return group.groups.map(\.value)
    }
    knownUsers[name] = users
    return users
  }

  /// Visits a group and all below it once, however deep and however tangled.
  private static func walk(from name: String, _ visit: (String) -> [String]) {
    var waiting = [name]
    var seen: Set<String> = [name]
    while let next = waiting.popLast() {
      for inner in visit(next) where seen.insert(inner).inserted { waiting.append(inner) }
    }
  }
}
