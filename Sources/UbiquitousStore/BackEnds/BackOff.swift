/// How long to wait before the next try: one second, then twice as long each time up to five minutes, each time between
/// half of it and the whole, at random, so that devices which lost one server do not all come back at once.
public struct BackOff: Sendable {
  private var failures = 0

  public init() {}

  /// Seconds to wait after one more failure.
  public mutating func next(_ random: Double = .random(in: 0..<1)) -> Double {
    let whole = min(Double(1 << min(failures, 9)), 300)
    failures += 1
    return whole * (0.5 + random / 2)
  }

  public mutating func succeeded() { failures = 0 }
}
