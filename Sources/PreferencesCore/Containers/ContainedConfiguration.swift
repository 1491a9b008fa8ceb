import AuditEvents
import ForcedDomain
import LinuxFiles

/// What contains an application: decided when a process opens its first list, and then for as long as the process lives.
///
/// 1. The container around the process (`policyctl run`) counts, whatever the application calls itself.
/// 2. Else the policy in force says whether the application's domain is contained, and what is shared with it.
/// 3. Where the policy can't be read, every application is contained and nothing is shared with it. One that has a container
///    stays in it; no other gets one, so what it writes to foreign domains is refused, with a fault. (Of its own domain nothing
///    is read either then: all keys count as forced.) This holds for a list, not for the process: the next one asks again.
extension SearchList.Configuration {
  func contained(by policy: PolicySource) -> SearchList.Configuration {
    let (decided, isSure) = containment.map { ($0, true) } ?? Engine.shared.containment(of: self, by: policy)
    guard let decided else { return self }
    var result = self
    result.containment = decided
    // Another account's preferences are foreign to it: what it asks for is in its own container.
    if account != nil {
      result.homeDirectory = UserLocations.homeDirectory()
      result.configurationDirectory = UserLocations.configurationDirectory(home: result.homeDirectory)
      result.dataDirectory = UserLocations.dataDirectory(home: result.homeDirectory)
    }
    if !preparesContainer || !isSure { return result }
    do throws(FileError) { try ContainerPreparation.prepare(decided, in: result.locations) } catch {
      let fault = PreferencesFault(.unwritable, path: error.path, error)
      sink.send(AuditEvent(fault, inDomain: decided.identifier))
    }
    return result
  }
}

/// An application, as a policy knows it.
struct ContainedIdentity: Hashable {
  let installation: Installation
  let identifier: String
}

extension Engine {
  /// - Returns: what contains the application, nil for nothing; and whether that is known, or only feared (3).
  fileprivate func containment(
    of configuration: SearchList.Configuration, by policy: PolicySource
  ) -> (Containment?, isSure: Bool) {
    if let enclosing = Containment.ofThisProcess { return (enclosing, true) }
    let identity = ContainedIdentity(
      installation: configuration.installation, identifier: configuration.applicationDomain)
    if let known = lock.withLock({ containments[identity] }) { return (known, true) }
    let (domain, isUnavailable) = lock.withLock { (policy.domain, policy.isUnavailable) }
    if isUnavailable { return (Containment(identifier: identity.identifier), false) }
    var decided: Containment?
    if let domain {
      // It is the process that is contained, whoever's preferences it asks for.
      let user = configuration.account == nil ? configuration.userFacts : .current()
      let truth = domain.truth(in: EvaluationContext(user: user, instant: configuration.clock()))
      decided = domain.grants(for: identity.identifier, under: truth).map { Containment($0) }
    }
    // The first answer stands, also where two threads asked at once.
    return lock.withLock {
      if let known = containments[identity] { return (known, true) }
      containments.updateValue(decided, forKey: identity)
      return (decided, true)
    }
  }
}
