import Glibc
import LinuxFiles

/// The lines of a file, one after the other, read in large blocks into one piece of memory: a log of any size is walked with
/// the memory of a block, and a line costs no allocation.
final class LineStream {
  private let file: FileDescriptor
  private let path: String
  private var memory: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  /// The place in the file behind what is in memory.
  private var offset = 0
  /// Bytes that count; what was appended later does not.
  private var size: Int

  private static let block = 256 << 10

  init(_ path: String, in place: AuditLogPlace, size: Int? = nil) throws(AuditLogError) {
    let file = try place.open(path, .readOnly)
    if let size {
      self.size = size
    } else {
      do throws(Errno) { self.size = Int(try file.metadata().size) } catch {
        throw AuditLogError(FileError("inspect", path: path, errno: error))
      }
    }
    self.path = path
    self.file = file
    memory = .allocate(byteCount: min(Self.block, max(1, self.size)), alignment: 64)
  }

  deinit { memory.deallocate() }

  /// Whether the file has nothing behind the line that was given last.
  var isAtEnd: Bool { start == end && offset >= size }

  /// How many bytes follow the last line; known when `next` has given nil.
  var restCount: Int { end - start }

  /// The next line without its end, valid until the next call; nil where none is whole.
  func next() throws(AuditLogError) -> UnsafeRawBufferPointer? {
    var searched = start
    while true {
      if let base = memory.baseAddress, let found = memchr(base + searched, Int32(UInt8(ascii: "\n")), end - searched) {
        let length = base.distance(to: UnsafeMutableRawPointer(found)) - start
        defer { start += length + 1 }
        return UnsafeRawBufferPointer(start: base + start, count: length)
      }
      searched = end - start
      if try !fill() { return nil }
    }
  }

  /// Moves what is left to the front and reads on. Then `start` is 0.
  private func fill() throws(AuditLogError) -> Bool {
    guard offset < size, let base = memory.baseAddress else { return false }
    let left = end - start
    if left == memory.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * memory.count, alignment: 64)
      larger.copyMemory(from: UnsafeRawBufferPointer(start: base + start, count: left))
      memory.deallocate()
      memory = larger
    } else if start > 0 {
      memmove(base, base + start, left)
    }
    start = 0
    end = left
    let room = UnsafeMutableRawBufferPointer(rebasing: memory[left..<min(memory.count, left + size - offset)])
    let got: Int
    do throws(Errno) { got = try file.read(into: room, at: offset) } catch {
      throw AuditLogError(FileError("read", path: path, errno: error))
    }
    // Shorter than it was: what is there is what there is.
    if got == 0 { size = offset }
    offset += got
    end += got
    return got > 0
  }
}
