import Glibc
import PropertyList

/// The process's queue of events on their way to a spool, and the thread that empties it.
///
/// One for all spools, since it has to be known to `fork` and `exit`. A pthread mutex rather than `Mutex`: the child of a
/// fork unlocks what its parent's thread locked.
final class SpoolQueue: @unchecked Sendable {
  static let shared = SpoolQueue()

  private typealias Entry = (event: AuditEvent, spool: AuditSpool)

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// Held while a batch is written, so that a drain waits for the batch that another thread is writing.
  private let writing = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var entries: [Entry] = []
  /// Events that found the queue full, to be told in the trail.
  private var overflowed: [ObjectIdentifier: (spool: AuditSpool, count: Int)] = [:]
  private var hasThread = false

  private init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
    pthread_mutex_init(writing, nil)
    pthread_atfork(
      { pthread_mutex_lock(SpoolQueue.shared.mutex) }, { pthread_mutex_unlock(SpoolQueue.shared.mutex) },
      { SpoolQueue.shared.afterForkInChild() })
    atexit { SpoolQueue.shared.drain(lockTimeout: 0.5) }
  }

  /// - Returns: false when the queue is full.
  func enqueue(_ event: AuditEvent, for spool: AuditSpool) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard entries.count < spool.limits.queue else {
      overflowed[ObjectIdentifier(spool), default: (spool, 0)].count += 1
      return false
    }
    entries.append((event, spool))
    startThread()
    pthread_cond_signal(condition)
    return true
  }

  /// Writes everything that is queued on the calling thread.
  func drain(lockTimeout: Double = 2) {
    pthread_mutex_lock(writing)
    defer { pthread_mutex_unlock(writing) }
    write(take(), lockTimeout: lockTimeout)
  }

  private func take() -> [Entry] {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var taken = entries
    entries = []
    for (spool, count) in overflowed.values {
      let fields: [String: PropertyListValue] = [
        "dropped": .integer(PropertyListInteger(count)), "reason": .string("queue"),
      ]
      taken.append((AuditEvent(.eventsDropped, fields: fields), spool))
    }
    overflowed = [:]
    return taken
  }

  private func write(_ batch: [Entry], lockTimeout: Double) {
    var spools: [ObjectIdentifier: (spool: AuditSpool, events: [AuditEvent])] = [:]
    for entry in batch {
      spools[ObjectIdentifier(entry.spool), default: (entry.spool, [])].events.append(entry.event)
    }
    for (spool, events) in spools.values { spool.append(events, lockTimeout: lockTimeout) }
  }

  /// Called with the mutex held. Without a thread the events wait for the next one, or for exit.
  private func startThread() {
    guard !hasThread else { return }
    var thread = pthread_t()
    // Signals are the application's business: the thread takes none.
    let masks = UnsafeMutablePointer<sigset_t>.allocate(capacity: 2)
    defer { masks.deallocate() }
    sigfillset(masks)
    pthread_sigmask(SIG_SETMASK, masks, masks + 1)
    hasThread =
      pthread_create(
        &thread, nil,
        { _ in
          SpoolQueue.shared.run()
          return nil
        }, nil) == 0
    pthread_sigmask(SIG_SETMASK, masks + 1, nil)
    if hasThread { pthread_detach(thread) }
  }

  private func run() {
    while true {
      pthread_mutex_lock(mutex)
      while entries.isEmpty { pthread_cond_wait(condition, mutex) }
      pthread_mutex_unlock(mutex)
      drain()
    }
  }

  /// The parent writes what was queued; the thread stayed behind.
  private func afterForkInChild() {
    pthread_mutex_init(mutex, nil)
    pthread_mutex_init(writing, nil)
    pthread_cond_init(condition, nil)
    entries = []
    overflowed = [:]
    hasThread = false
  }
}
