/// Which hosts a fleet has, as its inventory says.
public struct ExpectedHosts: Sendable {
  /// Names in lower case, each once, in the order of the inventory; one without a dot stands for a short name.
  public let names: [String]
  /// Patterns that name hosts without listing them: who is missing of those can't be known.
  public let openPatterns: [String]
  /// Names that the inventory lists more than once, in whatever spelling, within one group.
  public let doubled: [String]
  private let isListed: @Sendable (_ host: String) -> Bool

  /// - Parameter isListed: whether some pattern means a host, by the engine's one matching function.
  public init(
    names: [String], openPatterns: [String], doubled: [String] = [],
    isListed: @escaping @Sendable (_ host: String) -> Bool
  ) {
    self.names = names
    self.openPatterns = openPatterns
    self.doubled = doubled
    self.isListed = isListed
  }

  func lists(_ host: String) -> Bool { isListed(host) }
}

/// One file of a collection: its bytes, or why it could not be read.
public struct CollectedFile: Sendable {
  public let name: String
  public let contents: Contents

  public enum Contents: Sendable {
    case bytes([UInt8])
    case unreadable(String)
  }

  public init(name: String, contents: Contents) {
    self.name = name
    self.contents = contents
  }
}
