public import PropertyList

/// One entry of a key, and what became of it in the walk.
public struct Candidate: Sendable, Hashable {
  public let entry: ForcedEntry
  /// Its condition holds. One that can't be decided holds, except for a release.
  public let holds: Bool
  /// The walk took it: it gave a value or elements, or, a release, ended the walk.
  public let decides: Bool
  /// Why it does not hold; nil when it does, and for a release that is merely undecided.
  public let whyNot: ConditionReason?
  /// Some part of its condition could not be decided.
  public let isUndecided: Bool
}

/// The answer of the law for one key, with its evidence.
public struct Resolution: Sendable, Hashable {
  /// nil: the policy has no value for the key.
  public let value: PropertyListValue?
  /// The entries that give the value, in rank order; empty when there is none.
  public internal(set) var contributors: [ForcedEntry]
  /// Everything that was considered, in rank order.
  public internal(set) var candidates: [Candidate]

  /// The profiles that give the value, in rank order, each once although several of its entries may have a part in it.
  public var profiles: [ProfileReference] {
    contributors.reduce(into: []) { if !$0.contains($1.profile) { $0.append($1.profile) } }
  }
}

extension ForcedDomain {
  /// Asks the law about one key, and keeps the evidence.
  ///
  /// - Parameter truth: from this very file (`truth(in:)`); another one's is a precondition failure.
  /// - Complexity: O(entries of the key).
  public func resolve(
    domain: String, key: String, section: PolicySection, under truth: ConditionTruth
  ) -> Resolution {
    check(truth)
    let tables = decoded
    return withView { view in
      let entries = view.entryRange(domain: domain, key: key, section)
      var evidence = Evidence()
      view.walk(entries, under: truth, recording: &evidence)
      var evaluation = evaluation(view, truth.context)
      var reasons: [Int: ConditionReason?] = [:]
      var resolution = Resolution(value: view.value(of: evidence.contributors)?.value, contributors: [], candidates: [])
      for index in entries {
        let entry = view.decodedEntry(index, tables)
        let whyNot = reasons[entry.conditionIndex] ?? evaluation.reason(entry.conditionIndex)
        reasons[entry.conditionIndex] = .some(whyNot)
        if evidence.giving.contains(index) { resolution.contributors.append(entry) }
        resolution.candidates.append(
          Candidate(
            entry: entry, holds: truth.holds(entry.conditionIndex, for: entry.action),
            decides: evidence.giving.contains(index) || evidence.releasing == index, whyNot: whyNot,
            isUndecided: truth.isUndecided(entry.conditionIndex)))
      }
      return resolution
    }
  }

  /// The value of one key alone, from the same walk.
  ///
  /// - Complexity: O(entries of the key); nothing is decoded but the value.
  public func value(
    domain: String, key: String, section: PolicySection, under truth: ConditionTruth
  ) -> PropertyListValue? {
    check(truth)
    return withView { view in
      var contributors = Contributors()
      view.walk(view.entryRange(domain: domain, key: key, section), under: truth, recording: &contributors)
      return view.value(of: contributors)?.value
    }
  }

  /// Asks the law about each key of a domain, in byte order; keys without a value are left out.
  ///
  /// - Parameter body: what it is given is valid only while it runs.
  /// - Complexity: O(entries of the domain), some 50 ns for a key with one entry.
  public func forEachResolvedKey(
    inDomain domain: String, section: PolicySection, under truth: ConditionTruth,
    _ body: (_ keyUTF8: UnsafeRawBufferPointer, _ value: ResolvedValue) throws -> Void
  ) rethrows {
    check(truth)
    try withView { view in
      guard let domain = view.domainIndex(named: domain) else { return }
      for key in view.keyRange(ofDomain: domain) {
        var contributors = Contributors()
        view.walk(view.entryRange(ofKey: key, section), under: truth, recording: &contributors)
        if let value = view.value(of: contributors) { try body(view.keyName(key), value) }
      }
    }
  }

  private func check(_ truth: ConditionTruth) {
    precondition(
      withView { $0.layout.conditions.count } == truth.conditionCount, "conditions of another forced domain")
  }
}
