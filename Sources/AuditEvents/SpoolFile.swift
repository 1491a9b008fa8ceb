import Glibc
import LinuxFiles
import PropertyList

/// The file of one origin in a spool: bounded, shared by all processes of a user, whole lines only.
struct SpoolFile {
  let directory: String
  let origin: SpoolOrigin
  let limits: AuditSpool.Limits

  /// Appends what fits and counts the rest in the last line.
  func append(_ events: [AuditEvent], lockTimeout: Double) throws(FileError) {
    try Directory.createAll(directory, mode: 0o700)
    let name = SpoolName(stem: origin.stem)
    let lock = try FileLock.exclusive(FilePath.join(directory, name.lock), timeout: lockTimeout)
    defer { extendLifetime(lock) }
    let path = FilePath.join(directory, name.file)
    let file = try FileDescriptor.open(path, [.readWrite, .create, .noFollow, .nonBlocking], mode: 0o600)
    do throws(Errno) {
      guard try file.metadata().isRegularFile else { throw .invalidArgument }
      let droppedLine = DroppedLine(of: origin)
      var state = try State(of: file.readToEnd(limit: limits.bytes + 65536), droppedLine)
      var addition: [UInt8] = state.endsInsideALine ? [UInt8(ascii: "\n")] : []
      var dropped: UInt64 = 0
      for event in events {
        let line = event.jsonLine(of: origin)
        let fits =
          !state.isFull && state.end + addition.count + line.count + droppedLine.length <= limits.bytes
          && state.lines < limits.events - 1
        if fits {
          addition += line
          state.lines += 1
        } else {
          dropped += 1
          // Once one is dropped, later and shorter ones go too: the trail has one gap, at its end.
          state.isFull = true
        }
      }
      try write(addition, at: state.end, to: file)
      if dropped > 0 {
        try write(
          droppedLine.bytes(count: state.dropped &+ dropped), at: state.end + addition.count, to: file)
      }
    } catch {
      throw FileError("write", path: path, errno: error)
    }
  }

  private func write(_ bytes: [UInt8], at offset: Int, to file: borrowing FileDescriptor) throws(Errno) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(file.rawValue, $0.baseAddress! + done, $0.count - done, off_t(offset + done))
      }
      if count < 0 {
        let error = Errno.current
        if error.rawValue == EINTR { continue }
        throw error
      }
      done += count
    }
  }

  /// What the file holds. `end` is where the next byte goes: before the last line, where that one counts dropped events.
  private struct State {
    var end: Int
    var lines: Int
    var dropped: UInt64 = 0
    var isFull = false
    var endsInsideALine = false

    init(of bytes: [UInt8], _ droppedLine: DroppedLine) {
      end = bytes.count
      lines = bytes.lazy.filter { $0 == UInt8(ascii: "\n") }.count
      // A process that was killed while it wrote leaves part of a line; the next event must not continue it.
      endsInsideALine = bytes.last.map { $0 != UInt8(ascii: "\n") } ?? false
      if !endsInsideALine, let count = droppedLine.count(in: bytes.suffix(droppedLine.length)) {
        end -= droppedLine.length
        dropped = count
        isFull = true
      }
    }
  }

  /// The line that counts: always the same length, so that it can be written over in place.
  struct DroppedLine {
    let head: [UInt8]
    let tail = Array("}}\n".utf8)
    let digits = 20
    var length: Int { head.count + digits + tail.count }

    init(of origin: SpoolOrigin) {
      var text = JSONWriter(pretty: false)
      text.string(origin.text)
      head =
        Array(#"{"kind":"events.dropped","origin":"#.utf8) + AuditEvent.escapingFormatCharacters(text.bytes)
        + Array(#","fields":{"reason":"full","dropped":"#.utf8)
    }

    func bytes(count: UInt64) -> [UInt8] {
      let number = Array(String(count).utf8)
      return head + number + Array(repeating: UInt8(ascii: " "), count: digits - number.count) + tail
    }

    func count(in line: ArraySlice<UInt8>) -> UInt64? {
      guard line.count == length, line.starts(with: head), line.suffix(tail.count).elementsEqual(tail) else {
        return nil
      }
      let number = line.dropFirst(head.count).prefix { $0 != UInt8(ascii: " ") }
      return UInt64(String(decoding: number, as: UTF8.self))
    }
  }

  /// Whether this process may put files below `path`: for root, only where the nearest directory that exists is root's.
  static func mayWrite(below path: String) -> Bool {
    guard ProcessIdentity.effectiveUserID == 0 else { return true }
    var nearest = path
    while true {
      if let metadata = try? FileMetadata.of(nearest) { return metadata.userID == 0 }
      let parent = FilePath.parent(of: nearest)
      if parent == nearest { return false }
      nearest = parent
    }
  }
}
