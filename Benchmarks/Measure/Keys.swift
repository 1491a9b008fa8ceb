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

/// Runs `body` over keys in turn, `iterations` times.
@inline(__always)
func cycling(_ keys: [String], _ iterations: Int, _ body: (String) -> UInt64) -> UInt64 {
  var sum: UInt64 = 0
  var index = 0
  for _ in 0..<iterations {
    sum &+= body(keys[index])
    index += 1
    if index == keys.count { index = 0 }
  }
  return sum
}
