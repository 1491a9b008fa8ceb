import Glibc
import PropertyList

/// A sink that gets its events in batches from the process's thread for them.
protocol QueuedSink: AnyObject, Sendable {
  /// How many events may wait for it in memory.
  var queueLimit: Int { get }
  /// Brings events to where they are kept. Called by one thread at a time.
  /// - Parameter patience: seconds to wait for others.
  func write(_ events: [AuditEvent], patience: Double)
}

/// The process's queues of events on their way to spools and agents, and the thread that empties them.
///
/// One for all sinks, since it has to be known to `fork` and `exit`. A pthread mutex rather than `Mutex`: the child of a
/// fork unlocks what its parent's thread locked.
final class SpoolQueue: @unchecked Sendable {
  static let shared = SpoolQueue()

  private struct Waiting {
    let sink: any QueuedSink
    var events: [AuditEvent] = []
    /// Events that found the queue full, to be told in the trail.
    var overflowed = 0
  }

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// Held while a batch is written, so that a drain waits for the batch that another thread is writing.
  private let writing = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var waiting: [ObjectIdentifier: Waiting] = [:]
  private var hasThread = false

  private init() {
    initializeLocks()
    pthread_atfork(
      { SpoolQueue.shared.beforeFork() }, { SpoolQueue.shared.afterForkInParent() },
      { SpoolQueue.shared.afterForkInChild() })
    atexit { SpoolQueue.shared.drain(patience: 0.5) }
  }

  private func initializeLocks() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
    // Unlocking it without holding it must do nothing (see `beforeFork`).
    let attributes = UnsafeMutablePointer<pthread_mutexattr_t>.allocate(capacity: 1)
    defer { attributes.deallocate() }
    pthread_mutexattr_init(attributes)
    pthread_mutexattr_settype(attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
    pthread_mutex_init(writing, attributes)
    pthread_mutexattr_destroy(attributes)
  }

  /// - Returns: false when the sink's queue is full.
  func enqueue(_ event: AuditEvent, for sink: any QueuedSink) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var queue = waiting.removeValue(forKey: ObjectIdentifier(sink)) ?? Waiting(sink: sink)
    let hasRoom = queue.events.count < sink.queueLimit
    if hasRoom { queue.events.append(event) } else { queue.overflowed += 1 }
    waiting[ObjectIdentifier(sink)] = queue
    startThread()
    pthread_cond_signal(condition)
    return hasRoom
  }

  /// Writes everything that is queued on the calling thread.
  func drain(patience: Double = 2) {
    pthread_mutex_lock(writing)
    defer { pthread_mutex_unlock(writing) }
    pthread_mutex_lock(mutex)
    let taken = waiting
    waiting = [:]
    pthread_mutex_unlock(mutex)
    for queue in taken.values {
      var events = queue.events
      if queue.overflowed > 0 {
        let fields: [String: PropertyListValue] = [
          "dropped": .integer(PropertyListInteger(queue.overflowed)), "reason": .string("queue"),
        ]
        events.append(AuditEvent(.eventsDropped, fields: fields))
      }
      queue.sink.write(events, patience: patience)
    }
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
      while waiting.isEmpty { pthread_cond_wait(condition, mutex) }
      pthread_mutex_unlock(mutex)
      drain()
    }
  }

  /// Waits, for a moment, until our thread is not at work: what it has locked in the runtime (the caches of type metadata,
  /// `malloc`) would stay locked in the child.
  private func beforeFork() {
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_nsec += 50_000_000
    if deadline.tv_nsec >= 1_000_000_000 {
      deadline.tv_nsec -= 1_000_000_000
      deadline.tv_sec += 1
    }
    pthread_mutex_timedlock(writing, &deadline)
    pthread_mutex_lock(mutex)
  }

  private func afterForkInParent() {
    pthread_mutex_unlock(mutex)
    pthread_mutex_unlock(writing)
  }

  /// The parent writes what was queued; the thread stayed behind.
  private func afterForkInChild() {
    initializeLocks()
    waiting = [:]
    hasThread = false
  }
}
