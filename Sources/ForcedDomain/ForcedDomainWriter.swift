public import PropertyList

/// A value that was handed to a writer; valid in that writer alone.
public struct ValueReference: Sendable, Hashable {
  let tag: UInt8
  let bits: UInt64

  public static func boolean(_ value: Bool) -> ValueReference { fatalError() }
  public static func integer(_ value: Int64) -> ValueReference { fatalError() }
  public static func integer(_ value: PropertyListInteger) -> ValueReference { fatalError() }
  public static func real(_ value: Double) -> ValueReference { fatalError() }
  public static func date(_ value: PropertyListDate) -> ValueReference { fatalError() }
}

/// Where an entry was written, as numbers of the writer.
public struct ProvenanceReference: Sendable, Hashable {
  public var file: UInt32
  public var line: UInt32
  public var column: UInt32
  public var reason: UInt32
  public var owner: UInt32
  public var ticket: UInt32

  public init(
    file: UInt32, line: UInt32, column: UInt32, reason: UInt32 = 0, owner: UInt32 = 0, ticket: UInt32 = 0
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.reason = reason
    self.owner = owner
    self.ticket = ticket
  }
}

public struct ForcedDomainWriter {
  public init(kind: FileKind) { fatalError() }
  public mutating func reserve(keys: Int, entries: Int) {}
  public mutating func setHostGroups(_ groups: [HostGroup]) {}
  public mutating func setUserGroups(_ groups: [UserGroup]) {}
  public mutating func setResolvedUsers(_ users: [ResolvedUser]) {}
  /// A dictionary; containers, controls, exemptions: for later readers.
  public mutating func setAnnex(_ annex: PropertyListValue) {}
  public mutating func addProfile(_ profile: ProfileReference) -> UInt32 { fatalError() }
  /// `intervals`: one list of UTC intervals (Unix seconds) per window; empty for the kind `fleet`. 0 is `always`.
  public mutating func addCondition(_ condition: Condition, intervals: [[Range<Int64>]] = []) -> UInt32 { fatalError() }
  public mutating func addText(_ text: String) -> UInt32 { fatalError() }
  public mutating func addSourceFile(_ path: String) -> UInt32 { fatalError() }
  public mutating func addDomain(_ name: String) -> UInt32 { fatalError() }
  public mutating func addKey(domain: UInt32, key: UnsafeRawBufferPointer) -> UInt32 { fatalError() }
  public mutating func addKey(domain: UInt32, key: String) -> UInt32 { fatalError() }
  public mutating func addValue(_ value: PropertyListValue) -> ValueReference { fatalError() }
  public mutating func addString(_ utf8: UnsafeRawBufferPointer) -> ValueReference { fatalError() }
  /// Re-adds a value of another file without decoding it.
  public mutating func addStored(_ value: StoredValue) -> ValueReference { fatalError() }
  /// Whether two values are the same (canonical bytes).
  public func areEqual(_ a: ValueReference, _ b: ValueReference) -> Bool { fatalError() }
  public mutating func addEntry(
    key: UInt32, section: PolicySection, action: EntryAction, rank: Rank, condition: UInt32, profile: UInt32,
    value: ValueReference?, provenance: ProvenanceReference? = nil
  ) {}
  /// Entries of a key are put in rank order, equal ones in the order of their canonical bytes; keys without entries are dropped.
  public consuming func finish(_ stamp: FileStamp) throws(ForcedDomainError) -> [UInt8] { fatalError() }
}
