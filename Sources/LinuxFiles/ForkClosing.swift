import Glibc
import Synchronization

/// Descriptors that a forked child lets go at once.
///
/// Close-on-exec is not enough for a lock: a child that was forked and runs on holds the same open file, and with it the lock, when its
/// parent has long been killed. The number stays taken, by /dev/null: whoever has it in the child closes it some day.
enum ForkClosing {
  /// As many as a process is likely to hold; one more is held without this.
  private static let capacity = 64
  private nonisolated(unsafe) static let slots: UnsafeMutablePointer<Atomic<Int32>> = {
    let slots = UnsafeMutablePointer<Atomic<Int32>>.allocate(capacity: capacity)
    for index in 0..<capacity { (slots + index).initialize(to: Atomic(-1)) }
    pthread_atfork(nil, nil) { ForkClosing.closeAll() }
    return slots
  }()

  /// From now on, until it is taken out.
  static func add(_ descriptor: Int32) {
    for index in 0..<capacity
    where slots[index].compareExchange(expected: -1, desired: descriptor, ordering: .relaxed).exchanged { return }
  }

  /// Before it is closed.
  static func remove(_ descriptor: Int32) {
    for index in 0..<capacity
    where slots[index].compareExchange(expected: descriptor, desired: -1, ordering: .relaxed).exchanged { return }
  }

  /// Makes no allocation and takes no lock: in a child of a process with threads either could stand still.
  private static func closeAll() {
    var null: Int32 = -1
    for index in 0..<capacity {
      let descriptor = slots[index].exchange(-1, ordering: .relaxed)
      if descriptor < 0 { continue }
      if null < 0 { null = open("/dev/null", O_RDONLY | O_CLOEXEC) }
      if null >= 0, dup2(null, descriptor) >= 0 {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      } else {
        close(descriptor)
      }
    }
    if null >= 0 { close(null) }
  }
}
