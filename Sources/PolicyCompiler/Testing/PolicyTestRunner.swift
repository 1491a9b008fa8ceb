public import ForcedDomain
public import PolicyLanguage
import PropertyList

/// Runs the cases of `kind: Tests` documents: policies are asked, not simulated.
///
/// Each case goes the way of an installation (``WhatIf``): narrowed to its host, then read by the reader that
/// applications use. Nothing of this machine takes part, neither its accounts nor its host name, so that a test has the
/// same result everywhere; a user is a name with the groups that list it, root alone has an id.
public enum PolicyTestRunner {
  /// Runs cases against a payload.
  ///
  /// - Parameters:
  ///   - tests: the cases, in the order in which results are returned.
  ///   - sources: the files that the cases' positions are in.
  ///   - now: Unix seconds, for cases that don't say `at`.
  /// - Complexity: one narrowing for each host that occurs.
  public static func run(
    _ tests: [PolicyTestCase], sources: [SourceText], payload: ForcedDomain, now: Int64
  ) throws(NarrowingError) -> [PolicyTestResult] {
    var hosts: [String: WhatIf] = [:]
    var results: [PolicyTestResult] = []
    for test in tests {
      let host = test.given.host?.value ?? unnamedHost
      let policies: WhatIf
      if let known = hosts[host] {
        policies = known
      } else {
        policies = try WhatIf(
          payload: payload, host: HostIdentity(name: host), now: now, users: Nobody(), accounts: .none)
        hosts[host] = policies
      }
      results.append(run(test, path: sources[test.source].path, policies, now: now))
    }
    return results
  }

  /// Where a case names no host: one that no literal name or range means, a glob at most.
  private static let unnamedHost = "unnamed.invalid"

  private static func run(_ test: PolicyTestCase, path: String, _ policies: WhatIf, now: Int64) -> PolicyTestResult {
    let context = policies.context(
      user: test.given.user?.value, groups: test.given.groups.map(\.value),
      instant: test.given.at?.value.lastUnixSecondNotAfter ?? now)
    let answers = PolicyAnswers(policies.forced, context)
    return PolicyTestResult(
      name: test.name.value, path: path, position: test.position, expectationCount: test.expectations.count,
      failures: test.expectations.compactMap { check($0, path: path, answers) })
  }

  private static func check(
    _ expectation: PolicyTestCase.Expectation, path: String, _ answers: PolicyAnswers
  ) -> PolicyTestFailure? {
    let (domain, key) = (expectation.domain.value, expectation.key.value)
    let (actual, origin) =
      expectation.kind == .value ? answers.value(domain, key) : answers.forced(domain, key)
    let isAsExpected =
      switch expectation.kind {
      case .forced, .value: actual == expectation.value
      case .notForced: actual == nil
      }
    if isAsExpected { return nil }
    return PolicyTestFailure(
      path: path, position: expectation.position, domain: domain, key: key, expectation: expectation.kind,
      expected: expectation.value, actual: actual, origin: origin)
  }
}

/// Knows no name: users of a test are names and nothing else.
private struct Nobody: UserResolver {
  func userID(ofUser name: String) -> UInt32? { nil }
  func groupID(ofUnixGroup name: String) -> UInt32? { nil }
}

/// What policies say about keys, for an application that has set nothing itself.
///
/// The search list's order with its other layers empty: the domain's own forced entry, then the one of `NSGlobalDomain`;
/// then what is recommended, in the same order.
struct PolicyAnswers {
  private let domain: ForcedDomain
  private let truth: ConditionTruth

  init(_ domain: ForcedDomain, _ context: EvaluationContext) {
    self.domain = domain
    truth = domain.truth(in: context)
  }

  func forced(_ domain: String, _ key: String) -> (PropertyListValue?, PolicyTestFailure.Origin) {
    guard let found = answer(domain, key, .forced) else { return (nil, .nothing) }
    return (found.value, .forced(by: found.profiles.map(\.title)))
  }

  func value(_ domain: String, _ key: String) -> (PropertyListValue?, PolicyTestFailure.Origin) {
    if let found = answer(domain, key, .forced) { return (found.value, .forced(by: found.profiles.map(\.title))) }
    guard let found = answer(domain, key, .recommended) else { return (nil, .nothing) }
    return (found.value, .recommended(by: found.profiles.map(\.title)))
  }

  private func answer(_ name: String, _ key: String, _ section: PolicySection) -> Resolution? {
    for name in ForcedDomain.domains(binding: name) {
      let resolution = domain.resolve(domain: name, key: key, section: section, under: truth)
      if resolution.value != nil { return resolution }
    }
    return nil
  }
}
