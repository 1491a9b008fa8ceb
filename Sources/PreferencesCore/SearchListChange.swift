/// What an observer of a search list is told after something changed.
public struct SearchListChange: Sendable, Hashable {
  public enum Source: Sendable, Hashable {
    /// A call on the observed list itself.
    case receiver
    /// Another search list of this process that shares a domain with the observed one.
    case otherList
    /// Another process replaced a file, or the synced store brought a value from another process or machine.
    case otherProcess
    /// A new generation of the forced domain, or a time window that opened or closed.
    case policy
  }

  public let source: Source
  /// The persistent domain that changed, nil when a volatile layer or the policy did.
  public let persistentDomain: String?
  /// The keys whose effective values changed, sorted by their bytes; a set on a forced key leaves this empty.
  public let keys: [String]
}
