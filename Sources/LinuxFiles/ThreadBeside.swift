import Glibc

/// A piece of work on a thread of its own, for as long as somebody else does another: what can be done, or waited for, side
/// by side.
public final class ThreadBeside: Sendable {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t?

  /// Begins the work. Where no thread can be had, it is done at once: that takes longer, and is all.
  public init(_ work: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let body = Unmanaged.passRetained(Body(work))
    let code = pthread_create(
      &thread, nil,
      { pointer in
        pointer.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
        return nil
      }, body.toOpaque())
    if code == 0 {
      self.thread = thread
    } else {
      self.thread = nil
      body.release()
      work()
    }
  }

  /// Returns when the work is done. To be called once, on every way: a thread that nobody waits for stays.
  public func wait() { if let thread { pthread_join(thread, nil) } }
}
