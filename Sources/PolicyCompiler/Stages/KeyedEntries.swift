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
  /// The profile's place in the tree, and its number in the writer.
  let profile: Int
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

  /// The numbers of the statements of every key that has more than one, in the order in which they were appended.
  func statementsOfSharedKeys() -> [[Int32]] {
    guard let highest = statements.lazy.map(\.key).max() else { return [] }
    var first = [Int32](repeating: -1, count: Int(highest) + 1)
    var groups: [Int32: [Int32]] = [:]
    var order: [Int32] = []
    for index in statements.indices {
      let key = Int(statements[index].key)
      if first[key] < 0 {
        first[key] = Int32(index)
      } else {
        if groups[Int32(key)] == nil {
          groups[Int32(key)] = [first[key]]
          order.append(Int32(key))
        }
        groups[Int32(key)]!.append(Int32(index))
      }
    }
    return order.map { groups[$0]! }
  }
}
