import ForcedDomain
import PolicyLanguage

/// One line of a profile's policy for one key, before it is divided into the classes of its conditions.
struct Statement {
  /// The key's number in the writer.
  let key: UInt32
  /// The part of a profile that it stands in.
  let part: UInt32
  let action: EntryAction
  let section: PolicySection
  let value: ValueReference?
  let origin: Origin

  /// Where it was written: in the tree of its profile, or in the list of releases.
  enum Origin {
    case setting(KeySetting)
    case release(UInt32)
  }
}

/// What all statements of one part of a profile share: its own part, an override, or an exemption.
struct ProfilePart {
  /// The profile's place in the tree, its source and document, and its number in the writer.
  let profile: Int
  let source: Int
  let tree: NodeTree
  let reference: UInt32
  let priority: Int64
  let isOverride: Bool
  /// The rank of an exemption is that of a literal host, whatever its hosts.
  let hostClass: HostClass?
  var conditions: [(number: UInt32, hostClass: HostClass, userClass: UserClass)]
  let reason: UInt32
  let owner: UInt32
  let ticket: UInt32

  func rank(_ condition: (number: UInt32, hostClass: HostClass, userClass: UserClass)) -> Rank {
    Rank(
      priority: priority, isOverride: isOverride, hostClass: hostClass ?? condition.hostClass,
      userClass: condition.userClass)
  }
}

/// Statements by key.
///
/// Keys are numbers, so grouping is a counting sort: no text is hashed or compared again.
struct KeyedEntries {
  private(set) var parts: [ProfilePart] = []
  private(set) var statements: ContiguousArray<Statement> = []
  /// The keys that releases and exemptions name, with the place of each.
  private(set) var releases: [Located<String>] = []
  /// Conditions by their numbers in the writer.
  private(set) var conditions: [Condition] = [.always]

  mutating func reserve(_ count: Int) { statements.reserveCapacity(count) }

  mutating func append(_ part: ProfilePart) -> UInt32 {
    parts.append(part)
    return UInt32(parts.count - 1)
  }

  mutating func append(_ statement: Statement) { statements.append(statement) }

  /// Appends a statement that releases a key.
  mutating func append(releaseOf key: Located<String>, number: UInt32, part: UInt32) {
    releases.append(key)
    append(
      Statement(
        key: number, part: part, action: .release, section: .forced, value: nil,
        origin: .release(UInt32(releases.count - 1))))
  }

  mutating func note(_ condition: Condition, number: UInt32) {
    while conditions.count <= Int(number) { conditions.append(.always) }
    conditions[Int(number)] = condition
  }

  /// How many keys have statements, and the numbers of the statements of every key that has more than one, in the order
  /// in which they were appended.
  func grouped() -> (keyCount: Int, shared: [ArraySlice<Int32>]) {
    guard let highest = statements.lazy.map(\.key).max() else { return (0, []) }
    var ends = [Int32](repeating: 0, count: Int(highest) + 2)
    for statement in statements { ends[Int(statement.key) + 1] += 1 }
    var keyCount = 0
    var sharedCount = 0
    for count in ends where count > 0 {
      keyCount += 1
      if count > 1 { sharedCount += 1 }
    }
    guard sharedCount > 0 else { return (keyCount, []) }
    for key in 1..<ends.count { ends[key] += ends[key - 1] }
    var places = ends
    var sorted = [Int32](repeating: 0, count: statements.count)
    for index in statements.indices {
      let key = Int(statements[index].key)
      sorted[Int(places[key])] = Int32(index)
      places[key] += 1
    }
    var shared: [ArraySlice<Int32>] = []
    shared.reserveCapacity(sharedCount)
    for key in 1..<ends.count where ends[key] - ends[key - 1] > 1 {
      shared.append(sorted[Int(ends[key - 1])..<Int(ends[key])])
    }
    return (keyCount, shared)
  }

  /// Forgets the statements, once they are in the writer.
  mutating func removeStatements() { statements = [] }
}
