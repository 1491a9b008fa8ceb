import Glibc

/// A lock between threads that a forked child can make new.
///
/// A pthread mutex rather than `Mutex`, which can't be made new: in the child of a `fork`, the thread that held it may not
/// exist.
final class EngineLock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
  /// Waits for so many seconds at most.
  func lock(atMost seconds: Double) -> Bool {
    if tryLock() { return true }
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    let end = Double(deadline.tv_nsec) / 1e9 + max(seconds, 0)
    deadline.tv_sec += Int(end)
    deadline.tv_nsec = Int((end - end.rounded(.down)) * 1e9)
    return pthread_mutex_timedlock(mutex, &deadline) == 0
  }
  func unlock() { pthread_mutex_unlock(mutex) }

  func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    lock()
    defer { unlock() }
    return try body()
  }

  /// In a forked child: unlocked, whoever held it.
  func renew() { pthread_mutex_init(mutex, nil) }
}

/// Keeps `fork` away while a thread of ours is at work.
///
/// What a thread has locked inside the runtime (the caches of type metadata, `malloc`) stays locked in the child of a fork,
/// and a child of Swift needs both. Our threads hold the gate while they work, and `fork` waits for it; a moment at most,
/// so that nobody is held up for long and nothing can deadlock.
final class ForkGate: @unchecked Sendable {
  /// Nanoseconds that a fork waits.
  static let patience = 100_000_000

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    renew()
  }

  func withWork<R: ~Copyable>(_ body: () -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  func beforeFork() {
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_nsec += Self.patience
    if deadline.tv_nsec >= 1_000_000_000 {
      deadline.tv_nsec -= 1_000_000_000
      deadline.tv_sec += 1
    }
    pthread_mutex_timedlock(mutex, &deadline)
  }

  /// Does nothing where the wait was in vain: the mutex knows its owner.
  func afterForkInParent() { pthread_mutex_unlock(mutex) }

  func renew() {
    let attributes = UnsafeMutablePointer<pthread_mutexattr_t>.allocate(capacity: 1)
    defer { attributes.deallocate() }
    pthread_mutexattr_init(attributes)
    pthread_mutexattr_settype(attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
    pthread_mutex_init(mutex, attributes)
    pthread_mutexattr_destroy(attributes)
  }
}

/// Threads of ours.
enum BackgroundThread {
  /// Starts a detached thread that takes no signals: those are the application's business.
  /// - Returns: whether it could be started.
  static func start(_ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> Bool {
    let masks = UnsafeMutablePointer<sigset_t>.allocate(capacity: 2)
    defer { masks.deallocate() }
    sigfillset(masks)
    pthread_sigmask(SIG_SETMASK, masks, masks + 1)
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, body, nil)
    pthread_sigmask(SIG_SETMASK, masks + 1, nil)
    if code == 0 { pthread_detach(thread) }
    return code == 0
  }
}
