import ForcedDomain
import HostPatterns

/// The hosts on which a condition can hold: one pattern of each list, and no exception.
struct HostReach: Hashable {
  /// One list for each selector on the way; none: every host.
  var lists: [[HostPattern]] = []
  var exceptions: [HostPattern] = []

  init() {}

  /// The hosts of a condition and of the conditions around it.
  init(of condition: Condition, in inventory: inout FlatInventory) { add(condition, &inventory) }

  private mutating func add(_ condition: Condition, _ inventory: inout FlatInventory) {
    if let hosts = condition.hosts {
      if !hosts.include.isEmpty { lists.append(Self.patterns(hosts.include, &inventory)) }
      exceptions += Self.patterns(hosts.exclude, &inventory)
    }
    for outer in condition.within { add(outer, &inventory) }
  }

  static func patterns(_ atoms: [HostAtom], _ inventory: inout FlatInventory) -> [HostPattern] {
    var patterns: [HostPattern] = []
    for atom in atoms {
      switch atom {
      case .pattern(let text):
        if let pattern = try? HostPattern(parsing: text) { patterns.append(pattern) }
      case .group(let name): patterns += inventory.hosts(ofGroup: name)
      }
    }
    return patterns
  }

  /// Hosts that are in both, and in the inventory where only its hosts count.
  func meeting(_ other: HostReach, listed: [HostPattern]?) -> HostMeeting {
    let both = lists + other.lists
    var all = both
    if let listed {
      // Of a large inventory, what begins like none of the few items in question can't matter.
      if let fewest = both.min(by: { $0.count < $1.count }), fewest.count < listed.count {
        all.append(listed.filter { host in fewest.contains { $0.beginsLike(host) } })
      } else {
        all.append(listed)
      }
    }
    return HostMeeting(
      lists: all, exceptions: exceptions + other.exceptions, isWithinInventory: listed != nil)
  }

  /// Whether every host of one list is known to be in another.
  static func isCovered(_ list: [HostPattern], by others: [HostPattern], listed: [HostPattern]?) -> Bool {
    // A short literal name is covered by whatever matches it: by far the commonest case, and the cheapest.
    let rest = list.filter { pattern in
      pattern.kind != .literal || pattern.hasDot
        || !others.contains { !$0.hasDot && $0.matches(hostName: pattern.text) }
    }
    if rest.isEmpty { return true }
    var reach = HostReach()
    reach.lists = [rest]
    reach.exceptions = others
    return !reach.meeting(HostReach(), listed: listed).isPossible
  }
}

/// The hosts on which two conditions can hold together.
struct HostMeeting {
  let lists: [[HostPattern]]
  let exceptions: [HostPattern]
  /// The last list is the inventory.
  let isWithinInventory: Bool

  /// False only where it is proven that no such host can exist.
  var isPossible: Bool {
    if lists.isEmpty && exceptions.isEmpty { return true }
    return HostNameSearch(oneOfEach: lists, noneOf: exceptions).run() != .none
  }

  /// The hosts, for a message: `for every host`, or `for hosts that both match (lab-a-01 … lab-a-30)`.
  var wording: String {
    if lists.count == (isWithinInventory ? 1 : 0) {
      return exceptions.isEmpty ? "for every host" : "for every host but their exceptions"
    }
    if let names = commonNames(limit: 10_000), !names.isEmpty {
      return "for hosts that both match (\(Self.runs(names, most: 3)))"
    }
    if let common = commonPatterns(), exceptions.isEmpty {
      return "for hosts that both match (\(common.prefix(3).joined(separator: ", "))"
        + (common.count > 3 ? " and more)" : ")")
    }
    if case .example(let name) = HostNameSearch(oneOfEach: lists, noneOf: exceptions).run() {
      return "for hosts that both match (such as \(name))"
    }
    return "for hosts that both can match"
  }

  /// All the names, where one of the lists has no glob and few enough names.
  private func commonNames(limit: Int) -> [String]? {
    var shortest: (names: [String], list: Int)?
    for (index, list) in lists.enumerated() {
      guard let names = Self.names(of: list, limit: shortest?.names.count ?? limit) else { continue }
      shortest = (names, index)
    }
    guard let shortest else { return nil }
    return Set(shortest.names).filter { name in
      lists.enumerated().allSatisfy { index, list in
        index == shortest.list || list.contains { $0.matches(hostName: name) }
      } && !exceptions.contains { $0.matches(hostName: name) }
    }.sorted()
  }

  private static func names(of list: [HostPattern], limit: Int) -> [String]? {
    var names: [String] = []
    for pattern in list {
      guard let expanded = pattern.expandedNames(limit: limit - names.count) else { return nil }
      names += expanded
    }
    return names.isEmpty ? nil : names
  }

  /// Patterns that some list has and that every other list covers: what the lists share, as it is written.
  private func commonPatterns() -> [String]? {
    var common: Set<String> = []
    for (index, list) in lists.enumerated() where list.count <= 50 {
      for pattern in list {
        let isShared = lists.enumerated().allSatisfy { other, patterns in
          other == index || HostNameSearch(oneOfEach: [[pattern]], noneOf: patterns).run() == .none
        }
        if isShared { common.insert(pattern.text) }
      }
    }
    return common.isEmpty ? nil : common.sorted()
  }

  /// Sorted names with neighbouring numbers drawn together: `lab-a-01 … lab-a-30, lab-b-07`.
  static func runs(_ names: [String], most: Int) -> String {
    var runs: [(first: String, last: String, count: Int)] = []
    for name in names {
      if let last = runs.last, follows(name, last.last) {
        runs[runs.count - 1] = (last.first, name, last.count + 1)
      } else {
        runs.append((name, name, 1))
      }
    }
    var shown: [String] = []
    var count = 0
    for run in runs {
      let parts =
        run.count == 1 ? [run.first] : run.count == 2 ? [run.first, run.last] : ["\(run.first) … \(run.last)"]
      guard shown.count + parts.count <= most else { break }
      shown += parts
      count += run.count
    }
    return shown.joined(separator: ", ") + (count < names.count ? " and \(names.count - count) more" : "")
  }

  /// Whether a name is the one before it with the number at its end counted up, padding kept.
  private static func follows(_ name: String, _ previous: String) -> Bool {
    func parts(_ name: String) -> (head: Substring, digits: Substring) {
      let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
      return (name.dropLast(digits), name.suffix(digits))
    }
    let (a, b) = (parts(previous), parts(name))
    guard a.head == b.head, a.digits.count == b.digits.count, let x = UInt64(a.digits), let y = UInt64(b.digits) else {
      return false
    }
    return y == x &+ 1
  }
}
