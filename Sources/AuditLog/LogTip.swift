import Digests
public import PropertyList

/// The end of a chain.
public struct LogTip: Sendable, Hashable {
  /// The number of the last record; 0 before the first.
  public var sequence: UInt64
  /// The digest of its line; zeros before the first.
  public var hash: [UInt8]
  /// When it was written, by the clock of then.
  public var time: PropertyListDate?

  public init(sequence: UInt64, hash: [UInt8], time: PropertyListDate? = nil) {
    self.sequence = sequence
    self.hash = hash
    self.time = time
  }

  /// Whether both are the end of the same chain, whatever is known of the time.
  func isSameRecord(as other: LogTip) -> Bool { sequence == other.sequence && hash == other.hash }

  static let beginning = LogTip(sequence: 0, hash: [UInt8](repeating: 0, count: SHA256.byteCount))
}

extension LogTip {
  /// The end of a chain that ends with this line; nil where it is no line of ours.
  init?(line: UnsafeRawBufferPointer) {
    guard let read = LogLine(line) else { return nil }
    self.init(
      sequence: read.sequence, hash: SHA256.digest(of: Array(line)),
      time: PropertyListDate(rfc3339: String(decoding: line[read.time], as: UTF8.self)))
  }
}
