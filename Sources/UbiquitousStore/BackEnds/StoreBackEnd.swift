/// Where records are kept for all who share them: a file for the processes of a user, a database for many machines.
///
/// **What an implementation guarantees** (`Tests/BackEndConformance` checks it; a new one starts with its test written):
///
/// 1. *The greater stamp wins.* For each (store, key) one record stands. A pushed record replaces it if its stamp is
///    greater; an equal one is the same edit once more, and is answered `taken`; a smaller one is answered `superseded`.
///    So pushes may be repeated, delayed and reordered.
/// 2. *Taken is durable.* When `push` has answered, what was taken survives that every process ends at once. A push is
///    one transaction: where it throws, nothing of it was taken — or all of it, where the connection broke on the way
///    back; the caller then pushes the same again.
/// 3. *No change is missed.* Each record that is taken gets the account's next number in commit order; `changes` answers
///    everything after a cursor (`StoreCursor`). A push that takes nothing changes nothing: no number, no hint.
/// 4. *Tombstones are kept* for 90 days (`TombstoneRetention`) by the back end's own clock, then they may be collected; where
///    a store has more than 4,096, the oldest sooner. That happens during a push, never by a reader or when idle. Then the store's floor rises to the number of the last one
///    collected, and `changes` gives whole contents to readers below it; the greatest collected stamp is answered as
///    `floor`.
/// 5. *Stores are apart.* Nothing of another account or application appears in an answer, or in a hint.
/// 6. *Clocks.* A back end between machines refuses a record whose time is farther than five minutes
///    (`HybridLogicalClock.tolerance`) ahead of its own clock and greater than that of the record that stands, one by one
///    (`clockAhead`); others of the push are taken. One on a single machine takes all. None refuses a stamp for being old.
/// 7. *Limits.* A push with a key of no or more than 64 bytes, a zero byte in a key, a value of more than 1,048,576 bytes, a
///    stamp outside of `Stamp`'s ranges or a key twice is refused whole (`BackEndError.refused`; `RecordCheck` says what
///    is wrong). The limits for a whole store are the business of who sets; since edits made apart must
///    come together, a back end takes at least 8,192 rows and 16 MiB for a store, and answers `noRoom` only beyond.
///
/// Calls block, and come from several threads. None is repeated or delayed inside: who calls decides when to try again.
public protocol StoreBackEnd: AnyObject, Sendable {
  /// Whose contents this connection may read and write; a change of it is an account change.
  ///
  /// For a database its user, as the server says it, not as the client asked.
  func account() throws(BackEndError) -> String

  /// What changed in a store after a cursor; everything for nil. A store that nobody ever wrote is empty, no error.
  func changes(in store: StoreID, after cursor: StoreCursor?) throws(BackEndError) -> StoreChanges

  /// Offers records, each key at most once.
  /// - Returns: one outcome for each record, in the order of the records.
  func push(_ records: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome]

  /// Calls `hint` when somebody else may have changed the store: soon after each push of others that took something, and
  /// after every interruption in which one could have gone unnoticed. It carries no contents, and may come for nothing.
  ///
  /// `hint` is called on any thread, must not block and must not call the back end. Watching does not
  /// fail: where the other end can't be reached, the back end tries again by itself, with back-off, and hints when it is there.
  /// An idle watch causes no traffic beyond keeping its connection.
  /// - Returns: what to hold; letting it go ends the watch.
  func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch

  /// Lets go what is open for now, since whoever used it ends; the next call opens it again.
  func close()
}

extension StoreBackEnd {
  /// Nothing is held open.
  public func close() {}
}

/// A watch that lasts as long as it is held.
public protocol ChangeWatch: AnyObject, Sendable {}

/// What became of one record of a push.
public enum PushOutcome: Sendable, Hashable {
  /// It stands, now or already before.
  case taken
  /// A record with a greater stamp stands, which may be a tombstone.
  case superseded(by: StoreRecord)
  /// Its clock is too far ahead. The back end's own time in milliseconds since 1970, and the stamp of the record that
  /// stands, nil for none: the edit is to be given a stamp after both, and pushed again.
  case clockAhead(backEndTime: Int64, standing: Stamp?)
}

/// Why a back end did not do what it was asked. The texts are for people: one line that names the place and what to do.
public enum BackEndError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Offline, busy, restarted, cut: the same call may succeed later.
  case unreachable(String)
  /// Not with these rights: credentials, another's account, a file's mode. Trying again needs a change by somebody.
  case notPermitted(String)
  /// The account is full. Later pushes that remove or shorten are taken.
  case noRoom(String)
  /// The contents are damaged or of a newer version than this program knows.
  case unusable(String)
  /// The call itself breaks a rule of the protocol, such as a key of 65 bytes: a mistake of the program.
  case refused(String)

  public var description: String {
    switch self {
    case .unreachable(let text), .notPermitted(let text), .noRoom(let text), .unusable(let text), .refused(let text):
      text
    }
  }

  /// Whether trying again later can help without anybody's doing anything.
  public var isTransient: Bool {
    if case .unreachable = self { true } else { false }
  }
}

/// How long tombstones are kept at least: a device that was away for longer takes the whole contents first, and what it
/// had and they have not is gone there too.
public enum TombstoneRetention {
  /// 90 days, in milliseconds.
  public static let milliseconds: Int64 = 90 * 86_400_000
}
