/// What observers of a store are told.
public struct StoreChange: Hashable, Sendable {
  /// With the numbers that `NSUbiquitousKeyValueStore` gives them.
  public enum Reason: Int, Hashable, Sendable {
    /// Another machine, or another process of this one, changed values.
    case serverChange = 0
    /// The store met its account for the first time, and took its values in.
    case initialSync = 1
    /// A value was refused, or others' edits came together to more than the limits.
    case quotaViolation = 2
    /// The contents are another account's now.
    case accountChange = 3
  }

  public let reason: Reason
  /// Sorted by their bytes.
  public let keys: [String]

  init(_ reason: Reason, _ keys: some Sequence<StoreKey>) {
    self.reason = reason
    self.keys = keys.sorted().map(\.text)
  }
}
