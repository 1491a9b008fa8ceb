import ForcedDomain
import PropertyList

/// Why a value is what it is.
extension SearchList {
  /// The answer for a key with everything that was asked.
  /// - Complexity: O(stores) and the policy's walk; for people and tests, not for hot paths.
  public func resolution(of key: String) -> Resolution {
    engine.lock.withLock {
      let considered = state.sources().map { source in
        Resolution.Candidate(
          layer: source.layer, domain: source.domain, path: source.path, value: source.value(forKey: key))
      }
      let winner = considered.first { $0.value != nil }
      var forcedBy: [ForcedBy] = []
      if let winner, winner.layer == .forced { forcedBy = state.view.forcedBy(key, inDomain: winner.domain) ?? [] }
      return Resolution(
        key: key, value: winner?.value, winner: winner?.layer, considered: considered, forcedBy: forcedBy,
        isForcedDomainUnavailable: state.view.isUnavailable)
    }
  }

  /// The profiles that force a key, in rank order: several where a union gathered; empty where it is not forced, and
  /// while the forced domain can't be read.
  public func forcedBy(_ key: String) -> [ForcedBy] { resolution(of: key).forcedBy }

  /// Whether an application with the given domain would find the key forced: in that domain, or in `NSGlobalDomain`, which
  /// binds every application.
  public func isForced(_ key: String, inDomain domain: String) -> Bool {
    engine.lock.withLock {
      state.view.isUnavailable
        || ForcedDomain.domains(binding: domain).contains { state.view.forcedBy(key, inDomain: $0) != nil }
    }
  }
}
