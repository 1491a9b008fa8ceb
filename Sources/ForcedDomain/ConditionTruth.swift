/// What is known about a condition, or a part of one.
enum Decision: UInt8 {
  case no = 0
  case undecided = 1
  case yes = 2

  /// Both must hold.
  static func && (a: Decision, b: Decision) -> Decision { a.rawValue < b.rawValue ? a : b }
  /// Any may hold.
  static func || (a: Decision, b: Decision) -> Decision { a.rawValue > b.rawValue ? a : b }
  static prefix func ! (a: Decision) -> Decision { a == .yes ? .no : a == .no ? .yes : .undecided }

  init(_ isTrue: Bool) { self = isTrue ? .yes : .no }
}

/// All conditions of one file, evaluated once for one context, so that walks ask nothing else.
///
/// A condition that can't be decided (a time outside the span over which windows are expanded, a group that the kernel
/// does not show) counts against the user: for `replace` and `union` as holding, for `release` as not holding. So
/// nothing fails open (rule 9 of the policy language).
public struct ConditionTruth: Sendable {
  /// The context that was asked about.
  public let context: EvaluationContext
  /// The next Unix second at which any condition may change, nil when none will.
  public let nextEdge: Int64?
  var conditionCount: Int { decisions.count }
  /// Raw values of `Decision`, one a condition.
  private let decisions: [UInt8]

  init(context: EvaluationContext, decisions: [UInt8], nextEdge: Int64?) {
    self.context = context
    self.nextEdge = nextEdge
    self.decisions = decisions
  }

  /// Whether an entry with this condition and action takes part in the walk.
  @inline(__always)
  public func holds(_ condition: Int, for action: EntryAction) -> Bool {
    decisions[condition] >= (action == .release ? Decision.yes : Decision.undecided).rawValue
  }

  /// Whether some part of the condition could not be decided, and no other part settles it.
  public func isUndecided(_ condition: Int) -> Bool {
    holds(condition, for: .replace) && !holds(condition, for: .release)
  }
}

/// Why a condition does not hold: its first part that fails, in the order host, user, expiry, window.
public enum ConditionReason: Sendable, Hashable {
  case host
  case user
  /// It held until this Unix second.
  case expired(at: Int64)
  case window
}

extension ForcedDomain {
  /// Evaluates all conditions for a context.
  ///
  /// - Complexity: O(conditions + log intervals of each window).
  public func truth(in context: EvaluationContext) -> ConditionTruth {
    withView { view in
      var evaluation = evaluation(view, context)
      let decisions = evaluation.decideAll()
      return ConditionTruth(context: context, decisions: decisions, nextEdge: evaluation.nextEdge)
    }
  }

  /// Why this condition does not hold; nil when it does, or may.
  public func reason(ofCondition index: Int, under truth: ConditionTruth) -> ConditionReason? {
    withView { view in
      var evaluation = evaluation(view, truth.context)
      return evaluation.reason(index)
    }
  }

  func evaluation(_ view: DomainView, _ context: EvaluationContext) -> ConditionEvaluation {
    ConditionEvaluation(view, kind: kind, horizon: horizon, isOwnedOutside: isOwnedOutside, context)
  }

  /// For each condition, whether its hosts (and those of the condition around it) can mean a host: what narrowing
  /// decides, by the matching that the resolver uses.
  ///
  /// - Complexity: O(conditions and patterns).
  public func conditionsPossible(on host: HostIdentity) -> [Bool] {
    let context = EvaluationContext(host: host, user: UserFacts(), instant: 0)
    return withView { view in
      var evaluation = evaluation(view, context)
      return evaluation.decideAllHosts().map { $0 != Decision.no.rawValue }
    }
  }
}
