public import LinuxFiles
public import PreferencesCore

/// The layers of one user that policy does not write, domain by domain.
///
/// They are opened when a value is first asked for, and are only read: nothing is made in anybody's home.
public final class UserPreferences {
  private let configuration: (_ domain: String) -> SearchList.Configuration
  /// Whose rights count for reading; nil for those of this process.
  private let owner: UserAccount?
  private var lists: [String: SearchList?] = [:]
  private var refusal: String?

  /// - Parameters:
  ///   - owner: whose rights count for reading, so that nothing in a home directory leads to what its owner could not
  ///     read; nil for those of this process.
  ///   - configuration: of the list for an application with the given domain. It must not observe, and must not
  ///     prepare a container.
  public init(
    readingAs owner: UserAccount? = nil, _ configuration: @escaping (_ domain: String) -> SearchList.Configuration
  ) {
    self.owner = owner
    self.configuration = configuration
  }

  private func list(_ domain: String) -> SearchList? {
    if let known = lists[domain] { return known }
    let configuration = configuration(domain)
    // A list reads everything there is when it is made.
    func open() -> SearchList? { try? SearchList(configuration: configuration) }
    var list: SearchList?
    if let owner {
      do throws(Errno) {
        list = try BorrowedRights.with(owner, groupIDs: UserDatabase.groupIDs(of: owner), open)
      } catch {
        refusal = "the preferences of \(owner.name) can't be read with the rights of \(owner.name): \(error)"
      }
    } else {
      list = open()
    }
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
    var all = Set([refusal].compactMap { $0 })
    for domain in lists.keys { all.formUnion(faults(ofDomain: domain).map(\.description)) }
    return all.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
