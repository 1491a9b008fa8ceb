import AuditEvents
import Digests
import Glibc
public import PropertyList

/// Writes records as lines. The law of a line:
///
/// `seq` and `prev` come first; `prev` is the SHA-256 of the bytes of the line before, without its line end, in hexadecimal
/// digits. A personal record goes on with `personal`, the SHA-256 of the line beside the segment that says who and what;
/// then `time`, `kind`, `host`; `clock`, the whole seconds (negative) by which the clock had gone
/// back since the line before; and, of records
/// that are not personal, `attested`, `claimed`, `unattested` (whose file it was found in), `fields`. Members that there is nothing to say of are left out.
struct LineWriter {
  /// The last line that was written, or is there.
  var tip: LogTip
  let host: String?
  let textBytes: Int

  private(set) var lines: [UInt8] = []
  private(set) var personalLines: [UInt8] = []
  private(set) var count = 0

  init(after tip: LogTip, host: String?, textBytes: Int) {
    self.tip = tip
    self.host = host
    self.textBytes = textBytes
  }

  mutating func add(_ record: AuditRecord) {
    var json = JSONWriter(pretty: false)
    json.beginObject()
    json.key("seq")
    json.integer(tip.sequence + 1)
    json.key("prev")
    json.string(HexText.encode(tip.hash))
    if record.isPersonal {
      let personal = personalLine(record)
      json.key("personal")
      json.string(HexText.encode(SHA256.digest(of: personal)))
      personalLines += personal + [UInt8(ascii: "\n")]
    }
    let time = record.time.isRepresentable ? record.time : PropertyListDate(unixTime: 0)
    json.key("time")
    json.string(Self.text(of: time))
    json.key("kind")
    json.string(RecordFields.written(record.kind))
    if let host {
      json.key("host")
      json.string(host)
    }
    // Records of one moment come in any order; what is less than a second is no step of a clock.
    if let before = tip.time, time.unixTime <= before.unixTime - 1 {
      json.key("clock")
      json.integer(Int((time.unixTime - before.unixTime).rounded()))
    }
    if !record.isPersonal { addPersonal(record, to: &json) }
    json.endObject()
    lines += json.bytes + [UInt8(ascii: "\n")]
    tip = LogTip(sequence: tip.sequence + 1, hash: SHA256.digest(of: json.bytes), time: time)
    count += 1
  }

  /// RFC 3339 in UTC, to the millisecond.
  static func text(of time: PropertyListDate) -> String {
    let milliseconds = (time.unixTime * 1000).rounded()
    let seconds = (milliseconds / 1000).rounded(.down)
    let rest = String(Int(milliseconds - seconds * 1000))
    return PropertyListDate(unixTime: seconds).rfc3339.dropLast() + "."
      + String(repeating: "0", count: 3 - rest.utf8.count) + rest + "Z"
  }

  /// Who and what. The salt keeps anybody from finding out by trial what was erased.
  private func personalLine(_ record: AuditRecord) -> [UInt8] {
    var json = JSONWriter(pretty: false)
    json.beginObject()
    json.key("seq")
    json.integer(tip.sequence + 1)
    json.key("salt")
    json.string(
      HexText.encode((0..<2).flatMap { _ in withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { Array($0) } }))
    addPersonal(record, to: &json)
    json.endObject()
    return json.bytes
  }

  private func addPersonal(_ record: AuditRecord, to json: inout JSONWriter) {
    if let attested = record.attested {
      add("attested", attested.userID, attested.processID, attested.executable, to: &json)
    }
    if let claimed = record.claimed {
      add(
        "claimed", claimed.userID, claimed.processID, claimed.executable, time: record.claimedTime, to: &json)
    }
    if let owner = record.spoolOwner {
      json.key("unattested")
      json.beginObject()
      json.key("uid")
      json.integer(owner)
      json.endObject()
    }
    json.key("fields")
    json.value(.dictionary(RecordFields.kept(of: record, textBytes: textBytes)))
  }

  private func add(
    _ name: String, _ user: UInt32, _ process: Int32, _ executable: String?, time: PropertyListDate? = nil,
    to json: inout JSONWriter
  ) {
    json.key(name)
    json.beginObject()
    json.key("uid")
    json.integer(user)
    json.key("pid")
    json.integer(process)
    if let executable {
      json.key("executable")
      json.value(RecordFields.cut(.string(executable), textBytes, depth: 0))
    }
    if let time, time.isRepresentable {
      json.key("time")
      json.string(Self.text(of: time))
    }
    json.endObject()
  }
}

/// The end of a chain.
public struct LogTip: Sendable, Hashable {
  /// The number of the last record; 0 before the first.
  public var sequence: UInt64
  /// The digest of its line; zeros before the first.
  public var hash: [UInt8]
  /// When it was written, by the clock of then.
  public var time: PropertyListDate?

  public init(sequence: UInt64, hash: [UInt8], time: PropertyListDate? = nil) {
    self.sequence = sequence
    self.hash = hash
    self.time = time
  }

  static let beginning = LogTip(sequence: 0, hash: [UInt8](repeating: 0, count: SHA256.byteCount))
}
