import ForcedDomain
import PropertyList

/// The file for everyone: what can bind on this host, without reasons, owners, source lines or losing entries.
struct ForcedFile {
  private let conditions: NarrowedConditions
  private var writer = ForcedDomainWriter(kind: .forced)
  private(set) var statistics = NarrowingStatistics()

  private let domainNames: [String]
  private let profileReferences: [ProfileReference]
  private var domains: [Int: UInt32] = [:]
  private var profiles: [Int: UInt32] = [:]
  /// The payload's conditions in this file.
  private var numbers: [Int: UInt32] = [:]
  private var windows: Set<WeeklyWindow> = []
  private var countedDomains: Set<Int> = []

  private var current: PassingKey?
  private var number: UInt32 = 0
  private var isCounted = false
  /// The rank of an entry that always decides: nothing below it can.
  private var closed: Rank?

  init(_ payload: ForcedDomain, _ conditions: NarrowedConditions, _ people: ResolvedPeople) {
    self.conditions = conditions
    domainNames = payload.domains
    profileReferences = payload.profiles
    writer.reserve(keys: payload.keyCount, entries: payload.entryCount)
    writer.setResolvedUsers(people.users)
    writer.setUserGroups(people.groups)
    writer.setAnnex(
      NarrowedAnnex.forEveryone(payload.annex) { index in
        conditions.outcomes.indices.contains(index)
          ? conditions.outcomes[index].rest.map { conditions.add($0, to: &writer) } : nil
      })
  }

  /// Takes the next entry of the payload, in the order domain, key, section, rank.
  mutating func add(_ entry: StoredEntry) {
    let key = PassingKey(entry)
    let isNewKey = current != key
    if isNewKey {
      current = key
      closed = nil
      isCounted = false
    }
    guard let rest = conditions.outcomes[entry.condition].rest else { return }
    if let closed, entry.rank < closed { return }
    if closed == nil, rest == .always, entry.action != .union { closed = entry.rank }
    if entry.action != .release && !isCounted { count(entry) }
    writer.addEntry(
      key: writer.addKey(domain: domain(entry.domain), key: entry.key), section: entry.section, action: entry.action,
      rank: entry.rank, condition: condition(entry.condition, rest), profile: profile(entry.profile),
      value: entry.value.map { writer.addStored($0) })
  }

  private mutating func count(_ entry: StoredEntry) {
    isCounted = true
    switch entry.section {
    case .forced:
      statistics.forcedKeys += 1
      if countedDomains.insert(entry.domain).inserted { statistics.forcedDomains += 1 }
    case .recommended: statistics.recommendedKeys += 1
    }
  }

  private mutating func domain(_ index: Int) -> UInt32 {
    if let known = domains[index] { return known }
    let number = writer.addDomain(domainNames[index])
    domains[index] = number
    return number
  }

  private mutating func profile(_ index: Int) -> UInt32 {
    if let known = profiles[index] { return known }
    var reference = profileReferences[index]
    reference.owner = nil
    let number = writer.addProfile(reference)
    profiles[index] = number
    return number
  }

  private mutating func condition(_ index: Int, _ rest: Condition) -> UInt32 {
    if let known = numbers[index] { return known }
    let number = conditions.add(rest, to: &writer)
    numbers[index] = number
    for condition in [rest] + rest.within { windows.formUnion(condition.windows) }
    statistics.windows = windows.count
    return number
  }

  consuming func finish(_ stamp: FileStamp) throws(ForcedDomainError) -> [UInt8] { try writer.finish(stamp) }
}

/// The key and section whose entries are passing by, told apart by where its name lies in the payload.
struct PassingKey: Equatable {
  private let domain: Int
  private let name: UInt
  private let length: Int
  private let section: PolicySection

  init(_ entry: StoredEntry) {
    domain = entry.domain
    name = UInt(bitPattern: entry.key.baseAddress)
    length = entry.key.count
    section = entry.section
  }
}
