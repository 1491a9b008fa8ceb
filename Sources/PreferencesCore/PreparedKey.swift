/// A key that is asked for again and again: its bytes and their hash, made once.
///
/// For a caller that knows its keys beforehand, such as a typed property. A read by it does what a read by a `String` does,
/// less taking the string apart and hashing it.
public final class PreparedKey: Sendable {
  public let text: String
  nonisolated(unsafe) let start: UnsafeRawPointer
  let count: Int
  let hash: UInt64
  let isASCII: Bool

  /// - Complexity: O(*n*) in the bytes of the key.
  public init(_ text: String) {
    self.text = text
    let utf8 = Array(text.utf8)
    // One byte more, so that the empty key has an address too.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: utf8.count + 1, alignment: 8)
    memory.copyBytes(from: utf8)
    start = UnsafeRawPointer(memory.baseAddress.unsafelyUnwrapped)
    count = utf8.count
    hash = KeyHash.hash(UnsafeRawBufferPointer(start: start, count: count))
    isASCII = KeySpelling.isASCII(start, count)
  }

  deinit { start.deallocate() }
}

extension SnapshotHeader {
  @inline(__always)
  func find(_ key: PreparedKey) -> TableEntry? {
    if let changes, let entry = SlotTable.find(changes, changesMask, key.hash, key.start, key.count) { return entry }
    if let entry = SlotTable.find(base, baseMask, key.hash, key.start, key.count) { return entry }
    return key.isASCII ? nil : findOtherSpelling(key.start, key.count)
  }
}
