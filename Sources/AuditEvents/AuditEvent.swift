public import PropertyList

/// Something that an auditor wants to know of: what happened, when, and who says so.
///
/// Everything here is a claim of the sending process. An agent that receives it over a socket adds what the kernel
/// attests (user, process, executable); a reader of the spool has the file's owner as the only attestation.
public struct AuditEvent: Sendable, Hashable {
  /// The name of a sort of event: lower-case words joined by dots (`AuditEvent+Kinds`).
  public struct Kind: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
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
