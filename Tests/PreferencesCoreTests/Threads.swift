import Glibc
import Synchronization

/// Runs `body` on threads of their own, with their numbers, while `main` runs on this one; waits for all. Tasks would share
/// the few threads of the runtime's pool, which must not be held up.
func withThreads(_ count: Int, _ body: @Sendable (Int) -> Void, during main: () -> Void = {}) {
  withoutActuallyEscaping(body) { body in
    let work = Work(body)
    let threads = (0..<count).map { _ in
      var thread = pthread_t()
      pthread_create(
        &thread, nil,
        {
          Unmanaged<Work>.fromOpaque($0!).takeUnretainedValue().begin()
          return nil
        }, Unmanaged.passUnretained(work).toOpaque())
      return thread
    }
    main()
    for thread in threads { pthread_join(thread, nil) }
    extendLifetime(work)
  }
}

private final class Work: Sendable {
  private let next = Atomic(0)
  private let body: @Sendable (Int) -> Void
  init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }

  func begin() { body(next.add(1, ordering: .relaxed).oldValue) }
}
