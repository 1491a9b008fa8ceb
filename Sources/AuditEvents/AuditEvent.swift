public import PropertyList

/// Something that an auditor wants to know of: what happened, when, and who says so.
///
/// Everything here is a claim of the sending process. An agent that receives it over a socket adds what the kernel
/// attests (user, process, executable); a reader of the spool has the file's owner as the only attestation.
public struct AuditEvent: Sendable, Hashable {
  /// The name of a sort of event: lower-case words joined by dots.
  public struct Kind: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A program tried to set or remove a forced key. Fields: `domain`, `key`, `operation`, `profiles`, `generation`.
    public static let forcedWrite = Kind(rawValue: "forced.write")
    /// A contained application's access to a foreign domain ended in its container. Fields: `application`, `domain`, `key`
    /// (of writes), `operation`, `path`.
    public static let foreignRedirect = Kind(rawValue: "foreign.redirect")
    /// The forced domain or a preference file can't be read. Fields: `path`, `faults`, `inForce`.
    public static let domainDamaged = Kind(rawValue: "domain.damaged")
    /// A preference file can't be written. Fields: `domain`, `path`, `fault`.
    public static let domainUnwritable = Kind(rawValue: "domain.unwritable")
    /// Events were lost. Fields: `dropped` (their number), `reason`.
    public static let eventsDropped = Kind(rawValue: "events.dropped")

    /// Root puts a bundle in force. Fields: `generation`, `previous`, `serial`, `digest`, `signer`, `source`, `keys`.
    public static let policyInstalled = Kind(rawValue: "policy.installed")
    /// The same for what a refresh makes of the bundle that is installed.
    public static let policyRefreshed = Kind(rawValue: "policy.refreshed")
    /// Root's installation or refresh was refused. Fields: `verb`, `path`, `exit`, `reason` (a word, never contents).
    public static let policyRefused = Kind(rawValue: "policy.refused")
    /// Root took everything away. Fields: `generation`.
    public static let policyUninstalled = Kind(rawValue: "policy.uninstalled")
    /// Policies name users or groups that nobody knows. Fields: `names`, `accepted`.
    public static let identityUnknown = Kind(rawValue: "identity.unknown")
    /// The host has a new name. Fields: `from`, `to`.
    public static let hostEnrolled = Kind(rawValue: "host.enrolled")
    /// A key's signatures are accepted from now on. Fields: `name`, `fingerprint`, `local`.
    public static let keyTrusted = Kind(rawValue: "key.trusted")
  }

  /// Who the sending process says it is.
  public struct Claim: Sendable, Hashable {
    public var processID: Int32
    public var userID: UInt32
    /// The executable's real file; nil where /proc is not there.
    public var executable: String?

    public init(processID: Int32, userID: UInt32, executable: String?) {
      self.processID = processID
      self.userID = userID
      self.executable = executable
    }
  }

  public let kind: Kind
  public let time: PropertyListDate
  public let claim: Claim
  public let fields: [String: PropertyListValue]

  /// - Parameters:
  ///   - time: nil means now, to the millisecond.
  ///   - claim: nil means what this process can say of itself.
  public init(
    _ kind: Kind, fields: [String: PropertyListValue], time: PropertyListDate? = nil, claim: Claim? = nil
  ) {
    self.kind = kind
    self.fields = fields
    self.time = time ?? .nowToTheMillisecond()
    self.claim = claim ?? .ofThisProcess()
  }
}
