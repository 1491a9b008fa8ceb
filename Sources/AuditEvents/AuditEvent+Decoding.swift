public import PropertyList

extension AuditEvent {
  /// Reads an event as `jsonLine` writes it, from whoever says that it is one.
  ///
  /// - Parameters:
  ///   - time: where none is stated; nil: it has to be.
  ///   - claim: where none is stated; nil: it has to be.
  /// - Returns: nil for what `jsonLine` never wrote.
  public init?(line: [UInt8], orTime time: PropertyListDate? = nil, orClaim claim: Claim? = nil) {
    guard let members = Self.members(of: line) else { return nil }
    self.init(members, orTime: time, orClaim: claim)
  }

  fileprivate static func members(of line: [UInt8]) -> [String: PropertyListValue]? {
    try? PropertyListCoding.decode(line, as: .json, limits: limits).dictionaryValue
  }

  fileprivate init?(_ members: [String: PropertyListValue], orTime time: PropertyListDate?, orClaim claim: Claim?) {
    guard members.keys.allSatisfy({ ["kind", "time", "claim", "fields"].contains($0) }),
      case .string(let kind)? = members["kind"], case .dictionary(let fields)? = members["fields"]
    else { return nil }
    var stated = time
    if let member = members["time"] {
      guard case .string(let text) = member, let date = PropertyListDate(rfc3339: text) else { return nil }
      stated = date
    }
    var said = claim
    if let member = members["claim"] {
      guard let read = Claim(member) else { return nil }
      said = read
    }
    guard let stated, let said else { return nil }
    self.init(Kind(rawValue: kind), fields: fields, time: stated, claim: said)
  }

  /// Events are small and flat; deeper or longer is not ours.
  private static let limits = DecodingLimits(maximumDepth: 8, maximumBytes: 1 << 20, maximumObjects: 4096)
}

extension AuditEvent.Claim {
  init?(_ value: PropertyListValue) {
    guard case .dictionary(let members) = value,
      case .integer(let process)? = members["pid"], let processID = process.int64.flatMap({ Int32(exactly: $0) }),
      case .integer(let user)? = members["uid"], let userID = user.int64.flatMap({ UInt32(exactly: $0) })
    else { return nil }
    var executable: String?
    if case .string(let path)? = members["executable"] { executable = path }
    self.init(processID: processID, userID: userID, executable: executable)
  }
}

/// A line of a spool.
public struct SpooledEvent: Sendable, Hashable {
  public let event: AuditEvent
  /// `SpoolOrigin.text` of whoever left it; nil in spools of before there were origins.
  public let origin: String?

  /// Reads a line, from whoever says that it is one.
  ///
  /// - Parameters:
  ///   - time: where none is stated.
  ///   - claim: where none is stated.
  /// - Returns: nil for what no program ever left.
  public init?(line: [UInt8], orTime time: PropertyListDate, orClaim claim: AuditEvent.Claim) {
    guard var members = AuditEvent.members(of: line) else { return nil }
    switch members.removeValue(forKey: "origin") {
    case nil: origin = nil
    case .string(let text)?: origin = text
    default: return nil
    }
    guard let event = AuditEvent(members, orTime: time, orClaim: claim) else { return nil }
    self.event = event
  }
}
