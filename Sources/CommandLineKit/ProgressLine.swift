import Glibc

/// Progress of long work: after a second, on a terminal only, one line that says what, how many of how many and the time
/// that is left. Never a byte in a pipe.
public struct ProgressLine: ~Copyable {
  private let what: String
  private let isShown: Bool
  private let start: Double
  private var lastShown: Double
  private var hasDrawn = false

  /// - Parameter what: what is being done, for example "Running tests".
  public init(_ what: String) {
    self.init(what, isShown: Terminal.isTerminal(.errors), now: Self.now())
  }

  init(_ what: String, isShown: Bool, now: Double) {
    self.what = what
    self.isShown = isShown
    start = now
    lastShown = now
  }

  deinit { if hasDrawn { Terminal.write("\r\u{1b}[K", to: .errors) } }

  /// Tells how far the work is. Cheap enough to be called for each item: it draws at most five times a second.
  public mutating func update(_ done: Int, of total: Int) {
    guard isShown, let line = line(done, of: total, now: Self.now()) else { return }
    hasDrawn = true
    Terminal.write("\r\u{1b}[K" + line, to: .errors)
  }

  /// The line to draw now, nil before the first second and within a fifth of a second of the last one.
  mutating func line(_ done: Int, of total: Int, now: Double) -> String? {
    guard now - start >= 1, now - lastShown >= 0.2 || lastShown == start else { return nil }
    lastShown = now
    let elapsed = now - start
    var text = "\(what): \(done) of \(total)"
    if done > 0, total > done {
      text += ", \(Self.duration(elapsed / Double(done) * Double(total - done))) left"
    }
    return text
  }

  static func duration(_ seconds: Double) -> String {
    let whole = Int(seconds.rounded(.up))
    return whole < 60 ? "\(whole) s" : "\(whole / 60) min \(whole % 60) s"
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
