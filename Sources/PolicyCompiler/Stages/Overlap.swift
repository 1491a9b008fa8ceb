import ForcedDomain
import HostPatterns

/// Which conditions can hold together; every pair is decided once.
///
/// The answer "no" is a proof: disjoint hosts, users or times. Anything else counts as "yes".
struct Overlap {
  private var inventory: FlatInventory
  private var zones = TimeZoneShelf()
  private var hosts: [HostReach] = []
  private var users: [UserReach] = []
  private var windows: [WindowReach] = []
  /// The reaches of each condition, as numbers: conditions that share their hosts share the proofs about them.
  private var parts: [UInt32: Parts] = [:]
  private var hostNumbers: [HostReach: Int] = [:]
  private var userNumbers: [UserReach: Int] = [:]
  private var windowNumbers: [WindowReach: Int] = [:]
  private var hostAnswers: [UInt64: Bool] = [:]
  private var userAnswers: [UInt64: Bool] = [:]
  private var windowAnswers: [UInt64: Bool] = [:]
  private var meetings: [[UInt32]: [(Int, Int)]] = [:]

  private struct Parts {
    var hosts, users, windows: Int
  }

  init(_ inventory: FlatInventory) { self.inventory = inventory }

  /// Whether two conditions, by their numbers in the table, can hold together.
  mutating func canMeet(_ a: UInt32, _ b: UInt32, in table: [Condition]) -> Bool {
    let (x, y) = (parts(of: a, table), parts(of: b, table))
    return windowsMeet(x.windows, y.windows) && usersMeet(x.users, y.users) && hostsMeet(x.hosts, y.hosts)
  }

  /// The hosts on which two conditions can hold together, for a message.
  mutating func wording(_ a: UInt32, _ b: UInt32, in table: [Condition]) -> String {
    let (x, y) = (parts(of: a, table), parts(of: b, table))
    return hosts[x.hosts].meeting(hosts[y.hosts], listed: inventory.listedHosts).wording
  }

  /// The pairs of places, the smaller first, whose conditions can hold together; a pair may occur twice.
  ///
  /// Where profiles set many keys, the same conditions come together again and again: the answer is remembered.
  mutating func meetings(of conditions: [UInt32], in table: [Condition]) -> [(Int, Int)] {
    if let known = meetings[conditions] { return known }
    var pairs: [(Int, Int)] = []
    EntryPairs.forEach(conditions, &self, table) { i, j, overlap in
      if overlap.canMeet(conditions[i], conditions[j], in: table) { pairs.append((min(i, j), max(i, j))) }
    }
    meetings[conditions] = pairs
    return pairs
  }

  /// For each pattern that a condition's hosts must match one of, the letters that it begins with; an empty one where
  /// the condition holds on every host. Two conditions can only meet where one beginning begins with another.
  mutating func hostBeginnings(of condition: UInt32, in table: [Condition]) -> [[UInt8]] {
    let reach = hosts[parts(of: condition, table).hosts]
    guard let list = reach.lists.min(by: { $0.count < $1.count }) else { return [[]] }
    return list.map { pattern in Array(pattern.text.utf8.prefix { !Self.opensChoice($0) }) }
  }

  /// The same for users: the names that a condition's users must have one of; an empty one where other items count.
  mutating func userBeginnings(of condition: UInt32, in table: [Condition]) -> [[UInt8]] {
    let reach = users[parts(of: condition, table).users]
    guard let list = reach.lists.first(where: { $0.allSatisfy(\.isName) }) else { return [[]] }
    return list.compactMap { item in
      if case .name(let name) = item { Array(name.utf8) } else { nil }
    }
  }

  private static func opensChoice(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
  }

  private mutating func parts(of condition: UInt32, _ table: [Condition]) -> Parts {
    if let known = parts[condition] { return known }
    let whole = table[Int(condition)]
    let new = Parts(
      hosts: Self.number(HostReach(of: whole, in: &inventory), &hosts, &hostNumbers),
      users: Self.number(UserReach(of: whole, in: &inventory), &users, &userNumbers),
      windows: Self.number(WindowReach(of: whole), &windows, &windowNumbers))
    parts[condition] = new
    return new
  }

  private static func number<Reach: Hashable>(
    _ reach: Reach, _ all: inout [Reach], _ numbers: inout [Reach: Int]
  ) -> Int {
    if let known = numbers[reach] { return known }
    numbers[reach] = all.count
    all.append(reach)
    return all.count - 1
  }

  private static func pair(_ a: Int, _ b: Int) -> UInt64 { UInt64(min(a, b)) << 32 | UInt64(max(a, b)) }

  private mutating func hostsMeet(_ a: Int, _ b: Int) -> Bool {
    if hosts[a].lists.isEmpty && hosts[b].lists.isEmpty && hosts[a].exceptions.isEmpty && hosts[b].exceptions.isEmpty {
      return true
    }
    let pair = Self.pair(a, b)
    if let known = hostAnswers[pair] { return known }
    let answer = hosts[a].meeting(hosts[b], listed: inventory.listedHosts).isPossible
    hostAnswers[pair] = answer
    return answer
  }

  private mutating func usersMeet(_ a: Int, _ b: Int) -> Bool {
    let pair = Self.pair(a, b)
    if let known = userAnswers[pair] { return known }
    let answer = users[a].canMeet(users[b])
    userAnswers[pair] = answer
    return answer
  }

  private mutating func windowsMeet(_ a: Int, _ b: Int) -> Bool {
    if a == b && windows[a].lists.isEmpty { return true }
    let pair = Self.pair(a, b)
    if let known = windowAnswers[pair] { return known }
    let answer = windows[a].canMeet(windows[b], zones: &zones)
    windowAnswers[pair] = answer
    return answer
  }
}
