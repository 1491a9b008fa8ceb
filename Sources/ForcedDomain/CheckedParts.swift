import Glibc
import LinuxFiles

/// A file whose checksum was taken while it went through a small piece of memory once, and of which only those parts are
/// kept that are asked for: for one question to a large file.
///
/// A part is read a second time, and is held against the state of the checksum before and behind it. So nothing is ever
/// told of bytes that the checksum does not stand for, whatever happens to the file in between.
struct CheckedParts: ~Copyable {
  /// Bytes between two states that are kept; whole blocks of the hash, and hardly more than a page.
  static let partSize = 85 * 48
  private static let partsAtOnce = 16
  /// Where the part of the file starts that the checksum hashes last, in one go.
  private static let bodyStart = Format.checksumRange.upperBound

  /// The checksum of the bytes that were read.
  let checksum: UInt64
  private let descriptor: FileDescriptor
  private let count: Int
  /// Room for the whole file; only what was asked for is there, the rest is zero and takes no memory.
  private let memory: UnsafeMutableRawPointer
  /// The state before each part.
  private let states: UnsafeMutablePointer<ByteHash.Lanes>
  private let isThere: UnsafeMutablePointer<Bool>
  private let partCount: Int

  /// - Parameter count: the file's size.
  /// - Returns: nil for a file that is shorter or too small to be a forced domain, or can't be read.
  init?(_ descriptor: consuming FileDescriptor, count: Int) {
    guard count >= Format.headerSize, let memory = Self.reserve(count) else { return nil }
    let partCount = max(1, (count - Self.bodyStart) / Self.partSize)
    let states = UnsafeMutablePointer<ByteHash.Lanes>.allocate(capacity: partCount)
    let isThere = UnsafeMutablePointer<Bool>.allocate(capacity: partCount)
    isThere.initialize(repeating: false, count: partCount)
    guard let checksum = Self.readThrough(descriptor, count, memory, states, isThere, partCount) else {
      Self.release(memory, count, states, isThere)
      return nil
    }
    self.descriptor = descriptor
    self.count = count
    self.memory = memory
    self.states = states
    self.isThere = isThere
    self.partCount = partCount
    self.checksum = checksum
  }

  deinit { Self.release(memory, count, states, isThere) }

  private static func release(
    _ memory: UnsafeMutableRawPointer, _ count: Int, _ states: UnsafeMutablePointer<ByteHash.Lanes>,
    _ isThere: UnsafeMutablePointer<Bool>
  ) {
    munmap(memory, count)
    states.deallocate()
    isThere.deallocate()
  }

  private static func reserve(_ count: Int) -> UnsafeMutableRawPointer? {
    let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    return memory == MAP_FAILED ? nil : memory
  }

  /// Offsets of a part; the last one takes the rest.
  private static func range(ofPart part: Int, _ partCount: Int, _ count: Int) -> Range<Int> {
    let start = bodyStart + part * partSize
    return start..<(part == partCount - 1 ? count : start + partSize)
  }

  private static func read(
    _ descriptor: borrowing FileDescriptor, _ range: Range<Int>, to memory: UnsafeMutableRawPointer
  )
    -> Bool
  {
    let buffer = UnsafeMutableRawBufferPointer(start: memory, count: range.count)
    return (try? descriptor.read(into: buffer, at: range.lowerBound)) == range.count
  }

  private static func readThrough(
    _ descriptor: borrowing FileDescriptor, _ count: Int, _ memory: UnsafeMutableRawPointer,
    _ states: UnsafeMutablePointer<ByteHash.Lanes>, _ isThere: UnsafeMutablePointer<Bool>, _ partCount: Int
  ) -> UInt64? {
    guard read(descriptor, 0..<bodyStart, to: memory) else { return nil }
    let head = UnsafeRawBufferPointer(start: memory, count: Format.checksumRange.lowerBound)
    var lanes = ByteHash.Lanes(seeded: ByteHash.seeded(ByteHash.hash(head, seed: 0)))
    // A small file is kept whole.
    let keepsAll = partCount <= partsAtOnce
    let scratch = UnsafeMutableRawPointer.allocate(
      byteCount: keepsAll ? 1 : (partsAtOnce + 1) * partSize, alignment: 16)
    defer { scratch.deallocate() }
    var result: UInt64?
    for first in stride(from: 0, to: partCount, by: partsAtOnce) {
      let last = min(first + partsAtOnce, partCount) - 1
      let start = range(ofPart: first, partCount, count).lowerBound
      let end = range(ofPart: last, partCount, count).upperBound
      let target = keepsAll ? memory + start : scratch
      guard read(descriptor, start..<end, to: target) else { return nil }
      for part in first...last {
        states[part] = lanes
        isThere[part] = keepsAll
        let range = range(ofPart: part, partCount, count)
        result = absorb(target + (range.lowerBound - start), range.count, part == partCount - 1, count, &lanes)
      }
    }
    return result
  }

  /// - Returns: behind the last part the checksum, else nil.
  private static func absorb(
    _ bytes: UnsafeRawPointer, _ length: Int, _ isLast: Bool, _ count: Int, _ lanes: inout ByteHash.Lanes
  ) -> UInt64? {
    var at = bytes
    var left = length
    while left > 48 || left == 48 && !isLast {
      lanes.absorb(at)
      at += 48
      left -= 48
    }
    return isLast ? ByteHash.finish(tail: at, left, seed: lanes.seed, count: count - bodyStart) : nil
  }

  /// The whole file as it would lie in memory; only what `require` said yes to is there.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

  /// Has some bytes there.
  ///
  /// - Returns: false where they are outside of the file, or no longer those that the checksum was taken of.
  mutating func require(_ offset: Int, _ length: Int) -> Bool {
    guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return false }
    guard length > 0 else { return true }
    let first = min(max(0, offset - Self.bodyStart) / Self.partSize, partCount - 1)
    let last = min(max(0, offset + length - 1 - Self.bodyStart) / Self.partSize, partCount - 1)
    for part in first...last where !isThere[part] {
      let range = Self.range(ofPart: part, partCount, count)
      guard Self.read(descriptor, range, to: memory + range.lowerBound) else { return false }
      var lanes = states[part]
      let isLast = part == partCount - 1
      let result = Self.absorb(memory + range.lowerBound, range.count, isLast, count, &lanes)
      guard isLast ? result == checksum : lanes == states[part + 1] else { return false }
      isThere[part] = true
    }
    return true
  }
}
