/// A back end on this machine that stands near for one between machines: it answers at once, online or not, and keeps what
/// the far one has not acknowledged. `Relay` brings the two together.
///
/// To its readers it is a back end like any other. Towards the far one it is a replica (`ReplicaEntries`). Each call is one
/// transaction.
public protocol NearBackEnd: StoreBackEnd {
  /// How far the far back end's changes were taken in; nil before the first meeting.
  func farCursor(of store: StoreID) throws(BackEndError) -> StoreCursor?

  /// Takes in the far back end's answer to what changed after `asked`; one to another question than the last changes
  /// nothing. The first whole contents begin a new incarnation for readers, who are told that their first days have ended
  /// (`StoreChanges.endsFirstDays`).
  func take(_ changes: StoreChanges, after asked: StoreCursor?, into store: StoreID) throws(BackEndError)

  /// A push of who has taken in the history of `cursor`. Where another has begun meanwhile, since the far back end's contents
  /// were met for the first time, nothing is taken: edits made in ignorance of them must give way, whatever their stamps.
  /// - Returns: nil then; the pusher takes in what is there, and pushes what is left.
  func push(
    _ records: [StoreRecord], to store: StoreID, knowing cursor: StoreCursor
  ) throws(BackEndError) -> [PushOutcome]?

  /// The edits that the far back end has not acknowledged, in the order of their keys; takes down that it may know them.
  func offer(of store: StoreID) throws(BackEndError) -> [StoreRecord]

  /// Takes in the far back end's answer to a push.
  func acknowledge(
    _ pushed: [StoreRecord], _ outcomes: [PushOutcome], in store: StoreID, clock: inout HybridLogicalClock
  ) throws(BackEndError)

  /// Makes another account the present one. What was stored under none becomes the first account's; what another account
  /// left stays with it, its unsent edits too, until it comes back.
  func setAccount(_ account: String) throws(BackEndError)
}
