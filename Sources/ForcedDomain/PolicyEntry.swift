public import PropertyList

/// The profile that an entry comes from.
public struct ProfileReference: Sendable, Hashable {
  public var id: String
  public var title: String
  /// Only in bundles and provenance files.
  public var owner: String?

  public init(id: String, title: String, owner: String? = nil) {
    self.id = id
    self.title = title
    self.owner = owner
  }
}

/// Where in the sources an entry was written, and why.
public struct Provenance: Sendable, Hashable {
  /// Relative to the folder of policies.
  public var file: String
  /// From 1.
  public var line: UInt32
  /// From 1.
  public var column: UInt32
  public var reason: String?
  public var owner: String?
  public var ticket: String?

  public init(
    file: String, line: UInt32, column: UInt32, reason: String? = nil, owner: String? = nil, ticket: String? = nil
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.reason = reason
    self.owner = owner
    self.ticket = ticket
  }
}

/// One line of policy for one key, decoded for people: `explain`, `forcedBy`, reports.
public struct ForcedEntry: Sendable, Hashable {
  public var section: PolicySection
  public var action: EntryAction
  public var rank: Rank
  public var conditionIndex: Int
  public var condition: Condition
  public var profile: ProfileReference
  /// nil for a release.
  public var value: PropertyListValue?
  /// nil in the world-readable file.
  public var provenance: Provenance?
}
