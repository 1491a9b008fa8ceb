import Glibc
internal import LinuxFiles
import Synchronization

/// Runs a relay when there is something to bring over: at the start, at a hint from either side, and after a failure with
/// growing pauses. Idle, it makes no call.
///
/// One process of a machine relays; the others wait for the lock, which falls to one of them when the first ends.
final class RelayThread: Sendable {
  private struct State {
    var relay: Relay
    var backOff = BackOff()
    var nearWatch: (any ChangeWatch)?
    var farWatch: (any ChangeWatch)?
    var hasFarHint = true
    var lastTrouble: String?
    var hasEnded = false
    /// Whether it is this process that relays.
    var isAtWork = false
    /// Whether it is exchanging just now.
    var isExchanging = false
  }
  private let state: Mutex<State>
  private let lockPath: String?
  private let near: any NearBackEnd
  private let far: any StoreBackEnd
  private let application: String
  private let report: @Sendable (String) -> Void
  private let thread = StoreThread()

  init(
    application: String, near: any NearBackEnd, far: any StoreBackEnd, lockPath: String?,
    report: @escaping @Sendable (String) -> Void
  ) {
    state = Mutex(State(relay: Relay(application: application, near: near, far: far)))
    self.application = application
    self.near = near
    self.far = far
    self.lockPath = lockPath
    self.report = report
  }

  func start() {
    _ = BackgroundThread.start { [self] in
      guard let lockPath else { return run() }
      // flock waits in the kernel for as long as another process relays.
      do throws(FileError) {
        let lock = try FileLock.exclusive(lockPath)
        run()
        _ = consume lock
      } catch {
        report("\(error); relaying without the lock, which costs only repeated work")
        run()
      }
    }
  }

  func end() {
    state.withLock { state in
      state.hasEnded = true
      (state.nearWatch, state.farWatch) = (nil, nil)
    }
    thread.end()
  }

  /// Ends, and waits until an exchange that is under way has come to its end: it would open the near back end again that its
  /// owner closes now. One with a far back end that does not answer in time is not waited for.
  /// - Parameter deadline: in seconds of the monotonic clock.
  func end(waitingUntil deadline: Double) {
    end()
    while state.withLock({ $0.isExchanging }), WallClock.monotonicSeconds() < deadline { usleep(5000) }
  }

  /// Ends the relay of a process that ends, when what was saved on this machine is far away too: who walks to the next machine is
  /// to find it there. Not waited for where another process relays, nor where the far back end could not be reached when it was
  /// tried last.
  func finish(within seconds: Double) {
    let start = WallClock.monotonicSeconds()
    thread.tell()
    waitUntilSent(from: start, within: seconds)
    end(waitingUntil: start + seconds)
  }

  private func waitUntilSent(from start: Double, within seconds: Double) {
    while WallClock.monotonicSeconds() < start + seconds {
      // A thread that has just been started needs a moment to find out that no other process relays.
      let isStarting = WallClock.monotonicSeconds() < start + seconds / 2
      let isWorthIt = state.withLock { ($0.isAtWork || isStarting) && !$0.hasEnded && $0.lastTrouble == nil }
      guard isWorthIt, hasUnsent else { return }
      usleep(5000)
    }
  }

  private var hasUnsent: Bool {
    while let account = try? near.account() {
      guard let offered = try? near.offer(of: StoreID(account: account, application: application)) else { return false }
      if !offered.isEmpty { return true }
      // What was set before the first meeting goes over to the account just then.
      if (try? near.account()) == account { return false }
    }
    return false
  }

  private func run() {
    if state.withLock({ $0.hasEnded }) { return }
    let thread = thread
    let watch = near.watch(StoreID(account: "", application: application)) { thread.tell() }
    state.withLock { state in
      if !state.hasEnded { state.nearWatch = watch }
      state.isAtWork = true
    }
    thread.tell()
    thread.work { [self] in turn() }
  }

  /// - Returns: false where the thread has ended.
  private func turn() -> Bool {
    let (hasEnded, pulls) = state.withLock { state in
      defer { (state.hasFarHint, state.isExchanging) = (false, !state.hasEnded) }
      return (state.hasEnded, state.hasFarHint)
    }
    if hasEnded { return false }
    defer { state.withLock { $0.isExchanging = false } }
    do throws(BackEndError) {
      try watchFar()
      // Nobody else calls the relay: a copy will do while no lock is held.
      var relay = state.withLock { $0.relay }
      _ = try relay.exchange(pulling: pulls)
      let done = relay
      state.withLock { state in
        state.relay = done
        state.backOff.succeeded()
        state.lastTrouble = nil
      }
    } catch {
      let trouble = state.withLock { state -> String? in
        // What failed may have hidden a change.
        state.hasFarHint = true
        thread.schedule(in: error.isTransient ? state.backOff.next() : 300)
        defer { state.lastTrouble = error.description }
        return state.lastTrouble == error.description ? nil : error.description
      }
      if let trouble { report(trouble) }
    }
    return true
  }

  private func watchFar() throws(BackEndError) {
    if state.withLock({ $0.farWatch != nil }) { return }
    let account = try far.account()
    let watch = far.watch(StoreID(account: account, application: application)) { [weak self] in self?.hintFromFar() }
    state.withLock { if !$0.hasEnded { $0.farWatch = watch } }
  }

  private func hintFromFar() {
    state.withLock { $0.hasFarHint = true }
    thread.tell()
  }
}
