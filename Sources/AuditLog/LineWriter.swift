import AuditEvents
import Digests
import LinuxFiles
import PropertyList

/// Writes records as lines. The law of a line:
///
/// `seq` and `prev` come first; `prev` is the SHA-256 of the bytes of the line before, without its line end, in hexadecimal
/// digits. A personal record goes on with `personal`, the SHA-256 of the line beside the segment that says who and what;
/// then `time`, `kind`, `host`; `clock`, the whole seconds (negative) by which the clock had gone
/// back since the line before; and, of records
/// that are not personal, `attested`, `claimed`, `unattested` (whose file it was found in), `fields`. Members that there is
/// nothing to say of are left out. All is JSON as `JSONWriter` writes it.
final class LineWriter {
  let lines = LineBuffer.Pool.take()
  let personalLines = LineBuffer.Pool.take()
  private let textBytes: Int
  /// `,"host":"…"`, or nothing.
  private let host = LineBuffer(capacity: 64)
  private var salts: ArraySlice<UInt8> = []
  /// The kind of the record before: `,"kind":"…"`, the fields that it may have, and room for their values. The records of a
  /// group are mostly of one kind.
  private var lastKind: AuditEvent.Kind?
  private let kind = LineBuffer(capacity: 64)
  private var names: [String] = []
  private var values: [PropertyListValue?] = []

  private var hash = SHA256()
  private let digest = UnsafeMutableRawBufferPointer.allocate(byteCount: SHA256.byteCount, alignment: 16)
  private let personalDigest = UnsafeMutableRawBufferPointer.allocate(byteCount: SHA256.byteCount, alignment: 16)
  private var sequence: UInt64
  private var time: PropertyListDate?
  /// The second that was written last, as text up to its fraction.
  private var second: (number: Double, text: [UInt8]) = (.nan, [])

  init(after tip: LogTip, host: String?, textBytes: Int) {
    sequence = tip.sequence
    time = tip.time
    self.textBytes = textBytes
    digest.copyBytes(from: tip.hash)
    if let host {
      self.host.add(",\"host\":")
      self.host.add(quoted: host)
    }
  }

  deinit {
    LineBuffer.Pool.give(lines)
    LineBuffer.Pool.give(personalLines)
    digest.deallocate()
    personalDigest.deallocate()
  }

  /// The last line that was written, or was there.
  var tip: LogTip { LogTip(sequence: sequence, hash: Array(digest), time: time) }

  func add(_ records: [AuditRecord]) {
    // By their places: a record that is handed out of its array is copied.
    let personal = records.indices.count { records[$0].isPersonal }
    salts = RandomBytes.make(Self.saltBytes * personal)[...]
    for index in records.indices { add(records[index]) }
  }

  private func add(_ record: AuditRecord) {
    if record.kind != lastKind { prepare(record.kind) }
    let start = lines.count
    lines.add("{\"seq\":")
    lines.add(decimal: sequence + 1)
    lines.add(",\"prev\":\"")
    lines.add(digitsOf: UnsafeRawBufferPointer(digest))
    if record.isPersonal {
      addPersonalLine(record)
      lines.add("\",\"personal\":\"")
      lines.add(digitsOf: UnsafeRawBufferPointer(personalDigest))
    }
    let now = record.time.isRepresentable ? record.time : PropertyListDate(unixTime: 0)
    lines.add("\",\"time\":\"")
    add(now, to: lines)
    lines.add("\"")
    lines.add(kind.bytes)
    lines.add(host.bytes)
    // Records of one moment come in any order; what is less than a second is no step of a clock.
    if let time, now.unixTime <= time.unixTime - 1 {
      lines.add(",\"clock\":")
      lines.add(decimal: Int64((now.unixTime - time.unixTime).rounded()))
    }
    if !record.isPersonal { addPersonal(record, to: lines) }
    lines.add("}")
    hash.digest(lines.bytes(from: start), into: digest)
    lines.add("\n")
    sequence += 1
    time = now
  }

  private func prepare(_ next: AuditEvent.Kind) {
    lastKind = next
    kind.removeAll()
    kind.add(",\"kind\":")
    kind.add(quoted: RecordFields.written(next))
    names = RecordFields.table[next.rawValue] ?? []
    values = Array(repeating: nil, count: names.count)
  }

  private static let saltBytes = 16

  /// Who and what. The salt keeps anybody from finding out by trial what was erased.
  private func addPersonalLine(_ record: AuditRecord) {
    let start = personalLines.count
    personalLines.add("{\"seq\":")
    personalLines.add(decimal: sequence + 1)
    personalLines.add(",\"salt\":\"")
    salts.prefix(Self.saltBytes).withUnsafeBytes { personalLines.add(digitsOf: $0) }
    salts = salts.dropFirst(Self.saltBytes)
    personalLines.add("\"")
    addPersonal(record, to: personalLines)
    personalLines.add("}")
    hash.digest(personalLines.bytes(from: start), into: personalDigest)
    personalLines.add("\n")
  }

  private func addPersonal(_ record: AuditRecord, to line: LineBuffer) {
    if let attested = record.attested {
      line.add(",\"attested\":")
      add(attested.userID, attested.processID, attested.executable, time: nil, to: line)
    }
    if let claimed = record.claimed {
      line.add(",\"claimed\":")
      add(claimed.userID, claimed.processID, claimed.executable, time: record.claimedTime, to: line)
    }
    if let owner = record.spoolOwner {
      line.add(",\"unattested\":{\"uid\":")
      line.add(decimal: UInt64(owner))
      line.add("}")
    }
    line.add(",\"fields\":{")
    let start = line.count
    var withheld = 0
    for (name, value) in record.fields {
      if let index = names.firstIndex(of: name) { values[index] = value } else { withheld += 1 }
    }
    for index in names.indices {
      guard let value = values[index] else { continue }
      if line.count > start { line.add(",") }
      line.add(quoted: names[index])
      line.add(":")
      add(value, to: line)
      values[index] = nil
    }
    if withheld > 0 {
      if line.count > start { line.add(",") }
      line.add("\"withheld\":")
      line.add(decimal: UInt64(withheld))
    }
    line.add("}")
  }

  private func add(_ value: PropertyListValue, to line: LineBuffer) {
    switch value {
    case .string(let text) where text.utf8.count <= textBytes: line.add(quoted: text)
    case .integer(let number):
      if let small = number.int64 { line.add(decimal: small) } else { line.add(decimal: number.bitPattern) }
    default: line.add(json: RecordFields.cut(value, textBytes, depth: 0))
    }
  }

  private func add(
    _ user: UInt32, _ process: Int32, _ executable: String?, time: PropertyListDate?, to line: LineBuffer
  ) {
    line.add("{\"uid\":")
    line.add(decimal: UInt64(user))
    line.add(",\"pid\":")
    line.add(decimal: Int64(process))
    if let executable {
      line.add(",\"executable\":")
      add(.string(executable), to: line)
    }
    if let time, time.isRepresentable {
      line.add(",\"time\":\"")
      add(time, to: line)
      line.add("\"")
    }
    line.add("}")
  }

  // MARK: Times

  /// RFC 3339 in UTC, to the millisecond.
  static func text(of time: PropertyListDate) -> String {
    let (second, milliseconds) = parts(of: time)
    let fraction = String(milliseconds)
    return PropertyListDate(unixTime: second).rfc3339.dropLast() + "."
      + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction + "Z"
  }

  private static func parts(of time: PropertyListDate) -> (second: Double, milliseconds: UInt64) {
    let milliseconds = (time.unixTime * 1000).rounded()
    let second = (milliseconds / 1000).rounded(.down)
    return (second, UInt64(milliseconds - second * 1000))
  }

  /// The same into a line. The records of a group are mostly of one second.
  private func add(_ time: PropertyListDate, to line: LineBuffer) {
    let (number, milliseconds) = Self.parts(of: time)
    if number != second.number {
      second = (number, Array(PropertyListDate(unixTime: number).rfc3339.utf8.dropLast()))
    }
    line.add(second.text)
    line.add(".")
    line.add(decimal: milliseconds, width: 3)
    line.add("Z")
  }
}
