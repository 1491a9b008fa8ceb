import Glibc
internal import LinuxFiles
import Synchronization

/// A thread that does one thing when it is told to, or when a time has come; in between it waits in the kernel.
final class StoreThread: Sendable {
  private struct State {
    /// By the monotonic clock's seconds; nil: not before it is told.
    var due: Double?
    var hasEnded = false
  }
  private let state = Mutex(State())
  private let wakeup: Wakeup?

  init() { wakeup = try? Wakeup() }

  /// - Parameter work: false ends the thread.
  func start(_ work: @escaping @Sendable () -> Bool) {
    _ = BackgroundThread.start { [self] in self.work(work) }
  }

  /// Makes the calling thread the one that works, until it is ended.
  func work(_ work: () -> Bool) {
    while let turn = wait() { if turn && !work() { return } }
  }

  /// Has the thread work now.
  func tell() { schedule(in: 0) }

  /// Has the thread work in some seconds, if not sooner.
  func schedule(in seconds: Double) {
    let due = WallClock.monotonicSeconds() + seconds
    state.withLock { $0.due = min($0.due ?? due, due) }
    wakeup?.raise()
  }

  func end() {
    state.withLock { $0.hasEnded = true }
    wakeup?.raise()
  }

  /// - Returns: whether it is time to work; nil where the thread has ended.
  private func wait() -> Bool? {
    let (due, hasEnded) = state.withLock { ($0.due, $0.hasEnded) }
    if hasEnded { return nil }
    let left = due.map { max($0 - WallClock.monotonicSeconds(), 0) }
    // Without descriptors, of which a process may have run out, it looks ten times a second.
    var waited = pollfd(fd: wakeup?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
    let timeout = min(left ?? 3600, wakeup == nil ? 0.1 : 3600)
    _ = poll(&waited, 1, Int32((timeout * 1000).rounded(.up)))
    wakeup?.clear()
    return state.withLock { state in
      if state.hasEnded { return nil }
      guard let due = state.due, due <= WallClock.monotonicSeconds() else { return false }
      state.due = nil
      return true
    }
  }
}
