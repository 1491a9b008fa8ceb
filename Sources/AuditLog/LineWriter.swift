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
  private(set) var personal: [PersonalLines] = []
  private let body: RecordBody
  private let textBytes: Int
  /// `,"host":"…"`, or nothing.
  private let host = LineBuffer(capacity: 64)

  private let hash = SHA256()
  private let digest = UnsafeMutableRawBufferPointer.allocate(byteCount: SHA256.byteCount, alignment: 16)
  private var sequence: UInt64
  private var time: PropertyListDate?

  init(after tip: LogTip, host: String?, textBytes: Int) {
    sequence = tip.sequence
    time = tip.time
    self.textBytes = textBytes
    body = RecordBody(textBytes: textBytes)
    digest.copyBytes(from: tip.hash)
    if let host {
      self.host.add(",\"host\":")
      self.host.add(quoted: host)
    }
  }

  deinit {
    LineBuffer.Pool.give(lines)
    digest.deallocate()
  }

  /// The last line that was written, or was there.
  var tip: LogTip { LogTip(sequence: sequence, hash: Array(digest), time: time) }

  /// Writes the records of one group; to be called once.
  func add(_ records: [AuditRecord]) {
    var thread: ThreadBeside?
    (personal, thread) = PersonalLines.make(of: records, from: sequence + 1, textBytes: textBytes)
    // The next personal record's part: in which piece, and where there.
    var piece = 0
    var index = 0
    // By their places: a record that is handed out of its array is copied.
    records.withUnsafeBufferPointer { memory in
      guard let first = memory.baseAddress else { return }
      for place in memory.indices {
        var part: UnsafeRawBufferPointer?
        if memory[place].isPersonal {
          if index == personal[piece].count {
            thread?.wait()
            thread = nil
            (piece, index) = (piece + 1, 0)
          }
          part = personal[piece].digest(at: index)
          index += 1
        }
        add(first + place, part)
      }
    }
  }

  private func add(_ record: UnsafePointer<AuditRecord>, _ part: UnsafeRawBufferPointer?) {
    let start = lines.count
    lines.add("{\"seq\":")
    lines.add(decimal: sequence + 1)
    lines.add(",\"prev\":\"")
    lines.add(digitsOf: UnsafeRawBufferPointer(digest))
    if let part {
      lines.add("\",\"personal\":\"")
      lines.add(digitsOf: part)
    }
    let now = record.pointee.time.isRepresentable ? record.pointee.time : PropertyListDate(unixTime: 0)
    lines.add("\",\"time\":\"")
    body.add(now, to: lines)
    lines.add("\"")
    body.addKind(of: record, to: lines)
    lines.add(host.bytes)
    // Records of one moment come in any order; what is less than a second is no step of a clock.
    if let time, now.unixTime <= time.unixTime - 1 {
      lines.add(",\"clock\":")
      lines.add(decimal: Int64((now.unixTime - time.unixTime).rounded()))
    }
    if part == nil { body.addMembers(of: record, to: lines) }
    lines.add("}")
    hash.digest(lines.bytes(from: start), into: digest)
    lines.add("\n")
    sequence += 1
    time = now
  }
}
