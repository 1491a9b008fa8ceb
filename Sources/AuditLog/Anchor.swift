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
  /// The number up to which the log may bear witness for itself ahead of the anchor: it is written before records that excuse
  /// what is missing (`audit.alarm`, `audit.acknowledged`, `audit.checkpoint`, `audit.erased`, `audit.set-aside`), and is 0 when they are counted. Who
  /// can write the log and not the anchor can't have such a record believed.
  var announced: UInt64 = 0
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
    let text = LineBuffer(capacity: Self.slotBytes)
    func line(_ name: StaticString, _ number: UInt64) {
      text.add(name)
      text.add(decimal: number)
      text.add("\n")
    }
    func line(_ name: StaticString, _ value: some Sequence<UInt8>) {
      text.add(name)
      text.add(Array(value))
      text.add("\n")
    }
    line("managed-preferences-audit-anchor ", 1)
    line("log ", log.utf8)
    line("count ", count)
    line("seq ", tip.sequence)
    line("hash ", HexText.encode(tip.hash).utf8)
    if let time = tip.time { line("time ", RecordBody.text(of: time).utf8) }
    if alarm > 0 { line("alarm ", alarm) }
    if announced > 0 { line("announced ", announced) }
    if dropped > 0 { line("dropped ", dropped) }
    if let droppedSince { line("since ", droppedSince.rfc3339.utf8) }
    line("check ", HexText.encode(SHA256.digest(of: Array(text.bytes))).utf8)
    precondition(text.count <= Self.slotBytes)
    return Array(text.bytes) + [UInt8](repeating: UInt8(ascii: "\n"), count: Self.slotBytes - text.count)
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
  init?(slot bytes: ArraySlice<UInt8>) {
    var place = bytes.startIndex
    var fields: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
    var isChecked = false
    while !isChecked, place < bytes.endIndex {
      guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")),
        let space = bytes[place..<end].firstIndex(of: UInt8(ascii: " "))
      else { return nil }
      let (name, value) = (bytes[place..<space], bytes[(space + 1)..<end])
      if name.elementsEqual("check".utf8) {
        let digest = SHA256.digest(of: Array(bytes[..<place]))
        guard value.count == 64,
          value.withUnsafeBytes({ text in digest.withUnsafeBytes { LogLine.digits(text, at: 0, are: $0) } })
        else { return nil }
        isChecked = true
      }
      fields.append((name, value))
      place = end + 1
    }
    func text(_ name: String) -> String? {
      fields.first { $0.name.elementsEqual(name.utf8) }.map { String(decoding: $0.value, as: UTF8.self) }
    }
    guard isChecked, text("managed-preferences-audit-anchor") == "1", let log = text("log"),
      let count = text("count").flatMap({ UInt64($0) }), let sequence = text("seq").flatMap({ UInt64($0) }),
      sequence <= LogLine.greatestSequence,
      let hash = text("hash").flatMap({ HexText.decode($0.utf8) }), hash.count == SHA256.byteCount
    else { return nil }
    self.log = log
    tip = LogTip(sequence: sequence, hash: hash, time: text("time").flatMap { PropertyListDate(rfc3339: $0) })
    self.count = count
    alarm = text("alarm").flatMap { UInt64($0) } ?? 0
    announced = text("announced").flatMap { UInt64($0) } ?? 0
    dropped = text("dropped").flatMap { UInt64($0) } ?? 0
    droppedSince = text("since").flatMap { PropertyListDate(rfc3339: $0) }
  }

  /// The newer of the slots that are whole.
  static func read(_ bytes: [UInt8]) -> Reading {
    let slots = [bytes.prefix(slotBytes), bytes.dropFirst(slotBytes).prefix(slotBytes)]
    // As a rule the one that says it is newer is whole, and the other need not be read.
    for slot in statedCount(slots[1]) > statedCount(slots[0]) ? slots.reversed() : slots {
      if let anchor = Anchor(slot: slot) { return .read(anchor) }
    }
    return .damaged
  }

  /// What a slot says of itself, whole or not.
  private static func statedCount(_ slot: ArraySlice<UInt8>) -> UInt64 {
    let name = Array("\ncount ".utf8)
    guard let space = slot.indices.first(where: { slot[$0...].starts(with: name) }) else { return 0 }
    return slot[(space + name.count)...].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      .reduce(0) { ($0 &* 10) &+ UInt64($1 - UInt8(ascii: "0")) }
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
