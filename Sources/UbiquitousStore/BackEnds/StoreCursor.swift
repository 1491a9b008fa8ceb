/// How far a reader has taken in an account's changes.
///
/// A back end counts the changes of an account (or of each store by itself, if it likes): each record that it takes gets
/// the next number, in the same transaction and in the order in which the transactions come to be seen. So whoever has read up to a number has missed
/// none below it. (A sequence of PostgreSQL would not do: its numbers are given out before the commit, and a smaller one
/// may appear later.)
public struct StoreCursor: Hashable, Sendable {
  /// Names the history that the number counts: 16 random bytes, made when the account's contents were begun, and anew
  /// after they were restored from a copy. Under another incarnation a number means nothing.
  public let incarnation: DeviceID
  /// The number of the last change that was taken in; 0 is before the first.
  public let sequence: Int64

  public init(incarnation: DeviceID, sequence: Int64) {
    self.incarnation = incarnation
    self.sequence = sequence
  }
}

/// What a back end answers to a reader who asks for changes.
public struct StoreChanges: Sendable, Hashable {
  /// For each key that changed after the cursor its present record, tombstones included; each key once, in any order.
  public let records: [StoreRecord]
  /// Where to go on. Equal to the cursor that was given where nothing changed.
  public let cursor: StoreCursor
  /// Whether this is everything that the store holds, rather than what changed: the reader had no cursor, or one of
  /// another incarnation, or one beyond the counter, or one below the floor (tombstones that it never saw were
  /// collected). What it has and this has not was removed, or never known (`ReplicaEntries` has the rule).
  public let isWhole: Bool
  /// The greatest stamp of any tombstone of this store that was ever collected; nil where none was. Given with whole
  /// contents, and ignored otherwise.
  public let floor: Stamp?
  /// Whether the reader's history ended because the store met its account for the first time. Only a back end that stands
  /// near for a farther one says so; what the reader has not pushed yields to what is here then.
  public let endsFirstDays: Bool

  public init(
    records: [StoreRecord], cursor: StoreCursor, isWhole: Bool, floor: Stamp? = nil, endsFirstDays: Bool = false
  ) {
    self.endsFirstDays = endsFirstDays
    self.records = records
    self.cursor = cursor
    self.isWhole = isWhole
    self.floor = floor
  }
}
