public import PreferencesCore

/// The layers of one user that policy does not write, domain by domain.
///
/// They are opened when a value is first asked for, and are only read: nothing is made in anybody's home.
public final class UserPreferences {
  private let configuration: (_ domain: String) -> SearchList.Configuration
  private var lists: [String: SearchList?] = [:]

  /// - Parameter configuration: of the list for an application with the given domain. It must not observe, and must not
  ///   prepare a container.
  public init(_ configuration: @escaping (_ domain: String) -> SearchList.Configuration) {
    self.configuration = configuration
  }

  private func list(_ domain: String) -> SearchList? {
    if let known = lists[domain] { return known }
    let list = try? SearchList(configuration: configuration(domain))
    lists[domain] = .some(list)
    return list
  }

  /// The layers that are asked for a key, in their order, those of the policy left out.
  func considered(domain: String, key: String) -> [Resolution.Candidate] {
    (list(domain)?.resolution(of: key).considered ?? []).filter { $0.layer != .forced && $0.layer != .recommended }
  }

  /// What can't be read of a domain's files.
  func faults(ofDomain domain: String) -> [PreferencesFault] {
    (list(domain)?.faults ?? []).filter { $0.kind != .policyUnavailable && $0.kind != .policyDamaged }
  }

  /// The faults of all domains that were asked for, each once.
  public var faults: [String] {
    var all: Set<String> = []
    for domain in lists.keys { all.formUnion(faults(ofDomain: domain).map(\.description)) }
    return all.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
