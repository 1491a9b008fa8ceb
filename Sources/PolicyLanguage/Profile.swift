public import PropertyList

/// A key and its value in a section, as nodes of the profile's tree: 100,000 of them cost no strings.
public struct KeySetting: Sendable {
  public let key: NodeID
  /// Where the manifest says string, a plainly written scalar is a string node here (its source text).
  public internal(set) var value: NodeID

  public init(key: NodeID, value: NodeID) {
    self.key = key
    self.value = value
  }
}

/// What a section sets in one domain.
public struct DomainSettings: Sendable {
  public let domain: Located<String>
  public internal(set) var settings: [KeySetting]
}

/// Keys of one domain: what a profile stops forcing, or lets roam.
public struct DomainKeys: Sendable {
  public let domain: Located<String>
  public let keys: [Located<String>]
}

/// A profile: what it forces, recommends and releases, where, for whom and when.
public struct Profile: Sendable {
  /// Index of its file in ``PolicyTree/sources``.
  public let source: Int
  /// The document that its settings' nodes belong to.
  public let tree: NodeTree
  public let position: SourcePosition
  public let id: Located<String>
  public let title: Located<String>
  public let description: Located<String>?
  public let owner: Located<String>?
  /// 0 where none is written.
  public let priority: Located<Int64>
  public let applies: Scope
  public internal(set) var forced: [DomainSettings]
  public internal(set) var recommended: [DomainSettings]
  public let release: [DomainKeys]
  public internal(set) var overrides: [Override]
  public internal(set) var controls: [Control]
  public let exemptions: [Exemption]
  public let containers: [ContainerGrant]
  /// Keys that are kept in the user's synced store, application by application.
  public let roaming: [DomainKeys]
}

/// A narrower part of a profile, which beats the profile's own part.
public struct Override: Sendable {
  public let position: SourcePosition
  public let scope: Scope
  public let reason: Located<String>
  public let owner: Located<String>?
  public let ticket: Located<String>?
  /// From this instant on it holds no more.
  public let expires: Located<PropertyListDate>?
  public internal(set) var forced: [DomainSettings]
  public internal(set) var recommended: [DomainSettings]
  public let release: [DomainKeys]
}

/// What an auditor checks, wherever and whenever its profile applies.
public struct Control: Sendable {
  public enum Severity: String, Sendable, CaseIterable {
    case info, low, medium, high, critical
  }

  public let position: SourcePosition
  public let id: Located<String>
  public let title: Located<String>
  public let references: [String]
  /// `medium` where none is written.
  public let severity: Severity
  public internal(set) var expectations: [ControlExpectation]
}

/// What a control expects of one key.
public struct ControlExpectation: Sendable {
  public typealias Operator = ValueComparison

  public struct Condition: Sendable {
    public let comparison: Operator
    /// The operand's node in the profile's tree.
    public internal(set) var operand: NodeID
    public internal(set) var value: PropertyListValue

    public init(comparison: Operator, operand: NodeID, value: PropertyListValue) {
      self.comparison = comparison
      self.operand = operand
      self.value = value
    }

    /// Whether a key's effective value meets it; no value (nil) never does.
    public func holds(for effective: PropertyListValue?) -> Bool { comparison.holds(for: effective, operand: value) }
  }

  public let domain: Located<String>
  public let key: Located<String>
  /// All must hold.
  public internal(set) var conditions: [Condition]
  public let position: SourcePosition
}

/// Where and until when a control's keys are released.
public struct Exemption: Sendable {
  public let position: SourcePosition
  public let control: Located<String>
  public let scope: Scope
  public let reason: Located<String>
  public let owner: Located<String>
  public let expires: Located<PropertyListDate>
}

/// What a contained application may share.
public struct ContainerGrant: Sendable {
  /// The application's domain.
  public let domain: Located<String>
  /// Group domains, read and write.
  public let groups: [Located<String>]
  /// Foreign domains, read-only.
  public let read: [Located<String>]
  /// Paths, absolute or below `~`.
  public let files: [Located<String>]
}
