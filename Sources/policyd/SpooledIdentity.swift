import AuditEvents
import AuditLog
import Digests
import PropertyList

/// What tells an event of a spool from every other, in the spool and in the log alike: who left it, which process says so and
/// when, and what it was about.
struct SpooledIdentity: Hashable {
  private let kind: String
  private let owner: Int
  private let process: Int?
  private let milliseconds: Int64?
  private let values: [String?]
  private let count: Int?

  /// nil for what is not from a spool.
  init?(_ record: AgentRecord) {
    guard case .spool(let owner, _) = record.attestation else { return nil }
    kind = record.kind.rawValue
    self.owner = Int(owner)
    process = record.claim.map { Int($0.processID) }
    milliseconds = record.claimedTime.flatMap(Self.milliseconds)
    values = Self.names.map { Self.text(record.fields[$0]) }
    count = record.fields["count"]?.integerValue
  }

  /// nil for what is not from a spool, or was erased.
  init?(_ record: StoredRecord) {
    guard let owner = record.unattested?["uid"]?.integerValue else { return nil }
    kind = record.kind
    self.owner = owner
    process = record.claimed?["pid"]?.integerValue
    milliseconds = record.claimed?["time"]?.stringValue.flatMap { PropertyListDate(rfc3339: $0) }
      .flatMap(Self.milliseconds)
    values = Self.names.map { Self.text(record.fields[$0]) }
    count = record.fields["count"]?.integerValue
  }

  private static let names = ["domain", "key", "application", "operation", "path", "reason", "fault"]

  private static func milliseconds(_ date: PropertyListDate) -> Int64? {
    date.isRepresentable ? Int64((date.unixTime * 1000).rounded()) : nil
  }

  /// A text that is too long stands in the log with its digest.
  private static func text(_ value: PropertyListValue?) -> String? {
    switch value {
    case .string(let text)?:
      text.utf8.count > AuditLogLimits().textBytes ? HexText.encode(SHA256.digest(of: Array(text.utf8))) : text
    case .dictionary(let members)?: members["sha256"]?.stringValue
    default: nil
    }
  }
}

extension AuditLogStore {
  func withoutKept(_ records: [AgentRecord]) throws(EventStoreError) -> [AgentRecord] {
    guard !records.isEmpty else { return [] }
    var kept: Set<SpooledIdentity> = []
    do throws(AuditLogError) {
      let reader = LogReader(place)
      // An agent is started again soon: what was taken in is among the newest records.
      let last = try reader.head()?.sequence ?? 0
      try reader.forEachRecord(from: last > Self.newest ? last - Self.newest : 0) { record throws(AuditLogError) in
        if let identity = SpooledIdentity(record) { kept.insert(identity) }
      }
    } catch {
      throw EventStoreError(description: error.description)
    }
    let missing = records.filter { record in SpooledIdentity(record).map { !kept.contains($0) } ?? false }
    let others = records.filter { SpooledIdentity($0) == nil }
    // What was counted is written with the last of the events.
    return missing.isEmpty && others.count < records.count ? [] : missing + others
  }

  /// How many records are looked at.
  private static let newest: UInt64 = 32_768
}
