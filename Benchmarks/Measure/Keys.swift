/// The keys and values that `Benchmarks/generate` writes.
enum Keys {
  static let domain = "org.benchmark.policy"

  static func key(_ index: Int, _ stem: String = "Key") -> String {
    let digits = String(index)
    return "SafeBrowsingPolicy.\(stem)" + String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }

  /// Indexes of one kind (0 booleans, 1 integers, 2 strings, nil all) in an order that is shuffled and always the same.
  static func shuffled(_ count: Int, kind: Int?) -> [Int] {
    var order = (0..<count).filter { kind == nil || $0 % 3 == kind }
    var state: UInt64 = 88_172_645_463_325_252
    for i in stride(from: order.count - 1, to: 0, by: -1) {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      order.swapAt(i, Int(state % UInt64(i + 1)))
    }
    return order
  }
}

/// The keys of a workload, a copy for each thread: two threads ask for the same keys, but do not count references to the
/// same string objects, as programs that name their keys by literals do not.
struct KeySet: Sendable {
  private let copies: [[String]]

  init(_ keys: [String]) {
    copies = (0..<2).map { _ in keys.map { String(decoding: Array($0.utf8), as: UTF8.self) } }
  }

  var first: String { copies[0][0] }

  /// Runs `body` over the keys in turn, `iterations` times.
  @inline(__always)
  func cycle(_ iterations: Int, _ thread: Int, _ body: (String) -> UInt64) -> UInt64 {
    let keys = copies[thread]
    var sum: UInt64 = 0
    var index = 0
    for _ in 0..<iterations {
      sum &+= body(keys[index])
      index += 1
      if index == keys.count { index = 0 }
    }
    return sum
  }
}

/// What a call costs that is given a key and does nothing with it: the loop, and the counting of references to a key that
/// is no literal. It is taken off where a read is put beside the C table, whose loop has no such thing.
@inline(never)
func ignore(_ key: String) -> UInt64 {
  // A side effect, so that the caller keeps the key alive as it does around a read.
  Timing.sink &+= 1
  return 1
}
