import Digests
import Glibc
import LinuxFiles

/// What is in the newest segment, as far as whoever appends has to know.
///
/// As a rule only the last line is read. The whole segment is walked where that line is not whole, or is not the one that
/// the anchor counted.
struct SegmentScan {
  /// The last line that continues the one before; nil where there is none.
  var tip: LogTip?
  /// Where the good lines end.
  var end = 0
  var size = 0
  /// The digest of the record with a number that was asked for, where it is in this segment.
  var hashAsked: [UInt8]?
  /// The first line's number and what it says of the line before.
  var first: (sequence: UInt64, previous: [UInt8])?
  /// A whole line (with its line end) follows that does not continue the chain.
  var hasBadLine = false
  /// The number of the last alarm behind the record that was asked for, which no acknowledgement follows; 0 for none.
  var alarm: UInt64 = 0
  /// An acknowledgement follows the record that was asked for.
  var isAcknowledged = false
  /// The first record behind the one that was asked for which excuses something without having been announced; an alarm is
  /// none, since it accuses.
  var unannounced: UInt64?
  /// The highest number that any line bears, also behind a bad one.
  var highest: UInt64 = 0

  /// The last line alone; nil where the walk is needed.
  static func lastLine(of file: borrowing FileDescriptor, size: Int) throws(Errno) -> LogTip? {
    var window = 4096
    while true {
      let count = min(window, size)
      let bytes = try read(file, at: size - count, count: count)
      guard bytes.last == UInt8(ascii: "\n") else { return nil }
      if let start = bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")) {
        return bytes[(start + 1)..<(count - 1)].withUnsafeBytes { LogTip(line: $0) }
      }
      if count == size { return bytes.dropLast().withUnsafeBytes { LogTip(line: $0) } }
      if window > AuditLogLimits.lineBytes { return nil }
      window *= 8
    }
  }

  /// The bytes of the first line, without its end; nil where no line is whole.
  static func firstLine(of file: borrowing FileDescriptor) throws(Errno) -> [UInt8]? {
    var window = 2048
    while true {
      let bytes = try read(file, at: 0, count: window)
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return Array(bytes[..<end]) }
      if bytes.count < window || window > AuditLogLimits.lineBytes { return nil }
      window *= 8
    }
  }

  static func read(_ file: borrowing FileDescriptor, at offset: Int, count: Int) throws(Errno) -> [UInt8] {
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(Errno) { filled = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset) } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Lines behind the record that was asked for which have a personal part: where they begin, and the part's digest.
  var personal: [(start: Int, digest: [UInt8])] = []

  /// Walks a whole segment.
  ///
  /// - Parameters:
  ///   - asked: the number of the record whose digest is wanted.
  ///   - announced: the number up to which records may excuse something.
  init(walking bytes: [UInt8], asked: UInt64, announced: UInt64 = .max) {
    size = bytes.count
    let hash = SHA256()
    bytes.withUnsafeBytes { memory in
      var place = 0
      var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
      while place < memory.count, let end = Self.lineEnd(in: memory, from: place) {
        let line = UnsafeRawBufferPointer(rebasing: memory[place..<end])
        place = end + 1
        guard let read = LogLine(line) else {
          hasBadLine = true
          continue
        }
        highest = max(highest, read.sequence)
        if hasBadLine { continue }
        if let tip {
          let continues =
            read.sequence == tip.sequence + 1
            && tip.hash.withUnsafeBytes { LogLine.digits(line, at: read.previous, are: $0) }
          if !continues {
            hasBadLine = true
            continue
          }
        } else if let previous = HexText.decode(line[read.previous..<read.previous + 64]) {
          first = (read.sequence, previous)
        }
        digest.withUnsafeMutableBytes { hash.digest(line, into: $0) }
        if read.sequence == asked { hashAsked = digest }
        if read.sequence > asked {
          noteAlarm(UnsafeRawBufferPointer(rebasing: line[read.kind]), read.sequence, announced)
          if let place = read.personal, let digest = HexText.decode(line[place..<place + 64]) {
            personal.append((self.end, digest))
          }
        }
        tip = LogTip(sequence: read.sequence, hash: digest)
        self.end = place
      }
      if let last = tip, end > 0 {
        let start = memory[..<(end - 1)].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        tip = LogTip(line: UnsafeRawBufferPointer(rebasing: memory[start..<(end - 1)])) ?? last
      }
    }
  }

  private mutating func noteAlarm(_ kind: UnsafeRawBufferPointer, _ sequence: UInt64, _ announced: UInt64) {
    if kind.elementsEqual("audit.alarm".utf8) {
      alarm = sequence
    } else if sequence > announced {
      if LogLine.excuses(kind) { unannounced = unannounced ?? sequence }
    } else if kind.elementsEqual("audit.acknowledged".utf8) || kind.elementsEqual("audit.set-aside".utf8) {
      alarm = 0
      isAcknowledged = true
    }
  }

  /// Where the line that begins at `start` ends: the place of its new line.
  static func lineEnd(in memory: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = memory.baseAddress, start < memory.count,
      let found = memchr(base + start, Int32(UInt8(ascii: "\n")), memory.count - start)
    else { return nil }
    return base.distance(to: UnsafeRawPointer(found))
  }
}
