import ForcedDomain
import PropertyList

/// The file for root and auditors: every entry of the payload with its origin, hosts undecided, names with their ids,
/// windows with their moments.
struct ProvenanceFile {
  private let conditions: NarrowedConditions
  private var writer = ForcedDomainWriter(kind: .provenance)
  private let domainNames: [String]
  private let profileReferences: [ProfileReference]
  private var domains: [Int: UInt32] = [:]
  private var profiles: [Int: UInt32] = [:]
  private var numbers: [Int: UInt32] = [:]

  init(_ payload: ForcedDomain, _ conditions: NarrowedConditions, _ people: ResolvedPeople) {
    self.conditions = conditions
    domainNames = payload.domains
    profileReferences = payload.profiles
    writer.reserve(keys: payload.keyCount, entries: payload.entryCount)
    writer.setHostGroups(payload.hostGroups)
    writer.setResolvedUsers(people.users)
    writer.setUserGroups(people.groups)
    writer.setAnnex(
      NarrowedAnnex.forAuditors(payload.annex) { index in
        conditions.outcomes.indices.contains(index)
          ? conditions.add(conditions.outcomes[index].whole, to: &writer) : nil
      })
  }

  /// Takes the next entry of the payload.
  mutating func add(_ entry: StoredEntry) {
    writer.addEntry(
      key: writer.addKey(domain: domain(entry.domain), key: entry.key), section: entry.section, action: entry.action,
      rank: entry.rank, condition: condition(entry.condition), profile: profile(entry.profile),
      value: entry.value.map { writer.addStored($0) }, provenance: entry.provenance.map { reference($0) })
  }

  private mutating func reference(_ provenance: Provenance) -> ProvenanceReference {
    ProvenanceReference(
      file: writer.addSourceFile(provenance.file), line: provenance.line, column: provenance.column,
      reason: provenance.reason.map { writer.addText($0) } ?? 0,
      owner: provenance.owner.map { writer.addText($0) } ?? 0,
      ticket: provenance.ticket.map { writer.addText($0) } ?? 0)
  }

  private mutating func domain(_ index: Int) -> UInt32 {
    if let known = domains[index] { return known }
    let number = writer.addDomain(domainNames[index])
    domains[index] = number
    return number
  }

  private mutating func profile(_ index: Int) -> UInt32 {
    if let known = profiles[index] { return known }
    let number = writer.addProfile(profileReferences[index])
    profiles[index] = number
    return number
  }

  private mutating func condition(_ index: Int) -> UInt32 {
    if let known = numbers[index] { return known }
    let number = conditions.add(conditions.outcomes[index].whole, to: &writer)
    numbers[index] = number
    return number
  }

  consuming func finish(_ stamp: FileStamp) throws(ForcedDomainError) -> [UInt8] { try writer.finish(stamp) }
}
