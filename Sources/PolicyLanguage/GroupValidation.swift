/// Groups: declared before they are named, and never inside themselves.
extension TreeValidation {
  mutating func checkGroups() {
    let inventory = tree.inventory
    let hostNames = inventory?.hostGroups.map(\.name.value) ?? []
    let userNames = inventory?.userGroups.map(\.name.value) ?? []
    let hostGroups = Set(hostNames)
    let userGroups = Set(userNames)
    for (source, scope) in scopes {
      for items in [scope.hosts?.include, scope.hosts?.except] {
        for group in items?.groups ?? [] where !hostGroups.contains(group.value) {
          reportUndeclared(group, "host", hostNames, source, isOther: userGroups.contains(group.value))
        }
      }
      for items in [scope.users?.include, scope.users?.except] {
        for group in items?.groups ?? [] where !userGroups.contains(group.value) {
          reportUndeclared(group, "user", userNames, source, isOther: hostGroups.contains(group.value))
        }
      }
    }
    for test in tree.tests {
      for group in test.given.groups where !userGroups.contains(group.value) {
        reportUndeclared(group, "user", userNames, test.source, isOther: hostGroups.contains(group.value))
      }
    }
    guard let inventory else { return }
    check(inventory.hostGroups.map { GroupNode(name: $0.name, groups: $0.groups) }, "host", inventory.source)
    check(inventory.userGroups.map { GroupNode(name: $0.name, groups: $0.groups) }, "user", inventory.source)
  }

  private mutating func reportUndeclared(
    _ group: Located<String>, _ kind: String, _ known: [String], _ source: Int, isOther: Bool
  ) {
    func note() -> String {
      if isOther { return ", but a \(kind == "host" ? "user" : "host") group of that name" }
      return Spelling.nearest(to: group.value, in: known).map { "; did you mean '\($0.shown)'?" } ?? ""
    }
    sinks[source].report(
      .undeclaredGroup, at: group.position, "there is no \(kind) group '\(group.value.shown)' in the inventory\(note())"
    )
  }

  private struct GroupNode {
    var name: Located<String>
    var groups: [Located<String>]
  }

  /// Finds undeclared members and cycles: each group is left once and for all, so a dense graph takes no more than its
  /// edges; a stack of its own, so a long chain takes no more than memory.
  private mutating func check(_ groups: [GroupNode], _ kind: String, _ source: Int) {
    let names = groups.map(\.name.value)
    let places = Dictionary(zip(names, groups.indices)) { first, _ in first }
    enum State { case fresh, open, done }
    var states = [State](repeating: .fresh, count: groups.count)
    for start in groups.indices where states[start] == .fresh {
      var path: [(group: Int, next: Int)] = [(start, 0)]
      states[start] = .open
      while let (group, next) = path.last {
        guard next < groups[group].groups.count else {
          states[group] = .done
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let member = groups[group].groups[next]
        guard let place = places[member.value] else {
          reportUndeclared(member, kind, names, source, isOther: false)
          continue
        }
        switch states[place] {
        case .done: break
        case .fresh:
          states[place] = .open
          path.append((place, 0))
        case .open:
          let cycle =
            path[path.firstIndex { $0.group == place }!...].map { names[$0.group].shown } + [names[place].shown]
          sinks[source].report(
            .cyclicGroup, at: member.position, "the \(kind) group contains itself: \(Self.shortened(cycle))",
            related: [related(source, groups[place].name.position, "the group is declared here")])
        }
      }
    }
  }

  private static func shortened(_ cycle: [String]) -> String {
    let shown = cycle.count <= 12 ? cycle : cycle.prefix(6) + ["… (\(cycle.count - 12) more)"] + cycle.suffix(6)
    return shown.joined(separator: " -> ")
  }
}
