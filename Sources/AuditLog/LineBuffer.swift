import Digests
import PropertyList
import Synchronization

/// Lines that are being written: bytes in memory of their own, which digests are taken of where they stand.
///
/// A record passes through here on its way to the disk, and what that costs is what the log costs, so the common case,
/// plain ASCII, is copied; everything else goes through `JSONWriter`, which has the rule of what is escaped.
final class LineBuffer {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 4096) {
    self.capacity = capacity
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// Forgets the bytes and keeps the memory.
  func removeAll() { count = 0 }

  /// Forgets the bytes from a place on.
  func removeAll(from start: Int) { count = start }

  /// Valid until the next byte is added.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  func bytes(from start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + start, count: count - start)
  }

  @inline(__always)
  private func room(for more: Int) -> UnsafeMutableRawPointer {
    if count + more > capacity { grow(by: more) }
    return base + count
  }

  private func grow(by more: Int) {
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
  }

  @inline(__always)
  func add(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    room(for: length).copyMemory(from: text.utf8Start, byteCount: length)
    count += length
  }

  @inline(__always)
  func add(_ memory: UnsafeRawBufferPointer) {
    guard let start = memory.baseAddress else { return }
    room(for: memory.count).copyMemory(from: start, byteCount: memory.count)
    count += memory.count
  }

  func add(_ list: [UInt8]) { list.withUnsafeBytes { add($0) } }

  @inline(__always)
  func add(byte: UInt8) {
    room(for: 1).storeBytes(of: byte, as: UInt8.self)
    count += 1
  }

  /// In decimal digits, with zeros before it up to a width.
  func add(decimal number: UInt64, width: Int = 1) {
    let place = room(for: 20)
    if number < 10, width == 1 {
      place.storeBytes(of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number), as: UInt8.self)
      count += 1
      return
    }
    var digits = width
    var bound: UInt64 = 1
    for _ in 0..<width { bound &*= 10 }
    while number >= bound {
      digits += 1
      if digits == 20 { break }
      bound &*= 10
    }
    var rest = number
    var index = digits
    while index > 0 {
      index -= 1
      let next = rest / 10
      place.storeBytes(
        of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest &- next &* 10), toByteOffset: index, as: UInt8.self)
      rest = next
    }
    count += digits
  }

  func add(decimal number: Int64) {
    if number < 0 { add(byte: UInt8(ascii: "-")) }
    add(decimal: number.magnitude)
  }

  /// Two hexadecimal digits for each byte.
  func add(digitsOf memory: UnsafeRawBufferPointer) {
    HexText.encode(memory, into: room(for: 2 * memory.count))
    count += 2 * memory.count
  }

  /// A JSON string.
  func add(quoted text: String) {
    let isPlain: Bool? = text.utf8.withContiguousStorageIfAvailable { memory in
      guard Self.isPlain(UnsafeRawBufferPointer(memory)) else { return false }
      let start = room(for: memory.count + 2)
      start.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
      if let base = memory.baseAddress { (start + 1).copyMemory(from: base, byteCount: memory.count) }
      start.storeBytes(of: UInt8(ascii: "\""), toByteOffset: memory.count + 1, as: UInt8.self)
      count += memory.count + 2
      return true
    }
    if isPlain != true { add(json: .string(text)) }
  }

  /// Whether a JSON string has these bytes as they are: ASCII without controls, quotes and backslashes; eight at a time.
  @inline(__always)
  private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    var index = 0
    while index + 8 <= bytes.count {
      let text = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let plain = text & ~tops
      // A byte's top bit is set: at least a space; not the last of ASCII; not a quote; not a backslash; ASCII at all.
      let isGood =
        (plain &+ ones &* 0x60) & ~(plain &+ ones) & ((plain ^ (ones &* 0x22)) &+ ones &* 0x7F)
        & ((plain ^ (ones &* 0x5C)) &+ ones &* 0x7F) & ~text & tops
      if isGood != tops { return false }
      index += 8
    }
    while index < bytes.count {
      let byte = bytes[index]
      if byte < 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
      index += 1
    }
    return true
  }

  /// A value as JSON.
  func add(json value: PropertyListValue) {
    var json = JSONWriter(pretty: false)
    json.value(value)
    add(json.bytes)
  }
}

extension LineBuffer {
  /// Memory of groups that are written, for the next ones: what is given back to the system has to be asked for, and filled
  /// with zeros, again.
  enum Pool {
    private struct Kept: @unchecked Sendable { var buffers: [LineBuffer] = [] }
    private static let kept = Mutex(Kept())

    static func take() -> LineBuffer { kept.withLock { $0.buffers.popLast() } ?? LineBuffer() }

    static func give(_ buffer: LineBuffer) {
      buffer.removeAll()
      if buffer.capacity > 1 << 20 { return }
      kept.withLock { if $0.buffers.count < 6 { $0.buffers.append(buffer) } }
    }
  }
}
