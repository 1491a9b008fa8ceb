import Glibc
internal import LinuxFiles
import Synchronization

/// Who wants to hear of changes to a file, and the thread that looks, while somebody wants to.
///
/// Who has committed closes the file `….hint` beside the database, of which inotify tells: a write to the database itself
/// is seen before it is committed. In case that its writer was killed in between, one is looked after a second later. Where
/// there is no inotify (a user's instances are limited), or where other machines may write, the thread looks each second.
/// A look is SQLite's counter of others' transactions.
final class SQLiteWatchers: Sendable {
  private let file: SQLiteFile
  private var directory: String { file.directory }
  private var name: String { FilePath.name(of: file.path) }

  private struct State {
    var hints: [Int: @Sendable () -> Void] = [:]
    var next = 0
    var wakeup: Wakeup?
  }
  private let state = Mutex(State())

  init(_ file: SQLiteFile) { self.file = file }

  private final class Watch: ChangeWatch {
    let watchers: SQLiteWatchers
    let number: Int
    init(_ watchers: SQLiteWatchers, _ number: Int) {
      self.watchers = watchers
      self.number = number
    }
    deinit { watchers.remove(number) }
  }

  func add(
    _ hint: @escaping @Sendable () -> Void, isShared: Bool, hasNews: @escaping @Sendable () -> Bool
  ) -> any ChangeWatch {
    let number = state.withLock { state in
      state.next += 1
      state.hints[state.next] = hint
      if state.wakeup == nil, let wakeup = try? Wakeup() {
        let isRunning = BackgroundThread.start { [self] in run(wakeup, isShared: isShared, hasNews: hasNews) }
        if isRunning { state.wakeup = wakeup }
      }
      return state.next
    }
    return Watch(self, number)
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.hints[number] = nil
      guard state.hints.isEmpty else { return }
      state.wakeup?.raise()
      state.wakeup = nil
    }
  }

  /// Tells the watchers of other processes and connections. Where somebody put a pipe under the name, nobody is waited for.
  func tellOthers() {
    _ = try? FileDescriptor.open(
      "\(directory)/\(name).hint", [.writeOnly, .create, .noFollow, .nonBlocking], mode: 0o600)
  }

  /// Tells all of this connection.
  func hint() {
    for hint in state.withLock({ Array($0.hints.values) }) { hint() }
  }

  /// - Parameter wakeup: raised when nobody watches any longer.
  private func run(_ wakeup: Wakeup, isShared: Bool, hasNews: () -> Bool) {
    let inotify = isShared ? nil : Inotify(file)
    var looksAgain = inotify == nil
    // What came between the first look at the file and this moment was told to nobody.
    hint()
    while true {
      var waited = [pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)]
      if let inotify { waited.append(pollfd(fd: inotify.descriptor, events: Int16(POLLIN), revents: 0)) }
      let count = poll(&waited, nfds_t(waited.count), looksAgain ? 1000 : -1)
      if waited[0].revents != 0 { return }
      if count > 0, let inotify {
        guard inotify.concerns(name) else { continue }
        looksAgain = true
      } else {
        looksAgain = inotify == nil
      }
      if hasNews() { hint() }
    }
  }

  /// A watch of the folder that tells of each write.
  private final class Inotify {
    private let watch: FileWatch
    var descriptor: Int32 { watch.descriptor }

    init?(_ file: SQLiteFile) {
      let directory = file.directory
      guard let watch = try? FileWatch(), (try? file.makeDirectory()) != nil,
        (try? watch.add(directory: directory, includingWrites: true)) != nil
      else { return nil }
      self.watch = watch
    }

    func concerns(_ name: String) -> Bool {
      watch.changes().contains { $0.overflowed || $0.name.hasPrefix(name) || $0.name.isEmpty }
    }
  }
}
