public import AuditEvents
public import PropertyList

/// What a log is asked to keep: what happened, when, who did it by the kernel's word, and who says so by its own.
public struct AuditRecord: Sendable, Hashable {
  /// What the kernel says of the process: the peer's credentials of a socket, or of our own process.
  public struct Attestation: Sendable, Hashable {
    public var userID: UInt32
    public var processID: Int32
    /// The executable's file; nil where it can't be known.
    public var executable: String?

    public init(userID: UInt32, processID: Int32, executable: String?) {
      self.userID = userID
      self.processID = processID
      self.executable = executable
    }
  }

  public var kind: AuditEvent.Kind
  public var time: PropertyListDate
  /// nil where nothing attests: what was taken in from a user's spool.
  public var attested: Attestation?
  public var claimed: AuditEvent.Claim?
  /// When the sender says that it happened, where that is not `time`.
  public var claimedTime: PropertyListDate?
  /// The user whose file the record was found in, where nothing else attests it.
  public var spoolOwner: UInt32?
  /// The file didn't say which host and installation its events are of: they may be another's.
  public var isOfUnknownOrigin: Bool
  public var fields: [String: PropertyListValue]
  /// May use the room that is kept for when the disk is full.
  public var isAdministrative: Bool
  /// Is about a person: who did it and what stands apart from the chain, so that it can be erased.
  public var isPersonal: Bool

  /// - Parameters:
  ///   - fields: only those that `RecordFields` knows for the kind are kept.
  ///   - isPersonal: nil: what the kind says.
  public init(
    _ kind: AuditEvent.Kind, fields: [String: PropertyListValue], time: PropertyListDate,
    attested: Attestation?, claimed: AuditEvent.Claim? = nil, claimedTime: PropertyListDate? = nil,
    spoolOwner: UInt32? = nil, isOfUnknownOrigin: Bool = false, isAdministrative: Bool,
    isPersonal: Bool? = nil
  ) {
    self.kind = kind
    self.fields = fields
    self.time = time
    self.attested = attested
    self.claimed = claimed
    self.claimedTime = claimedTime
    self.spoolOwner = spoolOwner
    self.isOfUnknownOrigin = isOfUnknownOrigin
    self.isAdministrative = isAdministrative
    self.isPersonal = isPersonal ?? RecordFields.isPersonal(kind)
  }

  /// A record of what this process does, now, by its own identity.
  public static func own(_ kind: AuditEvent.Kind, fields: [String: PropertyListValue]) -> AuditRecord {
    let event = AuditEvent(kind, fields: fields)
    return AuditRecord(
      kind, fields: fields, time: event.time,
      attested: Attestation(
        userID: event.claim.userID, processID: event.claim.processID, executable: event.claim.executable),
      isAdministrative: true, isPersonal: false)
  }
}

/// Where a record has gone, durably, when `append` returns.
public struct AuditReceipt: Sendable, Hashable {
  /// The number of the last record of the call, and the digest of its line.
  public let sequence: UInt64
  public let hash: [UInt8]
  /// How many of the call's records were not kept, for want of room; they are counted in the log when there is room again.
  public let dropped: Int
  /// What the log found wrong about itself, for standard error.
  public let alarms: [String]
}
