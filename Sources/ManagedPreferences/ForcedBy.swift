public import Foundation
internal import PreferencesCore

/// A profile that forces a value: what to tell the user whose control is locked.
public struct ForcedBy: Sendable, Hashable {
  /// The profile's id, such as `org.example.lab.exam`.
  public let profile: String
  /// The profile's name for people, such as `Exam mode`.
  public let title: String
  /// The host's generation of policies that says so.
  public let generation: UInt64
  /// When the profile's part in it ends by itself, because a time window closes or an override expires; nil when only a
  /// new generation can end it.
  public let until: Date?

  init(_ evidence: PreferencesCore.ForcedBy) {
    profile = evidence.profile
    title = evidence.title
    generation = evidence.generation
    until = evidence.until.map { Date(timeIntervalSince1970: Double($0)) }
  }
}
