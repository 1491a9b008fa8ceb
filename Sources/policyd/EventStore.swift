import AuditEvents
import LinuxFiles
import PropertyList

/// Where the agent's records become durable.
protocol EventStore: Sendable {
  /// Keeps records, in their order; when it returns, they are on the disk. Called from several threads.
  /// - Throws: where that can't be done at present; then nothing was kept.
  func append(_ records: [AgentRecord]) throws(EventStoreError)

  /// Of records that were found in a spool, those that are not kept yet: where an intake was cut off, some may be.
  func withoutKept(_ records: [AgentRecord]) throws(EventStoreError) -> [AgentRecord]
}

/// Why nothing can be kept at present.
struct EventStoreError: Error, Hashable, CustomStringConvertible {
  let description: String
}

/// A record on its way into the log.
struct AgentRecord: Hashable, Sendable {
  /// Whose word it is that this happened.
  enum Attestation: Hashable, Sendable {
    /// The agent's own.
    case agent
    /// A process's, whom the kernel named.
    case process(user: UInt32, process: Int32, executable: String?)
    /// Nobody's: it was found in a file that belongs to this user, and that may not say of which host it is.
    case spool(owner: UInt32, isOfUnknownOrigin: Bool = false)
  }

  let kind: AuditEvent.Kind
  /// When the agent learnt of it: no clock but the host's orders the log.
  let time: PropertyListDate
  let attestation: Attestation
  /// What the sender said of itself, and when it said that this happened.
  let claim: AuditEvent.Claim?
  let claimedTime: PropertyListDate?
  var fields: [String: PropertyListValue]
  /// May use the room that is kept for when the disk is full.
  let isAdministrative: Bool

  /// A record of the agent's own.
  init(_ kind: AuditEvent.Kind, _ fields: [String: PropertyListValue], isAdministrative: Bool = true) {
    self.kind = kind
    self.time = .now()
    self.attestation = .agent
    self.claim = nil
    self.claimedTime = nil
    self.fields = fields
    self.isAdministrative = isAdministrative
  }

  /// What somebody told.
  init(_ event: AuditEvent, attestation: Attestation) {
    kind = event.kind
    time = .now()
    self.attestation = attestation
    claim = event.claim
    claimedTime = event.time
    fields = event.fields
    // How often it happened is for the agent to say.
    fields["count"] = nil
    isAdministrative = false
  }
}

extension PropertyListDate {
  static func now() -> PropertyListDate { PropertyListDate(unixMilliseconds: WallClock.unixMilliseconds()) }
}

extension PropertyListValue {
  static func number(_ number: some BinaryInteger) -> PropertyListValue { .integer(PropertyListInteger(Int(number))) }
}
