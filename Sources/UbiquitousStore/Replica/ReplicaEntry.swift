/// What a replica holds for one key.
public struct ReplicaEntry: Hashable, Sendable {
  public var record: StoreRecord
  /// Whether the record is an edit made here that the back end has not acknowledged.
  public var isUnsent: Bool
  /// Whether the back end may have a record of this key, or have had one: it gave one, or was offered one.
  public var isKnown: Bool

  public init(record: StoreRecord, isUnsent: Bool, isKnown: Bool) {
    self.record = record
    self.isUnsent = isUnsent
    self.isKnown = isKnown
  }

  /// As the back end says it.
  init(standing record: StoreRecord) { self.init(record: record, isUnsent: false, isKnown: true) }
}

/// What a replica knew of its back end when it asked for changes.
public enum ReplicaHistory: Hashable, Sendable {
  /// Nothing yet, or what it knew was no history of this account: the first meeting of a device and an account.
  case none
  /// Nothing but that others here know it: a process that opens the file of its machine.
  case joining
  /// It has a cursor of this incarnation.
  case known
  /// It has a cursor of another one: the back end lost its memory, or got an older one back.
  case otherIncarnation
}
