import PropertyList

/// What the policy shares with a contained application, beside its own preferences.
public struct ApplicationGrants: Sendable, Hashable {
  /// The application's domain.
  public let identifier: String
  /// Groups whose domain it may read and write; sorted.
  public let groups: [String]
  /// Foreign domains that it may read; sorted.
  public let read: [String]
  /// Paths that `policyctl run` opens to it, as written (`~/Documents`); sorted.
  public let files: [String]
  /// The profiles that contain it; sorted.
  public let profiles: [String]

  public init(
    identifier: String, groups: [String] = [], read: [String] = [], files: [String] = [], profiles: [String] = []
  ) {
    self.identifier = identifier
    self.groups = groups
    self.read = read
    self.files = files
    self.profiles = profiles
  }
}

extension ForcedDomain {
  /// The grants of every application that is contained under these conditions, sorted by identifier.
  ///
  /// An application is contained when any profile that holds says so; grants of several profiles unite. A condition that
  /// can't be decided contains the application (that closes) and shares nothing with it (that would open).
  /// - Complexity: O(the annex's size).
  public func grants(under truth: ConditionTruth) -> [ApplicationGrants] {
    var all: [String: [(entry: [String: PropertyListValue], isSure: Bool)]] = [:]
    for value in annex?.dictionaryValue?["containers"]?.arrayValue ?? [] {
      guard let entry = value.dictionaryValue, let identifier = entry["domain"]?.stringValue,
        case .integer(let number)? = entry["condition"], let condition = number.int64.flatMap({ Int(exactly: $0) })
      else { continue }
      // A number that no condition has can't be decided.
      let isKnown = conditions.indices.contains(condition)
      if isKnown && !truth.holds(condition, for: .replace) { continue }
      all[identifier, default: []].append((entry, isKnown && truth.holds(condition, for: .release)))
    }
    return all.map { identifier, entries in
      func united(_ member: String, _ entries: [[String: PropertyListValue]]) -> [String] {
        Set(entries.flatMap { $0[member]?.stringArrayValue ?? [] }).sortedByBytes()
      }
      let sure = entries.filter(\.isSure).map(\.entry)
      return ApplicationGrants(
        identifier: identifier, groups: united("groups", sure), read: united("read", sure),
        files: united("files", sure),
        profiles: Set(entries.compactMap { $0.entry["profile"]?.stringValue }).sortedByBytes())
    }.sorted { $0.identifier.utf8.lexicographicallyPrecedes($1.identifier.utf8) }
  }

  /// The grants of one application; nil where it is not contained.
  public func grants(for identifier: String, under truth: ConditionTruth) -> ApplicationGrants? {
    grants(under: truth).first { $0.identifier == identifier }
  }
}
