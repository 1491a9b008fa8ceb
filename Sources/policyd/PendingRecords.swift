import AuditEvents
import PropertyList

/// Records that wait to be written, the same of one user gathered into one with a count.
///
/// The law: what a user does is written at once, until the same has been written eight times within ten seconds: then it
/// waits a tenth of a second for more of its kind, and becomes one record that tells how often. So a command that ends waits
/// for nothing, a program that asks for a forced key a thousand times a second costs ten records a second, and nothing that
/// was answered is only in memory.
struct PendingRecords {
  /// What makes two events of one user the same: the domain and the key, and who did what.
  struct Sameness: Hashable {
    let user: UInt32
    let executable: String?
    let kind: AuditEvent.Kind
    let values: [PropertyListValue?]

    init(_ record: AgentRecord, user: UInt32, executable: String?) {
      self.user = user
      self.executable = executable
      kind = record.kind
      values = ["domain", "key", "application", "operation", "path"].map { record.fields[$0] }
    }
  }

  private(set) var records: [AgentRecord] = []
  private var counts: [Int] = []
  private var places: [Sameness: Int] = [:]
  /// How often, since when, the same was written.
  private struct Memory {
    var since: Moment
    var times = 0
  }

  private var written: [Sameness: Memory] = [:]
  /// When the records have to be written; nil without any.
  private(set) var due: Moment?
  private let limits: AgentLimits

  init(limits: AgentLimits) { self.limits = limits }

  var isEmpty: Bool { records.isEmpty }
  var count: Int { records.count }

  /// Adds an event to the record of the same, if one waits.
  /// - Returns: false where there is none.
  mutating func gather(_ sameness: Sameness) -> Bool {
    guard let place = places[sameness] else { return false }
    counts[place] += 1
    return true
  }

  mutating func add(_ record: AgentRecord, _ sameness: Sameness, at now: Moment) {
    let isRepeated = written[sameness].map { now - $0.since < limits.memory && $0.times >= limits.repetitions } ?? false
    due = min(due ?? .infinity, isRepeated ? now + limits.gathering : now)
    places[sameness] = records.count
    records.append(record)
    counts.append(1)
  }

  /// Adds what is the agent's own and waits for nothing.
  mutating func add(_ record: AgentRecord, at now: Moment) {
    due = now
    records.append(record)
    counts.append(1)
  }

  /// The records as they are to be written, the agent's own first.
  func forWriting() -> [AgentRecord] {
    let counted = zip(records, counts).map { record, count in
      guard count > 1 else { return record }
      var record = record
      record.fields["count"] = .number(count)
      return record
    }
    return counted.filter { $0.attestation == .agent } + counted.filter { $0.attestation != .agent }
  }

  /// They were written.
  mutating func clear(at now: Moment) {
    if written.count > 4096 { written = written.filter { now - $0.value.since < limits.memory } }
    // Whoever makes up ever new keys has no claim to be remembered.
    if written.count > 4096 { written = [:] }
    for sameness in places.keys {
      var memory = written[sameness] ?? Memory(since: now)
      if now - memory.since >= limits.memory { memory = Memory(since: now) }
      memory.times += 1
      written[sameness] = memory
    }
    records = []
    counts = []
    places = [:]
    due = nil
  }
}
