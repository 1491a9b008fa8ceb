/// One edit of one key: what stores and back ends exchange.
///
/// Of two records of a key the one with the greater stamp wins (`Stamp`), whichever came first. So records may arrive
/// twice and in any order, and all end with the same.
public struct StoreRecord: Hashable, Sendable {
  /// 1 to 64 bytes, none of them 0 (`StoreLimits`).
  public let key: StoreKey
  /// The value as a binary property list of at most 1,048,576 bytes; nil is a tombstone: the key was removed.
  public let value: [UInt8]?
  public let stamp: Stamp

  public init(key: StoreKey, value: [UInt8]?, stamp: Stamp) {
    self.key = key
    self.value = value
    self.stamp = stamp
  }

  public var isTombstone: Bool { value == nil }
}

/// What a store holds at most, by SEMANTICS and by the reference: `NSUbiquitousKeyValueStore` has the same numbers.
public enum StoreLimits {
  /// Keys that have a value.
  public static let keyCount = 1024
  /// Bytes of UTF-8 in one key.
  public static let keyBytes = 64
  /// Bytes of one value as a binary property list.
  public static let valueBytes = 1_048_576
  /// Bytes of all values, each as a binary property list of its own. Keys do not count.
  public static let totalBytes = 1_048_576
}

/// Which store: that of one application, in one account.
public struct StoreID: Hashable, Sendable, CustomStringConvertible {
  /// Whose contents these are, as the back end names its accounts: a user of the database. Empty: no account yet.
  public let account: String
  /// The application's identifier, `com.example.MapViewer`: applications are kept apart.
  public let application: String

  public init(account: String, application: String) {
    self.account = account
    self.application = application
  }

  public var description: String { account.isEmpty ? application : "\(application) of \(account)" }
}
