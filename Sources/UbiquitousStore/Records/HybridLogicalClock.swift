/// Gives edits their stamps: a hybrid logical clock.
///
/// **The law.** A new stamp is greater than that of the record that it replaces, so a later edit that was made in knowledge
/// of an earlier one always wins, whatever the wall clocks say. No stamp is given twice. Apart from that it is the wall
/// clock's time, so that of two edits made in ignorance of each other the later one wins where the clocks are right.
///
/// A clock that is wrong can't carry others away: a time farther than `tolerance` ahead of the wall clock, seen from
/// others or given by this clock before its wall clock was corrected, is followed for its own key only. There the new
/// stamp is the next after it, and the key comes back to the true time when that has passed — or when a back end
/// refuses the stamp (`PushOutcome.clockAhead`), which caps it at the back end's time.
public struct HybridLogicalClock: Sendable {
  /// How far ahead a stamp may be and still be followed by clocks, and be taken by back ends between machines: five
  /// minutes, in milliseconds.
  public static let tolerance: Int64 = 300_000

  /// Of the stamps that come. It is a new one after the wall clock was set back by more than `tolerance`: the same times
  /// are given once more then.
  public private(set) var device: DeviceID
  private var time: Int64 = 0
  private var counter: Int32 = 0

  public init(device: DeviceID) { self.device = device }

  /// Takes notice of a stamp that others made.
  /// - Parameter now: the wall clock's milliseconds.
  /// - Returns: false where it is too far ahead to be followed; worth a line in a log.
  @discardableResult
  public mutating func observe(_ stamp: Stamp, now: Int64) -> Bool {
    guard stamp.time <= now + Self.tolerance else { return false }
    if (stamp.time, stamp.counter) > (time, counter) { (time, counter) = (stamp.time, stamp.counter) }
    return true
  }

  /// A stamp for an edit made now.
  /// - Parameter replaced: the stamp of the key's present record, a tombstone's too; nil for none.
  public mutating func stamp(now: Int64, replacing replaced: Stamp?) -> Stamp {
    let now = max(now, 0)
    if now > time {
      (time, counter) = (now, 0)
    } else if time > now + Self.tolerance {
      (time, counter, device) = (now, 0, .random())
    } else {
      (time, counter) = Self.next(time, counter)
    }
    guard let replaced, (replaced.time, replaced.counter) >= (time, counter) else {
      return Stamp(time: time, counter: counter, device: device)
    }
    let next = Self.next(replaced.time, replaced.counter)
    if next.0 <= now + Self.tolerance { (time, counter) = next }
    return Stamp(time: next.0, counter: next.1, device: device)
  }

  private static func next(_ time: Int64, _ counter: Int32) -> (Int64, Int32) {
    counter == .max ? (time + 1, 0) : (time, counter + 1)
  }
}
