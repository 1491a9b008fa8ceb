import Glibc
import Synchronization

/// The same work on many items, over as many threads as the machine has processors.
enum ParallelWork {
  private static let mostThreads = 8

  /// Calls `body` once for each index; the order is not defined, so results must go into places of their own.
  ///
  /// - Parameter threads: nil for one a processor. The calling thread is one of them.
  static func forEach(count: Int, threads: Int? = nil, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = min(count, threads ?? max(1, min(mostThreads, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    guard threads > 1 else {
      for index in 0..<count { body(index) }
      return
    }
    let queue = Queue(count: count, body: body)
    var others: [pthread_t] = []
    for _ in 1..<threads {
      var thread = pthread_t()
      let argument = Unmanaged.passRetained(queue).toOpaque()
      let result = pthread_create(
        &thread, nil,
        { argument in
          Unmanaged<Queue>.fromOpaque(argument!).takeRetainedValue().run()
          return nil
        }, argument)
      if result == 0 {
        others.append(thread)
      } else {
        // A thread that can't be had is no mistake: the others do its share.
        Unmanaged<Queue>.fromOpaque(argument).release()
      }
    }
    queue.run()
    for thread in others { pthread_join(thread, nil) }
  }

  private final class Queue: Sendable {
    private let next = Atomic<Int>(0)
    private let count: Int
    private let body: @Sendable (Int) -> Void

    init(count: Int, body: @escaping @Sendable (Int) -> Void) {
      self.count = count
      self.body = body
    }

    func run() {
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < count else { return }
        body(index)
      }
    }
  }

  /// Results by index, written by whichever thread has the item.
  final class Slots<Value: Sendable>: @unchecked Sendable {
    private let pointer: UnsafeMutablePointer<Value?>
    private let count: Int

    init(count: Int) {
      self.count = count
      pointer = .allocate(capacity: count)
      pointer.initialize(repeating: nil, count: count)
    }

    deinit {
      pointer.deinitialize(count: count)
      pointer.deallocate()
    }

    /// Each index is written by one thread at a time, and read by another only after all threads have ended.
    subscript(index: Int) -> Value? {
      get { pointer[index] }
      set { pointer[index] = newValue }
    }
  }
}
