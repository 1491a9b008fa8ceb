import ForcedDomain

/// The users for whom a condition can hold.
///
/// Who is in a Unix group, and which names are people, is known on a host only. So two conditions are apart here only
/// where no machine could bring them together: names that differ, or items that the other one excepts.
struct UserReach: Hashable {
  /// Something a user can be, groups of the inventory already replaced by what they hold.
  enum Item: Hashable {
    case people
    case name(String)
    case unixGroup(String)
  }

  /// One list for each selector on the way; none: everyone.
  private(set) var lists: [Set<Item>] = []
  private(set) var exceptions: Set<Item> = []

  init() {}

  /// The users of a condition and of the conditions around it.
  init(of condition: Condition, in inventory: inout FlatInventory) { add(condition, &inventory) }

  private mutating func add(_ condition: Condition, _ inventory: inout FlatInventory) {
    if let users = condition.users {
      if !users.include.isEmpty { lists.append(Self.items(users.include, &inventory)) }
      exceptions.formUnion(Self.items(users.exclude, &inventory))
    }
    for outer in condition.within { add(outer, &inventory) }
  }

  private static func items(_ atoms: [UserAtom], _ inventory: inout FlatInventory) -> Set<Item> {
    var items: Set<Item> = []
    for atom in atoms {
      switch atom {
      case .people: items.insert(.people)
      case .name(let name): items.insert(.name(name))
      case .group(let name):
        let members = inventory.users(ofGroup: name)
        for name in members.names { items.insert(.name(name)) }
        for group in members.unixGroups { items.insert(.unixGroup(group)) }
      }
    }
    return items
  }

  /// False only where it is proven that no user can be meant by both.
  func canMeet(_ other: UserReach) -> Bool {
    let without = exceptions.union(other.exceptions)
    let lists = (lists + other.lists).map { $0.subtracting(without) }
    if lists.contains(where: \.isEmpty) { return false }
    // One user has one name: where some list knows names only, one of them must fit all the other lists.
    let named = lists.filter { $0.allSatisfy(\.isName) }
    guard let first = named.min(by: { $0.count < $1.count }) else { return true }
    return first.contains { name in named.allSatisfy { $0.contains(name) } }
  }
}

extension UserReach.Item {
  var isName: Bool {
    if case .name = self { return true }
    return false
  }
}
