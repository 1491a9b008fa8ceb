import AuditLog
import CommandLineKit
import Digests
import LinuxFiles
import PropertyList

/// The end of an audit log against its anchor, without a verification of the whole.
///
/// The law: what the anchor counted is there, and no alarm stays that nobody has acknowledged. A log that is ahead of its anchor
/// is what a crash leaves. Who may not read the anchor learns nothing of either.
struct AuditEnd {
  let head: LogHead?
  /// `sound`, `behind` (its anchor), `replaced` (its last record), `alarm`, `no-anchor`, or `unknown` where the anchor can't
  /// be read.
  let state: String
  /// One line, where something is wrong.
  let fault: String?

  /// - Complexity: O(newest segment).
  init(of place: AuditLogPlace) throws(AuditLogError) {
    // The anchor first: the log may then only be ahead of it.
    let reading = Self.anchor(of: place)
    head = try LogReader(place).head()
    let end = head?.sequence ?? 0
    switch reading {
    case .unreadable:
      state = "unknown"
      fault = nil
    case .missing, .damaged:
      state = end == 0 ? "unknown" : "no-anchor"
      let what = if case .missing = reading { "has lost its anchor" } else { "has a damaged anchor" }
      fault = end == 0 ? nil : "the audit log \(what), so it can't be known whether records are missing"
    case .read(let anchor):
      if end < anchor.sequence {
        state = "behind"
        fault =
          "the audit log is behind its anchor: expected \(Count.text(Int(clamping: anchor.sequence), "record")), found \(end)"
      } else if end == anchor.sequence, let head, head.hashText != anchor.hash {
        state = "replaced"
        fault = "the audit log does not end with the record that its anchor counted: record \(end) was replaced"
      } else if anchor.alarm > 0 {
        state = "alarm"
        fault = "record \(anchor.alarm) of the audit log is an alarm that nobody has acknowledged"
      } else {
        state = "sound"
        fault = nil
      }
    }
  }

  private enum Reading {
    case missing
    case damaged
    case unreadable
    case read(Anchor)
  }

  private struct Anchor {
    var count: UInt64
    var sequence: UInt64
    var hash: String
    var alarm: UInt64
  }

  /// The anchor as `Documentation/audit-log.md` has it: of two slots of 512 bytes the newer one whose last line is the digest of
  /// those before.
  private static func anchor(of place: AuditLogPlace) -> Reading {
    for path in [place.anchor, place.anchorLeftBehind] {
      let bytes: [UInt8]
      do throws(FileError) { bytes = try WholeFile.read(path, limit: 1 << 16).bytes } catch {
        if error.errno == .noSuchFile || error.errno == .notDirectory { continue }
        return .unreadable
      }
      let slots = [bytes.prefix(512), bytes.dropFirst(512).prefix(512)].compactMap { slot($0) }
      return slots.max { $0.count < $1.count }.map { .read($0) } ?? .damaged
    }
    return .missing
  }

  private static func slot(_ bytes: ArraySlice<UInt8>) -> Anchor? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let check = text.firstRange(ofBytes: "check ") else { return nil }
    let covered = text[..<check.lowerBound]
    guard HexText.encode(SHA256.digest(of: Array(covered.utf8)))[...] == text[check.upperBound...].prefix(64) else {
      return nil
    }
    var values: [Substring: Substring] = [:]
    for line in covered.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1)
      if words.count == 2 { values[words[0]] = words[1] }
    }
    guard let count = values["count"].flatMap({ UInt64($0) }), let sequence = values["seq"].flatMap({ UInt64($0) }),
      let hash = values["hash"]
    else { return nil }
    return Anchor(
      count: count, sequence: sequence, hash: String(hash), alarm: values["alarm"].flatMap { UInt64($0) } ?? 0)
  }
}
