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
    let entries = containerEntries
    let identifiers = Set(entries.compactMap { $0.dictionaryValue?["domain"]?.stringValue }).sortedByBytes()
    return identifiers.compactMap { grants(for: $0, among: entries, under: truth) }
  }

  /// The grants of one application; nil where it is not contained.
  public func grants(for identifier: String, under truth: ConditionTruth) -> ApplicationGrants? {
    grants(for: identifier, among: containerEntries, under: truth)
  }

  /// The applications that a profile contains, on whatever condition; sorted.
  public var containedApplications: [String] {
    Set(containerEntries.compactMap { $0.dictionaryValue?["domain"]?.stringValue }).sortedByBytes()
  }

  /// Whether any entry forces a value, or any application is contained: what must not be lost unnoticed.
  public var bindsAnything: Bool { forcesAnything || !containedApplications.isEmpty }

  private var containerEntries: [PropertyListValue] { annex?.dictionaryValue?["containers"]?.arrayValue ?? [] }

  private func grants(
    for identifier: String, among entries: [PropertyListValue], under truth: ConditionTruth
  ) -> ApplicationGrants? {
    var isContained = false
    var groups: [String] = []
    var read: [String] = []
    var files: [String] = []
    var profiles: [String] = []
    for value in entries {
      guard let entry = value.dictionaryValue, entry["domain"]?.stringValue == identifier,
        case .integer(let number)? = entry["condition"], let condition = number.int64.flatMap({ Int(exactly: $0) })
      else { continue }
      // A number that no condition has can't be decided.
      let isKnown = conditions.indices.contains(condition)
      if isKnown && !truth.holds(condition, for: .replace) { continue }
      isContained = true
      if let profile = entry["profile"]?.stringValue { profiles.append(profile) }
      guard isKnown, truth.holds(condition, for: .release) else { continue }
      groups += entry["groups"]?.stringArrayValue ?? []
      read += entry["read"]?.stringArrayValue ?? []
      files += entry["files"]?.stringArrayValue ?? []
    }
    guard isContained else { return nil }
    // A group that is named like an application would be in two places: the application's own is where everybody looks.
    let applications = Set(entries.compactMap { $0.dictionaryValue?["domain"]?.stringValue })
    groups.removeAll { applications.contains($0) }
    return ApplicationGrants(
      identifier: identifier, groups: united(groups), read: united(read), files: united(files),
      profiles: united(profiles))
  }

  private func united(_ names: [String]) -> [String] { names.isEmpty ? [] : Set(names).sortedByBytes() }
}
