import Glibc
import LinuxFiles
import Synchronization
import UbiquitousStore

/// Who wants hints, and the thread that waits for them while anybody does.
///
/// The thread sleeps until something comes from the server: while nothing changes it sends nothing. When the connection breaks, it
/// makes another, after waits that grow (`BackOff`), and hints then, since nobody knows what went by.
final class HintThread: Sendable {
  private struct Watcher {
    let application: String
    let hint: @Sendable () -> Void
  }
  private struct State {
    var watchers: [Int: Watcher] = [:]
    var next = 0
    var runs = false
  }
  private let state = Mutex(State())
  private let link: Link

  init(link: Link) { self.link = link }

  func add(_ application: String, _ hint: @escaping @Sendable () -> Void) -> any ChangeWatch {
    let (number, starts) = state.withLock { state in
      state.next += 1
      state.watchers[state.next] = Watcher(application: application, hint: hint)
      defer { state.runs = true }
      return (state.next, !state.runs)
    }
    if starts, !BackgroundThread.start({ self.run() }) { state.withLock { $0.runs = false } }
    link.wakeup.raise()
    return Watch { [self] in
      state.withLock { $0.watchers[number] = nil }
      link.wakeup.raise()
    }
  }

  private final class Watch: ChangeWatch {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  /// Tells everybody who watches one of these applications.
  func hint(_ applications: Set<String>) {
    guard !applications.isEmpty else { return }
    let watchers = state.withLock { $0.watchers.values.filter { applications.contains($0.application) } }
    for watcher in watchers { watcher.hint() }
  }

  private func run() {
    var backOff = BackOff()
    while true {
      let wanted = state.withLock { state in
        state.runs = !state.watchers.isEmpty
        return Set(state.watchers.values.map(\.application))
      }
      if wanted.isEmpty {
        // Who watches again meanwhile has a thread of her own, which listens anew.
        link.close()
        return
      }
      do {
        let (hinted, descriptor) = try link.listen(to: wanted)
        backOff.succeeded()
        hint(hinted)
        wait(for: descriptor, seconds: nil)
      } catch {
        wait(for: -1, seconds: backOff.next())
      }
      link.wakeup.clear()
    }
  }

  /// Returns when the descriptor is readable, when the link's wakeup is raised, or after this time.
  private func wait(for descriptor: Int32, seconds: Double?) {
    var watched = [
      pollfd(fd: link.wakeup.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = poll(&watched, 2, seconds.map { Int32(($0 * 1000).rounded(.up)) } ?? -1)
  }
}
