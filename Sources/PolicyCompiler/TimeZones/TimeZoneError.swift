/// Why a zone's rules can't be had: no such zone, or a file that is not what it should be.
public struct TimeZoneError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    /// The name has a form that no zone's name has (empty, absolute, with `..`).
    case malformedName
    /// There is no such zone in this system's zone files.
    case unknownZone
    /// The file is there and can't be read; the system's words.
    case unreadable(String)
    /// The file is not a sound TZif file of version 2 or later; what is wrong with it.
    case damagedFile(String)
  }

  /// The zone, as the policy names it.
  public let zone: String
  public let reason: Reason

  public init(zone: String, reason: Reason) {
    self.zone = zone
    self.reason = reason
  }

  public var description: String {
    switch reason {
    case .malformedName: "'\(zone)' is not the name of a time zone (one looks like Europe/Berlin)"
    case .unknownZone: "time zone '\(zone)' is not known on this system (its files come with the package tzdata)"
    case .unreadable(let why): "the rules of time zone '\(zone)' can't be read: \(why)"
    case .damagedFile(let why): "the rules of time zone '\(zone)' are damaged: \(why)"
    }
  }
}
