public import PropertyList

/// A value as it stands in a file; valid only while the closure that it was given to runs.
public struct StoredValue {
  public var type: PropertyListType { fatalError() }
  /// The text of a string.
  public var utf8: UnsafeRawBufferPointer? { fatalError() }
  public func decoded() -> PropertyListValue { fatalError() }
}

/// What the law says about one key, as cheaply as can be; valid only while the closure that it was given to runs.
public enum ResolvedValue {
  case boolean(Bool)
  case integer(PropertyListInteger)
  case real(Double)
  case date(PropertyListDate)
  case string(UnsafeRawBufferPointer)
  /// Data, an array or a dictionary, not decoded yet.
  case stored(StoredValue)
  /// What a union gathered.
  case gathered(PropertyListValue)
  public var value: PropertyListValue { fatalError() }
}

/// One entry as it stands in a file, for narrowing; valid only while the closure that it was given to runs.
public struct StoredEntry {
  public let domain: Int
  public let key: UnsafeRawBufferPointer
  public let section: PolicySection
  public let action: EntryAction
  public let rank: Rank
  public let condition: Int
  public let profile: Int
  public let value: StoredValue?
  /// nil in the kind `forced`.
  public let provenance: Provenance?
}

/// Why a condition does not hold: its first part that fails.
public enum ConditionReason: Sendable, Hashable {
  case host, user, window
  case expired(at: Int64)
}

public struct Candidate: Sendable, Hashable {
  public let entry: ForcedEntry
  /// Its condition holds (a part that can't be decided counts against the user: it holds, but not for a release).
  public let holds: Bool
  /// The walk took it: it gave a value or, a release, ended the walk.
  public let decides: Bool
  public let whyNot: ConditionReason?
  /// Some part could not be decided (past the horizon, an unresolved user).
  public let isUndecided: Bool
}

public struct Resolution: Sendable, Hashable {
  public let value: PropertyListValue?
  public let contributors: [ForcedEntry]
  public let candidates: [Candidate]
}

public struct ConditionTruth: Sendable {
  /// The next Unix second at which any condition may change.
  public let nextEdge: Int64?
  public func holds(_ condition: Int, for action: EntryAction) -> Bool { fatalError() }
  public func isUndecided(_ condition: Int) -> Bool { fatalError() }
}

public final class ForcedDomain: Sendable {
  public convenience init(bytes: [UInt8], expecting kinds: Set<FileKind>) throws(ForcedDomainError) { fatalError() }
  public static let maximumByteCount = 256 << 20
  public let kind: FileKind
  public let generation: UInt64
  public let serial: UInt64
  public let sourceDigest: [UInt8]
  public let hostName: String
  public let horizon: Range<Int64>
  public let checksum: UInt64
  public let byteCount: Int
  public let keyCount: Int
  public let entryCount: Int
  public var domains: [String] { fatalError() }
  public func keys(inDomain domain: String) -> [String] { fatalError() }
  public var profiles: [ProfileReference] { fatalError() }
  public var hostGroups: [HostGroup] { fatalError() }
  public var userGroups: [UserGroup] { fatalError() }
  public var resolvedUsers: [ResolvedUser] { fatalError() }
  public var conditions: [Condition] { fatalError() }
  /// The intervals of each window of a condition.
  public func intervals(ofCondition index: Int) -> [[Range<Int64>]] { fatalError() }
  public var annex: PropertyListValue? { fatalError() }
  public func entries(domain: String, key: String, section: PolicySection) -> [ForcedEntry] { fatalError() }
  /// Every entry, in the order domain, key, section, rank.
  public func forEachEntry(_ body: (StoredEntry) throws -> Void) rethrows { fatalError() }
  public func truth(in context: EvaluationContext) -> ConditionTruth { fatalError() }
  public func resolve(
    domain: String, key: String, section: PolicySection, under truth: ConditionTruth
  ) -> Resolution { fatalError() }
  public func forEachResolvedKey(
    inDomain domain: String, section: PolicySection, under truth: ConditionTruth,
    _ body: (_ keyUTF8: UnsafeRawBufferPointer, _ value: ResolvedValue) throws -> Void
  ) rethrows { fatalError() }
  init() { fatalError() }
}
