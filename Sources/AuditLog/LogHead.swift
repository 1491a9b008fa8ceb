import Digests
public import PropertyList

/// The end of a log on one line, to be kept elsewhere: whoever has it can tell later that nothing up to there was changed,
/// also where somebody had root's power over the log and its anchor.
///
/// ```
/// audit-head host=lab-a-03 log=0b0c… seq=12 sha256=5f3a… time=2026-11-30T07:02:11.123Z
/// ```
public struct LogHead: Sendable, Hashable, CustomStringConvertible {
  public let host: String?
  /// The log's id; nil where it is not known.
  public let log: String?
  public let sequence: UInt64
  public let hash: [UInt8]
  public let time: PropertyListDate?

  public init(host: String?, log: String?, sequence: UInt64, hash: [UInt8], time: PropertyListDate?) {
    self.host = host
    self.log = log
    self.sequence = sequence
    self.hash = hash
    self.time = time
  }

  /// RFC 3339 in UTC, to the millisecond.
  public var timeText: String? { time.map { RecordBody.text(of: $0) } }

  public var hashText: String { HexText.encode(hash) }

  public var description: String {
    var text = "audit-head"
    if let host { text += " host=\(host)" }
    if let log { text += " log=\(log)" }
    text += " seq=\(sequence) sha256=\(hashText)"
    if let time { text += " time=\(RecordBody.text(of: time))" }
    return text
  }

  /// nil: no such line. Space around it counts for nothing.
  public init?(_ text: some StringProtocol) {
    let words = text.split { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" }
    guard words.first == "audit-head" else { return nil }
    var fields: [String: String] = [:]
    for word in words.dropFirst() {
      let parts = word.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, fields.updateValue(String(parts[1]), forKey: String(parts[0])) == nil else { return nil }
    }
    guard let sequence = fields["seq"].flatMap({ UInt64($0) }),
      let hash = fields["sha256"].flatMap({ HexText.decode($0.utf8) }), hash.count == SHA256.byteCount
    else { return nil }
    self.init(
      host: fields["host"], log: fields["log"], sequence: sequence, hash: hash,
      time: fields["time"].flatMap { PropertyListDate(rfc3339: $0) })
  }
}
