import AuditEvents
import Glibc
import LinuxFiles

/// Brings changes of preference files to the disk, on a thread that the first change starts.
///
/// The first change after a pause is written at once, so that other processes see it within milliseconds; `patience` lets
/// those that come with it go along. Later ones wait until `delay` has passed since that write, and are written together:
/// they reach the disk within a second, or when the program ends normally. A file that another process has locked does not
/// hold up the others. What can't be written stays in memory and is tried again, less and less often.
final class DomainWriter: @unchecked Sendable {
  /// Seconds between two writes of a file, at least: what `SIGKILL` may lose, together with the time that a write takes.
  static let delay = 0.25
  /// Seconds between a change after a pause and its writing.
  static let patience = 0.005
  /// Seconds that an assignment waits: for threads of ours that write the file, and for another process's lock.
  static let promptPatience = (ownThreads: 1.0, otherProcesses: 0.1)
  /// Seconds that a normal exit waits for another process's lock.
  static let patienceAtExit = 3.0

  private struct Due {
    var file: DomainFile
    /// Of the monotonic clock.
    var time: Double
    var failures = 0
  }
  let gate = ForkGate()
  // Guarded by the engine's lock.
  private var due: [String: Due] = [:]
  private var hasThread = false
  private let wake = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(wake, 0, 0) }

  /// Says that a file has changes. Under the engine's lock.
  func schedule(_ file: DomainFile) {
    if due[file.path] != nil { return }
    let time = max(WallClock.monotonicSeconds() + Self.patience, file.lastWriting + Self.delay)
    due[file.path] = Due(file: file, time: time)
    if !hasThread {
      hasThread = BackgroundThread.start { _ in
        Engine.shared.writer.run()
        return nil
      }
    }
    sem_post(wake)
  }

  private func run() {
    let engine = Engine.shared
    while true {
      let now = WallClock.monotonicSeconds()
      let (ready, next) = gate.withWork {
        engine.lock.withLock {
          (due.values.filter { $0.time <= now }.map(\.file), due.values.map(\.time).filter { $0 > now }.min())
        }
      }
      for file in ready {
        let (_, notices) = gate.withWork { write(file, lockTimeout: 0.02) }
        for notice in notices { notice.deliver() }
      }
      if ready.isEmpty { wait(until: next) }
    }
  }

  private func wait(until time: Double?) {
    guard let time else {
      sem_wait(wake)
      return
    }
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    let left = max(time - WallClock.monotonicSeconds(), 0.001) + Double(deadline.tv_nsec) / 1e9
    deadline.tv_sec += Int(left)
    deadline.tv_nsec = Int((left - left.rounded(.down)) * 1e9)
    sem_timedwait(wake, &deadline)
  }

  /// Writes what is pending in a file, on the calling thread. Without the engine's lock.
  /// - Returns: whether everything that was pending is on the disk.
  @discardableResult
  func flush(_ file: DomainFile, lockTimeout: Double) -> Bool {
    let (isWritten, notices) = write(file, lockTimeout: lockTimeout)
    for notice in notices { notice.deliver() }
    return isWritten
  }

  /// The same for who must not be held up: once a writing has met a lock, the next ones do not wait at all, until one gets
  /// through. What is not written is left to the thread.
  func flushPromptly(_ file: DomainFile) -> Bool {
    let engine = Engine.shared
    let isBusy = engine.lock.withLock { file.isBusy }
    guard file.disk.lock(atMost: isBusy ? 0 : Self.promptPatience.ownThreads) else {
      engine.lock.withLock { file.isBusy = true }
      return false
    }
    let (isWritten, notices) = writeLocked(file, lockTimeout: isBusy ? 0 : Self.promptPatience.otherProcesses)
    for notice in notices { notice.deliver() }
    return isWritten
  }

  private func write(_ file: DomainFile, lockTimeout: Double) -> (isWritten: Bool, notices: [Notice]) {
    file.disk.lock()
    return writeLocked(file, lockTimeout: lockTimeout)
  }

  /// With the file's `disk` locked, which is unlocked here.
  private func writeLocked(_ file: DomainFile, lockTimeout: Double) -> (isWritten: Bool, notices: [Notice]) {
    let engine = Engine.shared
    engine.lock.lock()
    let changes = file.contents.pending
    let (marks, roamed) = (file.unsent, file.newlyRoamed)
    if changes.isEmpty && marks.isEmpty {
      due[file.path] = nil
      engine.lock.unlock()
      file.disk.unlock()
      return (true, [])
    }
    file.lastWriting = WallClock.monotonicSeconds()
    file.contents.inFlight = changes
    file.contents.pending = DomainChanges()
    var known = file.known
    engine.lock.unlock()
    // There the look at a file is no proof, though the lock was just taken.
    if engine.isShared(file) { known.version = nil }

    var outcome: Result<LockedPreferenceFile.Writing, PreferencesFault>
    do throws(PreferencesFault) {
      outcome = .success(
        try file.write(changes, known: known, marking: marks, roamed: roamed, lockTimeout: lockTimeout))
    } catch {
      outcome = .failure(error)
    }
    // What others changed. Found without the lock: setters must not wait while a large domain is compared.
    var keys: [String] = []
    if case .success(let writing) = outcome {
      keys = DomainContents.changedKeys(from: changes.applied(to: known.values), to: writing.values)
    }

    engine.lock.lock()
    file.contents.inFlight = DomainChanges()
    var events: [AuditEvent] = []
    switch outcome {
    case .success(let writing):
      file.contents.stored = writing.values
      file.version = writing.version
      file.isLoaded = true
      file.newlyRoamed.subtract(roamed)
      file.roamed.formUnion(roamed)
      for (key, time) in marks {
        file.marked[key] = time
        if file.unsent[key] == time { file.unsent[key] = nil }
      }
      file.isBusy = false
      events = engine.note(writing.remarks, clearing: [.unreadable, .untrusted, .damaged, .unwritable], in: file)
      reschedule(file)
    case .failure(let error):
      file.contents.pending = changes.followed(by: file.contents.pending)
      let isBusy = error.kind == .busy
      file.isBusy = isBusy
      if !isBusy || lockTimeout >= 1 {
        let fault = PreferencesFault(.unwritable, path: file.path, message: error.message, errno: error.errno)
        events = engine.note([fault], clearing: [], in: file)
      }
      retry(file, isBusy: isBusy)
    }
    let sink = file.sink
    var (notices, refill) = engine.publishChanges(of: file, keys: keys, source: .otherProcess, receiver: nil)
    let compact = file.users.values.filter(\.wantsFilling)
    engine.lock.unlock()
    file.disk.unlock()
    for event in events { sink.send(event) }
    notices += engine.fill(refill, .otherProcess, domain: file.name)
    notices += engine.fill(
      compact.filter { list in !refill.contains { $0 === list } }, .otherProcess, domain: file.name)
    if case .success = outcome { return (true, notices) }
    return (false, notices)
  }

  /// After a success: what was set meanwhile is due again.
  private func reschedule(_ file: DomainFile) {
    due[file.path] = nil
    if !file.contents.pending.isEmpty || !file.unsent.isEmpty { schedule(file) }
  }

  private func retry(_ file: DomainFile, isBusy: Bool) {
    var entry = due[file.path] ?? Due(file: file, time: 0)
    if !isBusy { entry.failures += 1 }
    let pause = isBusy ? 0.05 : min(Double(1 << min(entry.failures, 6)), 60)
    entry.time = WallClock.monotonicSeconds() + pause
    due[file.path] = entry
  }

  func flushAtExit() {
    Engine.shared.saveRoaming(lockTimeout: Self.patienceAtExit)
    let files = Engine.shared.lock.withLock { due.values.map(\.file) }
    for file in files { flush(file, lockTimeout: Self.patienceAtExit) }
    // The sinks' own handler may have run already: it was registered later, and handlers run backwards.
    for file in files { file.sink.flush() }
  }

  func renewAfterFork() {
    gate.renew()
    due = [:]
    hasThread = false
    sem_init(wake, 0, 0)
  }
}
