import ForcedDomain
import HostPatterns
import PolicyLanguage

/// A condition and the classes of the items that it names: one of the entries into which rule 1 divides what an
/// administrator wrote as one.
struct RankedCondition: Hashable {
  var condition: Condition
  var hostClass: HostClass
  var userClass: UserClass
}

/// From scopes, as administrators write them, to conditions.
///
/// The law (rule 1 of the policy language): an item's class is part of the rank, so a scope that names hosts of several
/// classes, or users of several, becomes one condition for each class. Exceptions always subtract, whatever their class.
/// An override holds only where its profile does. A part that only one of both names is simply that part; where both
/// name hosts (or users, or windows), the override's own items give the class, its profile's must match as well, and
/// both parts' exceptions subtract.
struct ScopeLowering {
  private var inventory: FlatInventory

  init(_ inventory: FlatInventory) { self.inventory = inventory }

  /// One condition for each pair of classes, the most exact first.
  ///
  /// - Parameters:
  ///   - scope: the scope of a profile's own part, or of an override.
  ///   - outer: for an override, the scope of its profile.
  ///   - notAfter: Unix seconds at which an override expires.
  mutating func conditions(of scope: Scope, inside outer: Scope? = nil, notAfter: Int64? = nil) -> [RankedCondition] {
    let (hosts, outerHosts) = inner(Self.selector(scope.hosts), Self.selector(outer?.hosts))
    let (users, outerUsers) = Self.inner(Self.selector(scope.users), Self.selector(outer?.users))
    let (windows, outerWindows) = Self.inner(Self.windows(scope.windows), Self.windows(outer?.windows ?? []))
    let within = Condition(hosts: outerHosts, users: outerUsers, windows: outerWindows)
    var all: [RankedCondition] = []
    for (hostClass, hosts) in Self.classes(of: hosts) {
      for (userClass, users) in Self.classes(of: users) {
        let condition = Condition(
          hosts: hosts, users: users, windows: windows, notAfter: notAfter, within: within == .always ? [] : [within])
        all.append(RankedCondition(condition: condition, hostClass: hostClass, userClass: userClass))
      }
    }
    return all
  }

  /// One condition for all classes: for what has no rank, such as controls and grants to containers.
  mutating func condition(of scope: Scope, inside outer: Scope? = nil, notAfter: Int64? = nil) -> Condition {
    let (hosts, outerHosts) = inner(Self.selector(scope.hosts), Self.selector(outer?.hosts))
    let (users, outerUsers) = Self.inner(Self.selector(scope.users), Self.selector(outer?.users))
    let (windows, outerWindows) = Self.inner(Self.windows(scope.windows), Self.windows(outer?.windows ?? []))
    let within = Condition(hosts: outerHosts, users: outerUsers, windows: outerWindows)
    return Condition(
      hosts: hosts, users: users, windows: windows, notAfter: notAfter, within: within == .always ? [] : [within])
  }

  // MARK: One part inside another

  private mutating func inner(
    _ own: HostSelector?, _ outer: HostSelector?
  ) -> (own: HostSelector?, outer: HostSelector?) {
    guard var own, let outer else { return (own ?? outer, nil) }
    own.exclude += outer.exclude.filter { !own.exclude.contains($0) }
    if own.include.isEmpty { own.include = outer.include }
    if own.include == outer.include || outer.include.isEmpty { return (own, nil) }
    // What the profile's items are known to cover needs no second look on each host.
    let isCovered = HostReach.isCovered(
      HostReach.patterns(own.include, &inventory), by: HostReach.patterns(outer.include, &inventory),
      listed: inventory.listedHosts)
    return (own, isCovered ? nil : HostSelector(include: outer.include))
  }

  private static func inner(
    _ own: UserSelector?, _ outer: UserSelector?
  ) -> (own: UserSelector?, outer: UserSelector?) {
    guard var own, let outer else { return (own ?? outer, nil) }
    own.exclude += outer.exclude.filter { !own.exclude.contains($0) }
    if own.include.isEmpty { own.include = outer.include }
    if outer.include.isEmpty || own.include.allSatisfy(outer.include.contains) { return (own, nil) }
    return (own, UserSelector(include: outer.include))
  }

  private static func inner(
    _ own: [WeeklyWindow], _ outer: [WeeklyWindow]
  ) -> (own: [WeeklyWindow], outer: [WeeklyWindow]) {
    if own.isEmpty { return (outer, []) }
    return own == outer ? (own, []) : (own, outer)
  }

  // MARK: Classes

  private static func classes(of hosts: HostSelector?) -> [(HostClass, HostSelector?)] {
    guard let hosts else { return [(.none, nil)] }
    if hosts.include.isEmpty { return [(.none, hosts)] }
    return [HostClass.name, .pattern, .group].compactMap { wanted in
      let include = hosts.include.filter { hostClass(of: $0) == wanted }
      return include.isEmpty ? nil : (wanted, HostSelector(include: include, exclude: hosts.exclude))
    }
  }

  static func hostClass(of atom: HostAtom) -> HostClass {
    guard case .pattern(let text) = atom else { return .group }
    guard let pattern = try? HostPattern(parsing: text), pattern.kind == .literal else { return .pattern }
    return .name
  }

  private static func classes(of users: UserSelector?) -> [(UserClass, UserSelector?)] {
    guard let users else { return [(.none, nil)] }
    if users.include.isEmpty { return [(.none, users)] }
    return [UserClass.name, .group].compactMap { wanted in
      let include = users.include.filter { userClass(of: $0) == wanted }
      return include.isEmpty ? nil : (wanted, UserSelector(include: include, exclude: users.exclude))
    }
  }

  /// `*` stands for many people, as a group does.
  static func userClass(of atom: UserAtom) -> UserClass {
    if case .name = atom { return .name }
    return .group
  }

  // MARK: From the language's model

  static func selector(_ scope: HostScope?) -> HostSelector? {
    guard let scope else { return nil }
    return HostSelector(include: atoms(scope.include), exclude: scope.except.map(atoms) ?? [])
  }

  private static func atoms(_ items: HostItems) -> [HostAtom] {
    var atoms: [HostAtom] = []
    for name in items.names {
      guard let pattern = try? HostPattern(parsing: name.value) else { continue }
      atoms.append(.pattern(pattern.text))
    }
    return unique(atoms + items.groups.map { .group($0.value) })
  }

  static func selector(_ scope: UserScope?) -> UserSelector? {
    guard let scope else { return nil }
    return UserSelector(include: atoms(scope.include), exclude: scope.except.map(atoms) ?? [])
  }

  private static func atoms(_ items: UserItems) -> [UserAtom] {
    unique(items.names.map { $0.value == "*" ? .people : .name($0.value) } + items.groups.map { .group($0.value) })
  }

  private static func unique<Atom: Hashable>(_ atoms: [Atom]) -> [Atom] {
    var seen: Set<Atom> = []
    return atoms.filter { seen.insert($0).inserted }
  }

  static func windows(_ rules: [WindowRule]) -> [WeeklyWindow] {
    rules.map {
      WeeklyWindow(
        days: $0.days, fromMinute: $0.fromMinute, toMinute: $0.toMinute, timeZone: $0.timeZone.value,
        firstDay: $0.firstDay, lastDay: $0.lastDay)
    }
  }
}
