public import AuditEvents
import Digests
import PropertyList

/// Which fields a kind's records have, sorted as they are written.
///
/// The law: no record ever holds the value of a preference, be it secret or not. What isn't in this table isn't written; the
/// record then says `withheld` and how many fields there were. So a secret can't enter the log under a name that nobody
/// thought of. Texts of any length can come in as names of keys and domains: they are cut, and say so.
public enum RecordFields {
  static let table: [String: [String]] = [
    "forced.write": ["count", "domain", "generation", "key", "operation", "profiles", "session"],
    "foreign.redirect": ["application", "count", "domain", "key", "operation", "path", "session"],
    "domain.damaged": ["count", "faults", "inForce", "path"],
    "domain.unwritable": ["count", "domain", "fault", "path"],
    "events.dropped": ["dropped", "reason"],
    "policy.installed": ["digest", "generation", "keys", "previous", "serial", "signer", "source"],
    "policy.refreshed": ["digest", "generation", "keys", "previous", "serial", "signer", "source"],
    "policy.rolled-back": ["digest", "generation", "keys", "previous", "serial", "signer", "source"],
    "policy.refused": ["exit", "path", "reason", "verb"],
    "policy.uninstalled": ["generation"],
    "policy.window-opened": ["edge", "generation", "late", "profile"],
    "policy.window-closed": ["edge", "generation", "late", "profile"],
    "policy.stale": ["digest", "found", "generation"],
    "identity.unknown": ["accepted", "names"],
    "host.enrolled": ["from", "to"],
    "key.trusted": ["fingerprint", "local", "name"],
    "agent.started": ["boot", "clock", "digest", "generation", "version"],
    "agent.stopped": ["generation", "reason"],
    "agent.heartbeat": ["boot", "clock", "digest", "forced", "generation", "spoolsLeft", "uptime"],
    "audit.began": ["format", "log"],
    "audit.rotated": ["bytes", "log", "previous", "records"],
    "audit.recovered": ["bytes", "counted", "file"],
    "audit.alarm": ["expected", "expectedHash", "found", "foundHash", "log", "reason"],
    "audit.acknowledged": ["reason", "through"],
    "audit.checkpoint": ["hash", "records", "segments", "through"],
    "audit.set-aside": ["digest", "files", "finding", "folder", "hash", "log", "reason", "through"],
    "audit.erased": ["count", "reason", "records"],
    "audit.dropped": ["count", "reasons", "since", "user"],
  ]

  /// The kinds that records have. What programs name themselves is written under the last one where it can't be written as it
  /// is.
  public static var kinds: [String] { table.keys.sorted() + ["event.malformed"] }

  /// Whether records of the kind are about what a person did.
  public static func isPersonal(_ kind: AuditEvent.Kind) -> Bool {
    switch kind.rawValue {
    case "forced.write", "foreign.redirect", "domain.damaged", "domain.unwritable", "events.dropped": true
    default: table[kind.rawValue] == nil
    }
  }

  /// A kind as it is written: lower-case words joined by dots and dashes; everything else is `event.malformed`.
  static func written(_ kind: AuditEvent.Kind) -> String {
    if table[kind.rawValue] != nil { return kind.rawValue }
    let isPlain = kind.rawValue.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"): true
      default: false
      }
    }
    return isPlain && (1...64).contains(kind.rawValue.utf8.count) ? kind.rawValue : "event.malformed"
  }

  /// A text that is too long becomes a dictionary: its beginning, its length in bytes, and its digest. Lists of more than
  /// 256 elements end there, and nothing is nested deeper than four levels. Fields that still take more than
  /// `AuditLogLimits.fieldsBytes` together are left out, and `cut` says how many bytes they had.
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
        // Names that are the same up to there become one.
        Dictionary(
          names.map {
            (String($0.prefix(256)), cut(members[$0] ?? .boolean(false), textBytes, depth: depth + 1))
          }, uniquingKeysWith: { first, _ in first }))
    default: return value
    }
  }
}
