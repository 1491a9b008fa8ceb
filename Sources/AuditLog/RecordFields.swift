public import AuditEvents
import Digests
import PropertyList

/// Which fields a kind's records have.
///
/// The law: no record ever holds the value of a preference, be it secret or not. What isn't in this table isn't written; the
/// record then says `withheld` and how many fields there were. So a secret can't enter the log under a name that nobody
/// thought of. Texts of any length can come in as names of keys and domains: they are cut, and say so.
public enum RecordFields {
  static let table: [String: Set<String>] = [
    "forced.write": ["domain", "key", "operation", "profiles", "generation", "count", "session"],
    "foreign.redirect": ["application", "domain", "key", "operation", "path", "count", "session"],
    "domain.damaged": ["path", "faults", "inForce", "count"],
    "domain.unwritable": ["domain", "path", "fault", "count"],
    "events.dropped": ["dropped", "reason"],
    "policy.installed": ["generation", "previous", "serial", "digest", "signer", "source", "keys"],
    "policy.refreshed": ["generation", "previous", "serial", "digest", "signer", "source", "keys"],
    "policy.rolled-back": ["generation", "previous", "serial", "digest", "signer", "source", "keys"],
    "policy.refused": ["verb", "path", "exit", "reason"],
    "policy.uninstalled": ["generation"],
    "policy.window-opened": ["generation", "profile", "edge"],
    "policy.window-closed": ["generation", "profile", "edge"],
    "policy.stale": ["generation", "digest", "found"],
    "identity.unknown": ["names", "accepted"],
    "host.enrolled": ["from", "to"],
    "key.trusted": ["name", "fingerprint", "local"],
    "agent.started": ["generation", "digest", "boot", "version", "clock"],
    "agent.stopped": ["generation", "reason"],
    "agent.heartbeat": ["generation", "digest", "forced", "boot", "clock", "uptime"],
    "audit.began": ["log", "format"],
    "audit.rotated": ["log", "previous", "records", "bytes"],
    "audit.recovered": ["file", "bytes", "counted"],
    "audit.alarm": ["log", "reason", "expected", "expectedHash", "found", "foundHash"],
    "audit.acknowledged": ["through", "reason"],
    "audit.checkpoint": ["through", "hash", "records", "segments"],
    "audit.erased": ["records", "count", "reason"],
    "audit.dropped": ["count", "since", "user", "reasons"],
  ]

  /// Whether records of the kind are about what a person did.
  public static func isPersonal(_ kind: AuditEvent.Kind) -> Bool {
    switch kind.rawValue {
    case "forced.write", "foreign.redirect", "domain.damaged", "domain.unwritable", "events.dropped": true
    default: table[kind.rawValue] == nil
    }
  }

  /// A kind as it is written: lower-case words joined by dots and dashes; everything else is `event.malformed`.
  static func written(_ kind: AuditEvent.Kind) -> String {
    let isPlain = kind.rawValue.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"): true
      default: false
      }
    }
    return isPlain && (1...64).contains(kind.rawValue.utf8.count) ? kind.rawValue : "event.malformed"
  }

  /// What is kept of a record's fields.
  static func kept(of record: AuditRecord, textBytes: Int) -> [String: PropertyListValue] {
    let names = table[record.kind.rawValue] ?? []
    var kept = record.fields.filter { names.contains($0.key) }.mapValues { cut($0, textBytes, depth: 0) }
    let withheld = record.fields.count - kept.count
    if withheld > 0 { kept["withheld"] = .integer(PropertyListInteger(withheld)) }
    return kept
  }

  /// A text that is too long becomes a dictionary: its beginning, its length in bytes, and its digest. Lists of more than
  /// 256 elements end there, and nothing is nested deeper than four levels.
  static func cut(_ value: PropertyListValue, _ textBytes: Int, depth: Int) -> PropertyListValue {
    if depth > 4 { return .string("…") }
    switch value {
    case .string(let text):
      guard text.utf8.count > textBytes else { return value }
      var start = text.unicodeScalars.prefix(textBytes / 4)
      while start.reduce(0, { $0 + UTF8.width($1) }) > textBytes { start.removeLast() }
      return .dictionary([
        "cut": .string(String(start)), "bytes": .integer(PropertyListInteger(text.utf8.count)),
        "sha256": .string(HexText.encode(SHA256.digest(of: Array(text.utf8)))),
      ])
    case .data(let bytes):
      return .dictionary([
        "bytes": .integer(PropertyListInteger(bytes.count)),
        "sha256": .string(HexText.encode(SHA256.digest(of: bytes))),
      ])
    case .array(let elements):
      var kept = elements.prefix(256).map { cut($0, textBytes, depth: depth + 1) }
      if elements.count > 256 {
        kept.append(.dictionary(["cut": .integer(PropertyListInteger(elements.count - 256))]))
      }
      return .array(kept)
    case .dictionary(let members):
      let names = members.keys.sorted().prefix(64)
      return .dictionary(
        Dictionary(
          uniqueKeysWithValues: names.map {
            (String($0.prefix(256)), cut(members[$0] ?? .boolean(false), textBytes, depth: depth + 1))
          }))
    default: return value
    }
  }
}
