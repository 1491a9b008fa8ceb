import Digests
import LinuxFiles

/// Writes personal parts as lines, and keeps their digests: of so many records, in their order.
///
/// Parts depend on nothing but their records and numbers, so those of a large group are written on two threads.
final class PersonalLines: @unchecked Sendable {
  let lines = LineBuffer.Pool.take()
  /// 32 bytes for each line.
  private let digests = LineBuffer.Pool.take()
  private let body: RecordBody
  private let hash = SHA256()

  private static let saltBytes = 16
  /// For fewer records a thread costs more than it does.
  private static let worthAThread = 64

  init(textBytes: Int) { body = RecordBody(textBytes: textBytes) }

  deinit {
    LineBuffer.Pool.give(lines)
    LineBuffer.Pool.give(digests)
  }

  /// The parts of all records that have one, in one piece or in two. The second is complete when the thread is done that
  /// comes with it; it is the larger one, since whoever waits has the lines to write.
  ///
  /// - Parameter first: the number of the first record; all are numbered one after the other.
  static func make(
    of records: [AuditRecord], from first: UInt64, textBytes: Int
  ) -> (pieces: [PersonalLines], thread: ThreadBeside?) {
    var places: [Int] = []
    for index in records.indices where records[index].isPersonal { places.append(index) }
    if places.isEmpty { return ([], nil) }
    let piece = PersonalLines(textBytes: textBytes)
    if places.count < worthAThread {
      piece.add(records, at: places[...], from: first)
      return ([piece], nil)
    }
    let (own, others) = (places[..<(places.count * 3 / 10)], places[(places.count * 3 / 10)...])
    let other = PersonalLines(textBytes: textBytes)
    let thread = ThreadBeside { other.add(records, at: others, from: first) }
    piece.add(records, at: own, from: first)
    return ([piece, other], thread)
  }

  /// The salt keeps anybody from finding out by trial what was erased.
  private func add(_ records: [AuditRecord], at places: ArraySlice<Int>, from first: UInt64) {
    let salts = RandomBytes.make(Self.saltBytes * places.count)
    let digest = UnsafeMutableRawBufferPointer.allocate(byteCount: SHA256.byteCount, alignment: 16)
    defer { digest.deallocate() }
    records.withUnsafeBufferPointer { memory in
      salts.withUnsafeBytes { salts in
        for (index, place) in places.enumerated() {
          guard let record = memory.baseAddress.map({ $0 + place }) else { return }
          let start = lines.count
          lines.add("{\"seq\":")
          lines.add(decimal: first + UInt64(place))
          lines.add(",\"salt\":\"")
          let salt = index * Self.saltBytes..<(index + 1) * Self.saltBytes
          lines.add(digitsOf: UnsafeRawBufferPointer(rebasing: salts[salt]))
          lines.add("\"")
          body.addMembers(of: record, to: lines)
          lines.add("}")
          hash.digest(lines.bytes(from: start), into: digest)
          lines.add("\n")
          digests.add(UnsafeRawBufferPointer(digest))
        }
      }
    }
  }

  var count: Int { digests.count / SHA256.byteCount }

  func digest(at index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: digests.bytes[index * SHA256.byteCount..<(index + 1) * SHA256.byteCount])
  }
}
