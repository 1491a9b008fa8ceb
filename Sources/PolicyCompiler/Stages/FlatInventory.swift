import ForcedDomain
import HostPatterns
import PolicyLanguage

/// The inventory, groups inside groups replaced by what they hold: what conditions and proofs work with.
///
/// A group that is not declared holds nobody here; that it is missing is an error of its own, found before.
struct FlatInventory {
  private let inventory: Inventory?
  private var hostGroups: [String: [HostPattern]] = [:]
  private var userGroups: [String: UserMembers] = [:]
  private let hostGroupIndex: [String: Int]
  private let userGroupIndex: [String: Int]

  /// The members of a user group.
  struct UserMembers {
    var names: [String] = []
    var unixGroups: [String] = []
  }

  /// Every pattern that some group lists; nil where hosts that no group lists are welcome.
  let listedHosts: [HostPattern]?

  init(_ inventory: Inventory?) {
    self.inventory = inventory
    hostGroupIndex = Self.index(inventory?.hostGroups.map(\.name.value) ?? [])
    userGroupIndex = Self.index(inventory?.userGroups.map(\.name.value) ?? [])
    if let inventory, inventory.unknownHosts == .refuse {
      listedHosts = Self.patterns(inventory.hostGroups.flatMap { $0.names.map(\.value) })
    } else {
      listedHosts = nil
    }
  }

  private static func index(_ names: [String]) -> [String: Int] {
    var index: [String: Int] = [:]
    for (position, name) in names.enumerated() where index[name] == nil { index[name] = position }
    return index
  }

  /// Patterns of texts, doubles dropped. A text that is no pattern was reported when it was decoded.
  private static func patterns(_ texts: [String]) -> [HostPattern] {
    var seen: Set<String> = []
    return texts.compactMap { text in
      guard let pattern = try? HostPattern(parsing: text), seen.insert(pattern.text).inserted else { return nil }
      return pattern
    }
  }

  /// The host patterns of a group and of all groups inside it.
  /// - Complexity: O(what the group holds), once for each group.
  mutating func hosts(ofGroup name: String) -> [HostPattern] {
    if let known = hostGroups[name] { return known }
    var texts: [String] = []
    if let groups = inventory?.hostGroups {
      Self.walk(from: name, hostGroupIndex) { index in
        texts += groups[index].names.map(\.value)
        return groups[index].groups.map(\.value)
      }
    }
    let patterns = Self.patterns(texts)
    hostGroups[name] = patterns
    return patterns
  }

  /// The members of a user group and of all groups inside it.
  mutating func users(ofGroup name: String) -> UserMembers {
    if let known = userGroups[name] { return known }
    var members = UserMembers()
    if let groups = inventory?.userGroups {
      Self.walk(from: name, userGroupIndex) { index in
        members.names += groups[index].names.map(\.value)
        members.unixGroups += groups[index].unixGroups.map(\.value)
        return groups[index].groups.map(\.value)
      }
    }
    members.names = Self.unique(members.names)
    members.unixGroups = Self.unique(members.unixGroups)
    userGroups[name] = members
    return members
  }

  private static func unique(_ texts: [String]) -> [String] {
    var seen: Set<String> = []
    return texts.filter { seen.insert($0).inserted }
  }

  /// Visits a group and all below it once, however deep and however tangled.
  private static func walk(from name: String, _ index: [String: Int], _ visit: (Int) -> [String]) {
    var waiting = [name]
    var seen: Set<String> = [name]
    while let next = waiting.popLast() {
      guard let position = index[next] else { continue }
      for inner in visit(position) where seen.insert(inner).inserted { waiting.append(inner) }
    }
  }
}
