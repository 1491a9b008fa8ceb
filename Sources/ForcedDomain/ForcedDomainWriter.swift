public import PropertyList

/// A value that was handed to a writer; valid in that writer alone.
public struct ValueReference: Sendable, Hashable {
  let tag: UInt8
  /// As in `EntryRecord`.
  let bits: UInt64

  public static func boolean(_ value: Bool) -> ValueReference {
    ValueReference(tag: Format.Tag.boolean, bits: value ? 1 : 0)
  }

  public static func integer(_ value: Int64) -> ValueReference {
    ValueReference(tag: Format.Tag.integer, bits: UInt64(bitPattern: value))
  }

  public static func integer(_ value: PropertyListInteger) -> ValueReference {
    ValueReference(tag: ValueCoding.tag(of: value), bits: value.bitPattern)
  }

  public static func real(_ value: Double) -> ValueReference {
    ValueReference(tag: Format.Tag.real, bits: value.bitPattern)
  }

  public static func date(_ value: PropertyListDate) -> ValueReference {
    ValueReference(tag: Format.Tag.date, bits: value.secondsSinceReferenceDate.bitPattern)
  }
}

/// Where an entry was written and why, as numbers of a writer (`addSourceFile`, `addText`; 0 is "none").
public struct ProvenanceReference: Sendable, Hashable {
  public var file: UInt32
  public var line: UInt32
  public var column: UInt32
  public var reason: UInt32
  public var owner: UInt32
  public var ticket: UInt32

  public init(
    file: UInt32, line: UInt32, column: UInt32, reason: UInt32 = 0, owner: UInt32 = 0, ticket: UInt32 = 0
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.reason = reason
    self.owner = owner
    self.ticket = ticket
  }
}

/// Gathers entries and lays them out as a file: the last stages of a compilation, and narrowing.
///
/// Numbers that `add…` returns are the writer's own. The bytes that `finish` returns depend on what was added, and on
/// the order in which profiles, conditions, texts and values were added first; not on the order of domains, keys and
/// entries, which are sorted. Numbers that this writer did not give out are a precondition failure.
public struct ForcedDomainWriter {
  let kind: FileKind
  var texts = ByteTable()
  var keys = ByteTable()
  var domains: [UInt32] = []
  private var domainNumbers: [UInt32: UInt32] = [:]
  var profiles: [ProfileRecord] = []
  private var profileNumbers: [ProfileRecord: UInt32] = [:]
  var hostGroups: [HostGroup] = []
  var userGroups: [UserGroup] = []
  var resolvedUsers: [ResolvedUser] = []
  var conditions: [ConditionRecord] = []
  private var conditionNumbers: [ConditionRecord: UInt32] = [:]
  /// The numbers of conditions that others can stand within, by their records without intervals.
  private var outerNumbers: [ConditionRecord: UInt32] = [:]
  var strings: [UInt8] = []
  var values: [UInt8] = []
  var annex: [UInt8] = []
  var entries: [EntryRecord] = []
  var places: [Place] = []
  /// Where entries come from, their lines and columns left out: one row for each part of a profile.
  var origins: [ProvenanceReference] = []
  private var originNumbers: [ProvenanceReference: UInt32] = [:]
  /// The first thing that can't be stored; `finish` throws it.
  var failure: ForcedDomainError?

  struct ProfileRecord: Hashable {
    var id: UInt32
    var title: UInt32
    var owner: UInt32
  }

  struct AtomRecord: Hashable {
    var kind: UInt32
    /// A text; for a group its name, which `finish` turns into the group's number.
    var text: UInt32
  }

  /// A condition with its names as texts: conditions are the same when their bytes are.
  struct ConditionRecord: Hashable {
    var flags: UInt32 = 0
    var hostIncludes: [AtomRecord] = []
    var hostExcludes: [AtomRecord] = []
    var userIncludes: [AtomRecord] = []
    var userExcludes: [AtomRecord] = []
    var windows: [WeeklyWindow] = []
    var timeZones: [UInt32] = []
    var intervals: [[Range<Int64>]] = []
    var notAfter: Int64 = 0
    var outer: UInt32 = 0
  }

  /// Where one entry was written, in half the room of its provenance.
  struct Place {
    var origin: UInt32
    var line: UInt32
    var column: UInt32
  }

  public init(kind: FileKind) {
    self.kind = kind
    _ = addText("")
    _ = addCondition(.always)
  }

  /// Makes room for so many keys and entries; only for speed.
  public mutating func reserve(keys keyCount: Int, entries entryCount: Int) {
    keys.reserve(keyCount)
    entries.reserveCapacity(entryCount)
    if kind.hasProvenance { places.reserveCapacity(entryCount) }
  }

  public mutating func setHostGroups(_ groups: [HostGroup]) { hostGroups = groups }
  public mutating func setUserGroups(_ groups: [UserGroup]) { userGroups = groups }

  /// One row for each user name that a condition mentions: needed in all kinds but `fleet`.
  public mutating func setResolvedUsers(_ users: [ResolvedUser]) { resolvedUsers = users }

  /// What later readers need beyond entries (containers, controls, exemptions): a dictionary.
  public mutating func setAnnex(_ annex: PropertyListValue) {
    self.annex = []
    if !ValueCoding.append(annex, to: &self.annex) { fail(.tooLarge("an annex nested too deep")) }
  }

  /// - Returns: the number of this profile, new or known. The kind `forced` drops the owner.
  public mutating func addProfile(_ profile: ProfileReference) -> UInt32 {
    let owner = kind.hasProvenance ? profile.owner : nil
    let record = ProfileRecord(
      id: addText(profile.id), title: addText(profile.title), owner: owner.map { addText($0) } ?? 0)
    if let known = profileNumbers[record] { return known }
    profiles.append(record)
    profileNumbers[record] = UInt32(profiles.count - 1)
    return UInt32(profiles.count - 1)
  }

  /// - Parameter intervals: for each window of the condition the UTC intervals (Unix seconds, ascending, apart, within
  ///   the horizon) in which it is open; empty for the kind `fleet`, which keeps windows symbolic.
  ///   The condition around it must have been added, with intervals of its own.
  /// - Returns: the number of this condition, new or known; 0 is `Condition.always`.
  public mutating func addCondition(_ condition: Condition, intervals: [[Range<Int64>]] = []) -> UInt32 {
    precondition(
      intervals.count == (kind == .fleet ? 0 : condition.windows.count),
      "a condition needs one list of intervals for each window, and none in a payload")
    let symbolic = record(of: condition)
    var record = symbolic
    record.intervals = intervals
    if let outer = condition.within.first {
      precondition(condition.within.count == 1 && outer.within.isEmpty, "a condition stands within one at most")
      guard let number = outerNumbers[self.record(of: outer)] else {
        preconditionFailure("the condition around one is added first")
      }
      if Int(number) > Format.ConditionFlag.highestOuter { fail(.tooLarge("\(number) conditions")) }
      record.outer = number
    }
    if let known = conditionNumbers[record] { return known }
    conditions.append(record)
    conditionNumbers[record] = UInt32(conditions.count - 1)
    if condition.within.isEmpty { outerNumbers[symbolic] = UInt32(conditions.count - 1) }
    return UInt32(conditions.count - 1)
  }

  /// A condition by its names' bytes, without its intervals and what is around it.
  private mutating func record(of condition: Condition) -> ConditionRecord {
    var record = ConditionRecord()
    if let hosts = condition.hosts {
      record.flags |= Format.ConditionFlag.hosts
      record.hostIncludes = hosts.include.map { atom($0) }
      record.hostExcludes = hosts.exclude.map { atom($0) }
    }
    if let users = condition.users {
      record.flags |= Format.ConditionFlag.users
      record.userIncludes = users.include.map { atom($0) }
      record.userExcludes = users.exclude.map { atom($0) }
    }
    if let notAfter = condition.notAfter {
      record.flags |= Format.ConditionFlag.notAfter
      record.notAfter = notAfter
    }
    for window in condition.windows {
      precondition(
        (0...WeeklyWindow.lastMinute).contains(window.fromMinute)
          && (0...WeeklyWindow.lastMinute).contains(window.toMinute), "a window outside the day")
    }
    record.windows = condition.windows
    record.timeZones = condition.windows.map { addText($0.timeZone) }
    return record
  }

  private mutating func atom(_ atom: HostAtom) -> AtomRecord {
    switch atom {
    case .pattern(let text): AtomRecord(kind: Format.AtomKind.hostPattern, text: addText(text))
    case .group(let name): AtomRecord(kind: Format.AtomKind.hostGroup, text: addText(name))
    }
  }

  private mutating func atom(_ atom: UserAtom) -> AtomRecord {
    switch atom {
    case .people: AtomRecord(kind: Format.AtomKind.people, text: 0)
    case .name(let name): AtomRecord(kind: Format.AtomKind.userName, text: addText(name))
    case .group(let name): AtomRecord(kind: Format.AtomKind.userGroup, text: addText(name))
    }
  }

  /// - Returns: the number of this text (a reason, an owner, a ticket), new or known; 0 is the empty one, "none".
  public mutating func addText(_ text: String) -> UInt32 {
    var text = text
    return text.withUTF8 { texts.number(of: UnsafeRawBufferPointer($0)) }
  }

  /// - Returns: the number of a source file's relative path.
  public mutating func addSourceFile(_ path: String) -> UInt32 { addText(path) }

  /// - Returns: the number of this domain, new or known.
  public mutating func addDomain(_ name: String) -> UInt32 {
    let text = addText(name)
    if let known = domainNumbers[text] { return known }
    domains.append(text)
    domainNumbers[text] = UInt32(domains.count - 1)
    return UInt32(domains.count - 1)
  }

  /// - Parameter key: well-formed UTF-8.
  /// - Returns: the number of this key of this domain, new or known.
  public mutating func addKey(domain: UInt32, key: UnsafeRawBufferPointer) -> UInt32 {
    precondition(domain < domains.count, "a domain of another writer")
    return keys.number(of: key, owner: domain)
  }

  public mutating func addKey(domain: UInt32, key: String) -> UInt32 {
    var key = key
    return key.withUTF8 { addKey(domain: domain, key: UnsafeRawBufferPointer($0)) }
  }

  public mutating func addValue(_ value: PropertyListValue) -> ValueReference {
    switch value {
    case .string(var text): return text.withUTF8 { addString(UnsafeRawBufferPointer($0)) }
    case .integer(let value): return .integer(value)
    case .real(let value): return .real(value)
    case .boolean(let value): return .boolean(value)
    case .date(let value): return .date(value)
    case .data, .array, .dictionary:
      let start = values.count
      guard ValueCoding.append(value, to: &values) else {
        values.removeLast(values.count - start)
        fail(.tooLarge("a value nested more than \(Format.maximumDepth) deep"))
        return ValueReference(tag: Format.Tag.none, bits: 0)
      }
      return stored(tag: values[start], from: start)
    }
  }

  /// - Parameter utf8: well-formed UTF-8.
  public mutating func addString(_ utf8: UnsafeRawBufferPointer) -> ValueReference {
    let start = strings.count
    guard limit(start + utf8.count, "strings") else { return ValueReference(tag: Format.Tag.string, bits: 0) }
    strings.append(contentsOf: utf8)
    return ValueReference(tag: Format.Tag.string, bits: Self.bits(start: start, count: utf8.count))
  }

  /// Takes a value over from another file, as it stands there.
  public mutating func addStored(_ value: StoredValue) -> ValueReference {
    guard let bytes = value.bytes else { return ValueReference(tag: value.tag, bits: value.bits) }
    if value.tag == Format.Tag.string { return addString(bytes) }
    let start = values.count
    values.append(contentsOf: bytes)
    return stored(tag: value.tag, from: start)
  }

  private mutating func stored(tag: UInt8, from start: Int) -> ValueReference {
    let count = values.count - start
    while values.count & (Format.alignment - 1) != 0 { values.append(0) }
    guard limit(values.count, "values") else { return ValueReference(tag: tag, bits: 0) }
    return ValueReference(tag: tag, bits: Self.bits(start: start, count: count))
  }

  private static func bits(start: Int, count: Int) -> UInt64 { UInt64(start) | UInt64(count) << 32 }

  private mutating func limit(_ count: Int, _ what: String) -> Bool {
    if count <= ForcedDomain.maximumByteCount { return true }
    fail(.tooLarge("\(what) take more than \(ForcedDomain.maximumByteCount) bytes"))
    return false
  }

  private mutating func fail(_ reason: ForcedDomainError.Reason) {
    if failure == nil { failure = ForcedDomainError(reason, at: 0) }
  }

  /// Whether two values are the same: of one type, and with the same bytes.
  public func areEqual(_ a: ValueReference, _ b: ValueReference) -> Bool { compare(a, b) == 0 }

  /// The order of canonical bytes, in which unions of equal rank gather: negative, zero or positive.
  func compare(_ a: ValueReference, _ b: ValueReference) -> Int {
    if a.tag != b.tag { return Int(a.tag) - Int(b.tag) }
    let pool: [UInt8]
    switch a.tag {
    case Format.Tag.string: pool = strings
    case Format.Tag.data, Format.Tag.array, Format.Tag.dictionary: pool = values
    default: return a.bits == b.bits ? 0 : a.bits < b.bits ? -1 : 1
    }
    return pool.withUnsafeBytes { bytes in
      func content(_ bits: UInt64) -> UnsafeRawBufferPointer {
        let start = Int(UInt32(truncatingIfNeeded: bits))
        return UnsafeRawBufferPointer(rebasing: bytes[start..<(start + Int(bits >> 32))])
      }
      return content(a.bits).compared(with: content(b.bits))
    }
  }

  /// - Parameters:
  ///   - value: nil for a release, and only for it.
  ///   - provenance: needed in all kinds but `forced`, which drops it.
  public mutating func addEntry(
    key: UInt32, section: PolicySection, action: EntryAction, rank: Rank, condition: UInt32, profile: UInt32,
    value: ValueReference?, provenance: ProvenanceReference? = nil
  ) {
    precondition(
      key < keys.count && condition < conditions.count && profile < profiles.count, "numbers of another writer")
    precondition((value == nil) == (action == .release), "a release has no value; every other entry has one")
    entries.append(
      EntryRecord(
        priority: rank.priority, bits: value?.bits ?? 0, condition: condition, profile: profile,
        section: section.rawValue, action: action.rawValue, precision: rank.precision,
        tag: value?.tag ?? Format.Tag.none, key: key))
    if kind.hasProvenance {
      let provenance = provenance ?? ProvenanceReference(file: 0, line: 0, column: 0)
      places.append(Place(origin: origin(of: provenance), line: provenance.line, column: provenance.column))
    }
  }
  private mutating func origin(of provenance: ProvenanceReference) -> UInt32 {
    var origin = provenance
    origin.line = 0
    origin.column = 0
    // Entries of one part follow each other.
    if let last = places.last?.origin, origins[Int(last)] == origin { return last }
    if let known = originNumbers[origin] { return known }
    origins.append(origin)
    originNumbers[origin] = UInt32(origins.count - 1)
    return UInt32(origins.count - 1)
  }
}
