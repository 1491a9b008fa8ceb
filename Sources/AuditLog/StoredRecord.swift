import Digests
public import PropertyList

/// A record as it stands in the log.
public struct StoredRecord: Sendable, Hashable {
  /// What is known of who did it and what was done.
  public enum Personal: Sendable, Hashable {
    /// The record is about no person: everything stands in its line.
    case none
    case present
    /// It was erased, or is not there.
    case erased
  }

  public let sequence: UInt64
  public let time: PropertyListDate
  public let kind: String
  public let host: String?
  /// Seconds by which the clock had gone back since the record before.
  public let clock: Int?
  public private(set) var attested: [String: PropertyListValue]?
  public private(set) var claimed: [String: PropertyListValue]?
  /// The owner of the spool that it was found in: `uid`.
  public private(set) var unattested: [String: PropertyListValue]?
  public private(set) var fields: [String: PropertyListValue]
  public private(set) var personal: Personal = .none
  /// The line's bytes, without its end.
  public let line: [UInt8]
  /// The bytes of its personal part, without their line end, where it is there.
  public private(set) var personalPart: [UInt8]?
  /// The digest of the personal part, as the line has it.
  let personalDigest: [UInt8]?

  /// nil: not a line of ours.
  public init?(line: [UInt8]) {
    guard let read = line.withUnsafeBytes({ LogLine($0) }),
      let members = try? PropertyListCoding.decode(line, as: .json).dictionaryValue,
      let time = members["time"]?.stringValue.flatMap({ PropertyListDate(rfc3339: $0) }),
      let kind = members["kind"]?.stringValue
    else { return nil }
    sequence = read.sequence
    self.time = time
    self.kind = kind
    self.line = line
    host = members["host"]?.stringValue
    clock = members["clock"]?.integerValue
    attested = members["attested"]?.dictionaryValue
    claimed = members["claimed"]?.dictionaryValue
    unattested = members["unattested"]?.dictionaryValue
    fields = members["fields"]?.dictionaryValue ?? [:]
    personalDigest = read.personal.flatMap { HexText.decode(line[$0..<$0 + 64]) }
    if personalDigest != nil { personal = .erased }
  }

  /// Joins the record with the part that stands beside the segment.
  mutating func join(personalPart line: [UInt8]) {
    guard let members = try? PropertyListCoding.decode(line, as: .json).dictionaryValue else { return }
    personalPart = line
    attested = members["attested"]?.dictionaryValue
    claimed = members["claimed"]?.dictionaryValue
    unattested = members["unattested"]?.dictionaryValue
    fields = members["fields"]?.dictionaryValue ?? [:]
    personal = .present
  }

  /// The time as the line has it: RFC 3339 in UTC.
  public var timeText: String { RecordBody.text(of: time) }

  /// The digits of the digest of the line before.
  public var previousText: String {
    line.withUnsafeBytes { bytes in
      LogLine(bytes).map { String(decoding: bytes[$0.previous..<$0.previous + 64], as: UTF8.self) } ?? ""
    }
  }

  /// The record as it is without what stands beside its segment.
  public var withoutPersonalPart: StoredRecord {
    guard personal == .present, let bare = StoredRecord(line: line) else { return self }
    return bare
  }

  /// The user that the kernel attests, else the owner of the spool, else the one that was claimed.
  public var userID: UInt32? {
    ((attested ?? unattested ?? claimed)?["uid"]?.integerValue).flatMap { UInt32(exactly: $0) }
  }
}
