public import PropertyList
import Synchronization

/// `NSRegistrationDomain` as the search lists that a process opened for itself share it: the last place in each of them,
/// whichever list an application registers its defaults with, and those opened later. swift-corelibs-foundation and macOS
/// do the same.
public enum RegistrationDomain {
  private struct Shared {
    var values: [String: PropertyListValue] = [:]
    var members: [Member] = []
  }

  private struct Member {
    weak var list: SearchList?
  }

  private static let shared = Mutex(Shared())

  /// Gives a new list what was registered so far, and from now on what any other member registers.
  static func join(_ list: SearchList) {
    shared.withLock { shared in
      shared.members.removeAll { $0.list == nil }
      shared.members.append(Member(list: list))
      // Nobody observes a list that nobody has yet, so this calls nobody back under the lock.
      list.register(shared.values)
    }
  }

  /// Merges into the registration domain of every list that `ApplicationLists.open` made.
  public static func register(_ values: [String: PropertyListValue]) {
    let lists = shared.withLock { shared in
      shared.values.merge(values) { _, later in later }
      return shared.members.compactMap(\.list)
    }
    for list in lists { list.register(values) }
  }

  /// Merges, of the given values, those whose keys have none registered yet.
  public static func registerMissing(_ values: [String: PropertyListValue]) {
    let lists = shared.withLock { shared in
      shared.values.merge(values) { earlier, _ in earlier }
      return shared.members.compactMap(\.list)
    }
    for list in lists { list.registerMissing(values) }
  }
}
