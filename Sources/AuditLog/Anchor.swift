import Digests
import LinuxFiles
import PropertyList

/// What is known of the log's end apart from the log.
///
/// The file has two slots of 512 bytes, written in turn and in place, so that a write which a crash tears leaves the one
/// before, and a full disk takes nothing away. Each slot is lines of `name value`, filled up with new lines; its last line is the
/// SHA-256 of those before.
struct Anchor: Hashable {
  /// 128 random bits in hexadecimal digits, made with the log: another host's log has others.
  var log: String
  /// The last record that counts, durably written before the anchor was.
  var tip: LogTip
  /// The number of the `audit.alarm` record that nobody has acknowledged; 0 for none.
  var alarm: UInt64 = 0
  /// Records that found no room and that no record tells of yet.
  var dropped: UInt64 = 0
  /// When the first of those was dropped.
  var droppedSince: PropertyListDate?
  /// How often the anchor was written.
  var count: UInt64 = 0

  static let slotBytes = 512

  enum Reading {
    case missing
    /// Neither slot is whole.
    case damaged
    case read(Anchor)
  }

  var slot: [UInt8] {
    var text = "managed-preferences-audit-anchor 1\nlog \(log)\ncount \(count)\nseq \(tip.sequence)\n"
    text += "hash \(HexText.encode(tip.hash))\n"
    if let time = tip.time { text += "time \(time.rfc3339)\n" }
    if alarm > 0 { text += "alarm \(alarm)\n" }
    if dropped > 0 { text += "dropped \(dropped)\n" }
    if let droppedSince { text += "since \(droppedSince.rfc3339)\n" }
    var bytes = Array(text.utf8)
    bytes += Array("check \(HexText.encode(SHA256.digest(of: bytes)))\n".utf8)
    precondition(bytes.count <= Self.slotBytes)
    return bytes + [UInt8](repeating: UInt8(ascii: "\n"), count: Self.slotBytes - bytes.count)
  }

  /// The whole file of a new anchor.
  var file: [UInt8] { slot + [UInt8](repeating: UInt8(ascii: "\n"), count: Self.slotBytes) }

  /// Where the slot with this count is.
  var offset: Int { Int(count % 2) * Self.slotBytes }

  init(log: String, tip: LogTip) {
    self.log = log
    self.tip = tip
  }

  /// nil: this slot is not whole.
  init?(slot bytes: some Collection<UInt8>) {
    var fields: [String: String] = [:]
    var checked: [UInt8] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
      guard words.count == 2 else { return nil }
      let name = String(decoding: words[0], as: UTF8.self)
      if name == "check" {
        fields[name] = String(decoding: words[1], as: UTF8.self)
        break
      }
      checked += Array(line) + [UInt8(ascii: "\n")]
      fields[name] = String(decoding: words[1], as: UTF8.self)
    }
    guard fields["managed-preferences-audit-anchor"] == "1", let log = fields["log"],
      fields["check"] == HexText.encode(SHA256.digest(of: checked)),
      let count = fields["count"].flatMap({ UInt64($0) }), let sequence = fields["seq"].flatMap({ UInt64($0) }),
      let hash = fields["hash"].flatMap({ HexText.decode($0.utf8) }), hash.count == SHA256.byteCount
    else { return nil }
    self.log = log
    tip = LogTip(sequence: sequence, hash: hash, time: fields["time"].flatMap { PropertyListDate(rfc3339: $0) })
    self.count = count
    alarm = fields["alarm"].flatMap { UInt64($0) } ?? 0
    dropped = fields["dropped"].flatMap { UInt64($0) } ?? 0
    droppedSince = fields["since"].flatMap { PropertyListDate(rfc3339: $0) }
  }

  /// The newer of the slots that are whole.
  static func read(_ bytes: [UInt8]) -> Reading {
    let slots = [bytes.prefix(slotBytes), bytes.dropFirst(slotBytes).prefix(slotBytes)].compactMap { Anchor(slot: $0) }
    return slots.max { $0.count < $1.count }.map { .read($0) } ?? .damaged
  }
}

extension AuditLogPlace {
  /// The anchor, or the one that an uninstallation left with the log where there is none.
  func readAnchor() throws(AuditLogError) -> (reading: Anchor.Reading, path: String) {
    for path in [anchor, anchorLeftBehind] {
      let file: FileDescriptor
      do throws(AuditLogError) { file = try open(path, .readOnly) } catch {
        if case .file(let failure) = error.reason, failure.errno == .noSuchFile || failure.errno == .notDirectory {
          continue
        }
        throw error
      }
      do throws(Errno) { return (Anchor.read(try file.readToEnd(limit: 1 << 16)), path) } catch {
        throw AuditLogError(FileError("read", path: path, errno: error))
      }
    }
    return (.missing, anchor)
  }
}
