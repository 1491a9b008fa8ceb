import ForcedDomain

/// The conditions of a payload on one host: whether each can hold there, and what is left of it.
struct NarrowedConditions {
  /// One condition of the payload.
  struct Outcome {
    /// The condition as the payload has it.
    let whole: Condition
    /// Without its hosts, which have been decided; nil where it can't hold.
    let rest: Condition?
  }

  let outcomes: [Outcome]
  /// The moments of each window, expanded once.
  private let moments: [WeeklyWindow: [Range<Int64>]]

  init(_ payload: ForcedDomain, host: HostIdentity, horizon: Range<Int64>) throws(NarrowingError) {
    let isPossible = payload.conditionsPossible(on: host)
    var outcomes: [Outcome] = []
    var moments: [WeeklyWindow: [Range<Int64>]] = [:]
    var zones = TimeZoneShelf()
    for (index, condition) in payload.conditions.enumerated() {
      for window in condition.windows where moments[window] == nil {
        do throws(TimeZoneError) {
          moments[window] = try WindowExpansion.intervals(of: window, over: horizon, zones: &zones)
        } catch {
          throw .timeZone(error)
        }
      }
      let rest = isPossible[index] ? Self.withoutHosts(condition) : nil
      outcomes.append(Outcome(whole: condition, rest: rest))
    }
    self.outcomes = outcomes
    self.moments = moments
  }

  private static func withoutHosts(_ condition: Condition) -> Condition {
    var rest = condition
    rest.hosts = nil
    rest.within = condition.within.map(withoutHosts).filter { $0 != .always }
    return rest
  }

  /// Puts a condition into a file's table, those around it first.
  func add(_ condition: Condition, to writer: inout ForcedDomainWriter) -> UInt32 {
    for outer in condition.within { _ = add(outer, to: &writer) }
    return writer.addCondition(condition, intervals: condition.windows.map { moments[$0] ?? [] })
  }
}

/// The users and user groups of a payload with the ids that they have on this host.
struct ResolvedPeople {
  let users: [ResolvedUser]
  let groups: [UserGroup]

  init(_ payload: ForcedDomain, _ resolver: some UserResolver) {
    var names: Set<String> = []
    func collect(_ condition: Condition) {
      for atom in (condition.users?.include ?? []) + (condition.users?.exclude ?? []) {
        if case .name(let name) = atom { names.insert(name) }
      }
      condition.within.forEach(collect)
    }
    payload.conditions.forEach(collect)
    users = names.sorted().map { resolver.resolve($0) }
    groups = payload.userGroups.map { resolver.resolve($0) }
  }
}
