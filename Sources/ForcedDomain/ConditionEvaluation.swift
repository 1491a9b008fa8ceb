import HostPatterns

/// Holds conditions against one context.
struct ConditionEvaluation {
  private let view: DomainView
  private let kind: FileKind
  private let horizon: Range<Int64>
  private let context: EvaluationContext
  private let userID: UInt32?
  /// Sorted.
  private let groupIDs: [UInt32]
  private let hasUnknownGroups: Bool
  /// By the text of a user's name.
  private var resolved: [Int: UInt32?] = [:]
  /// By the text of a pattern: each is read and held against the host once.
  private var patterns: [Int: Decision] = [:]
  private var hostGroups: [Decision?]
  private var userGroups: [Decision?]
  private(set) var nextEdge: Int64?

  init(
    _ view: DomainView, kind: FileKind, horizon: Range<Int64>, isOwnedOutside: Bool, _ context: EvaluationContext
  ) {
    self.view = view
    self.kind = kind
    self.horizon = horizon
    self.context = context
    if isOwnedOutside, let outside = context.user.outside {
      // An id that has no number outside is nobody's whom the policy knows; still a person, not a service.
      userID = outside.userID ?? .max
      groupIDs = Self.sorted(outside.groupIDs)
      hasUnknownGroups = outside.hasUnknownGroups
    } else {
      userID = context.user.userID
      groupIDs = Self.sorted(context.user.groupIDs)
      hasUnknownGroups = false
    }
    for index in 0..<view.layout.resolvedUsers.count {
      let (text, userID) = view.resolvedUser(index)
      resolved[text] = .some(userID)
    }
    hostGroups = [Decision?](repeating: nil, count: view.layout.hostGroups.count)
    userGroups = [Decision?](repeating: nil, count: view.layout.userGroups.count)
  }

  private static func sorted(_ ids: [UInt32]) -> [UInt32] { ids.count > 1 ? ids.sorted() : ids }

  private func hasGroup(_ id: UInt32) -> Bool {
    var low = 0
    var high = groupIDs.count
    while low < high {
      let middle = (low + high) / 2
      if groupIDs[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low < groupIDs.count && groupIDs[low] == id
  }

  /// Decides all conditions, as raw values of `Decision`. Every part must hold, and the condition around it. Parts that do
  /// not matter any more still tell their next edge.
  mutating func decideAll() -> [UInt8] {
    all { evaluation, condition in
      evaluation.expiry(condition) && evaluation.windows(condition) && evaluation.hosts(condition)
        && evaluation.users(condition)
    }
  }

  /// The hosts of all conditions alone, which narrowing decides once.
  mutating func decideAllHosts() -> [UInt8] { all { $0.hosts($1) } }

  /// The condition around another stands in front of it: its answer is there already.
  private mutating func all(_ parts: (inout Self, Int) -> Decision) -> [UInt8] {
    var decisions: [UInt8] = []
    decisions.reserveCapacity(view.layout.conditions.count)
    for condition in 0..<view.layout.conditions.count {
      let outer = view.outerCondition(condition)
      let decision = parts(&self, condition)
      decisions.append(outer == 0 ? decision.rawValue : min(decision.rawValue, decisions[outer]))
    }
    return decisions
  }

  /// The first part that does not hold, here or in the condition around it; nil when each does, or may.
  mutating func reason(_ condition: Int) -> ConditionReason? {
    let parts = [condition, view.outerCondition(condition)]
    for part in parts where hosts(part) == .no { return .host }
    for part in parts where users(part) == .no { return .user }
    for part in parts where expiry(part) == .no { return .expired(at: view.notAfter(ofCondition: part) ?? 0) }
    for part in parts where windows(part) == .no { return .window }
    return nil
  }

  // MARK: Hosts

  mutating func hosts(_ condition: Int) -> Decision {
    guard view.conditionFlags(condition) & Format.ConditionFlag.hosts != 0 else { return .yes }
    guard let host = context.host else { return .undecided }
    let include = view.atomRange(ofCondition: condition, .hostInclude)
    let exclude = view.atomRange(ofCondition: condition, .hostExclude)
    return (include.isEmpty ? .yes : anyHost(include, host)) && !anyHost(exclude, host)
  }

  private mutating func anyHost(_ atoms: Range<Int>, _ host: HostIdentity) -> Decision {
    var decision = Decision.no
    for index in atoms where decision != .yes {
      let (kind, operand) = view.atom(index)
      decision =
        decision
        || (kind == Format.AtomKind.hostPattern ? matches(operand, host) : contains(hostGroup: operand, host))
    }
    return decision
  }

  private mutating func contains(hostGroup index: Int, _ host: HostIdentity) -> Decision {
    if let known = hostGroups[index] { return known }
    var decision = Decision.no
    for text in view.patternTexts(ofHostGroup: index) where decision != .yes {
      decision = decision || matches(text, host)
    }
    hostGroups[index] = decision
    return decision
  }

  private mutating func matches(_ text: Int, _ host: HostIdentity) -> Decision {
    if let known = patterns[text] { return known }
    let pattern = try? HostPattern(parsing: view.string(text))
    let decision = pattern.map { Decision($0.matches(hostName: host.name)) } ?? .undecided
    patterns[text] = decision
    return decision
  }

  // MARK: Users

  mutating func users(_ condition: Int) -> Decision {
    guard view.conditionFlags(condition) & Format.ConditionFlag.users != 0 else { return .yes }
    let include = view.atomRange(ofCondition: condition, .userInclude)
    let exclude = view.atomRange(ofCondition: condition, .userExclude)
    return (include.isEmpty ? .yes : anyUser(include)) && !anyUser(exclude)
  }

  private mutating func anyUser(_ atoms: Range<Int>) -> Decision {
    var decision = Decision.no
    for index in atoms where decision != .yes {
      let (kind, operand) = view.atom(index)
      switch kind {
      case Format.AtomKind.people: decision = decision || Decision(userID ?? .max >= UserFacts.firstPersonID)
      case Format.AtomKind.userName: decision = decision || isUser(named: operand)
      default: decision = decision || contains(userGroup: operand)
      }
    }
    return decision
  }

  /// An id decides where both sides have one; names are compared only where one has none.
  private func isUser(named text: Int) -> Decision {
    if let known = resolved[text] {
      if let userID, let known { return Decision(userID == known) }
      return Decision(hasName(text))
    }
    // A payload: nobody has looked the name up yet.
    if context.user.name == nil, userID != nil { return .undecided }
    return Decision(hasName(text))
  }

  private func hasName(_ text: Int) -> Bool { context.user.name?.hasSameBytes(as: view.text(text)) ?? false }

  private mutating func contains(userGroup index: Int) -> Decision {
    if let known = userGroups[index] { return known }
    let decision = isMember(ofUserGroup: index)
    userGroups[index] = decision
    return decision
  }

  private func isMember(ofUserGroup index: Int) -> Decision {
    let name = view.text(view.field(view.layout.userGroups, index, stride: Layout.Stride.userGroup, 0))
    if context.user.inventoryGroups.contains(where: { $0.hasSameBytes(as: name) }) { return .yes }
    if let userID, view.items(ofUserGroup: index, .userIDs).contains(userID) { return .yes }
    let unixGroups = view.items(ofUserGroup: index, .groupIDs)
    if unixGroups.contains(where: { hasGroup($0) }) { return .yes }
    var decision = Decision.no
    for text in view.items(ofUserGroup: index, .names) where decision != .yes {
      // Past a bundle, root has turned all names that it could into the ids above.
      decision = decision || (kind == .fleet ? isUser(named: Int(text)) : isUnresolvedMember(Int(text)))
    }
    if decision == .no, userID != nil {
      // Members of a Unix group whose number is not known here, or whom the kernel does not show to be members.
      if kind == .fleet, !view.items(ofUserGroup: index, .unixGroups).isEmpty { return .undecided }
      if hasUnknownGroups, !unixGroups.isEmpty { return .undecided }
    }
    return decision
  }

  private func isUnresolvedMember(_ text: Int) -> Decision {
    if let known = resolved[text], userID != nil, known != nil { return .no }
    return Decision(hasName(text))
  }

  // MARK: Times

  mutating func expiry(_ condition: Int) -> Decision {
    guard let notAfter = view.notAfter(ofCondition: condition) else { return .yes }
    edge(notAfter)
    return Decision(context.instant < notAfter)
  }

  mutating func windows(_ condition: Int) -> Decision {
    let windows = view.windowRange(ofCondition: condition)
    if windows.isEmpty { return .yes }
    var decision = Decision.no
    // No early end: each window's next edge counts.
    for window in windows { decision = decision || isOpen(window) }
    return decision
  }

  private mutating func isOpen(_ window: Int) -> Decision {
    guard kind != .fleet, horizon.contains(context.instant) else {
      if let symbolic = context.symbolicWindows {
        let state = symbolic(view.window(window), context.instant)
        if let next = state.nextEdge { edge(next) }
        return Decision(state.isOpen)
      }
      if kind != .fleet { edge(horizon.lowerBound) }
      return .undecided
    }
    edge(horizon.upperBound)
    // The first interval that ends after the instant: open in it, or waiting for it.
    let intervals = view.intervalRange(ofWindow: window)
    var low = intervals.lowerBound
    var high = intervals.upperBound
    while low < high {
      let middle = low + (high - low) / 2
      if view.interval(middle).upperBound <= context.instant { low = middle + 1 } else { high = middle }
    }
    guard low < intervals.upperBound else { return .no }
    let interval = view.interval(low)
    if context.instant < interval.lowerBound {
      edge(interval.lowerBound)
      return .no
    }
    edge(interval.upperBound)
    return .yes
  }

  private mutating func edge(_ instant: Int64) {
    if instant > context.instant { nextEdge = min(nextEdge ?? instant, instant) }
  }
}
