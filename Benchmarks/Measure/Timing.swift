import Glibc

/// Timing in the manner of `Benchmarks/Peers/timing.h`: medians of repetitions, one line of tab-separated output each.
enum Timing {
  /// Each workload is timed in so many short bursts, in turn with the others of its program.
  static let bursts = 9
  private static let burstNanoseconds = 4e6

  /// Runs an operation so many times, as thread 0 or 1; what it gives back only keeps the work from being optimised away.
  typealias Workload = @Sendable (_ iterations: Int, _ thread: Int) -> UInt64

  nonisolated(unsafe) static var sink: UInt64 = 0

  static func nanoseconds() -> Double { read(CLOCK_MONOTONIC) }

  /// What this process has had of the processors, its kernel's work for it included.
  static func processorNanoseconds() -> Double { read(CLOCK_PROCESS_CPUTIME_ID) }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  static func report(_ name: String, _ values: [Double], _ unit: String) {
    let sorted = values.sorted()
    func text(_ value: Double) -> String {
      let hundredths = Int((value * 100).rounded())
      let fraction = hundredths % 100
      return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
    print("\(name)\t\(text(sorted[sorted.count / 2]))\t\(unit)\t\(text(sorted[0]))\t\(text(sorted[sorted.count - 1]))")
    fflush(nil)
  }

  /// Nanoseconds of one operation of each workload, on one thread and on each of two at once. The workloads take turns,
  /// burst by burst, so that what disturbs the machine for a while disturbs them alike.
  static func measure(_ workloads: [(name: String, work: Workload)]) {
    let iterations = workloads.map { calibrated($0.work) }
    var alone = workloads.map { _ in [Double]() }
    var paired = alone
    for _ in 0..<bursts {
      for (index, workload) in workloads.enumerated() {
        // What the others put into the caches is not this one's cost.
        sink &+= workload.work(iterations[index] / 4 + 1, 0)
        let start = nanoseconds()
        sink &+= workload.work(iterations[index], 0)
        alone[index].append((nanoseconds() - start) / Double(iterations[index]))
      }
    }
    for _ in 0..<(4 * bursts) {
      for (index, workload) in workloads.enumerated() where paired[index].count < bursts {
        if let value = pair(workload.work, iterations[index]) { paired[index].append(value) }
      }
    }
    for (index, workload) in workloads.enumerated() {
      report("\(workload.name) 1 thread", alone[index], "ns")
      if paired[index].count >= 3 { report("\(workload.name) 2 threads", paired[index], "ns") }
    }
  }

  /// How many operations make a burst.
  private static func calibrated(_ work: Workload) -> Int {
    var iterations = 64
    while true {
      iterations *= 2
      let start = nanoseconds()
      sink &+= work(iterations, 0)
      let length = nanoseconds() - start
      if length >= burstNanoseconds / 8 { return Int(Double(iterations) * (burstNanoseconds / length)) + 1 }
    }
  }

  /// One burst on two threads; nil when one lost its core or the two hardly overlapped.
  private static func pair(_ work: @escaping Workload, _ iterations: Int) -> Double? {
    let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)
    pthread_barrier_init(barrier, nil, 2)
    defer {
      pthread_barrier_destroy(barrier)
      barrier.deallocate()
    }
    let threads = (0..<2).map { TimedThread(work, $0, iterations, barrier) }
    let handles = threads.map { thread in
      var handle = pthread_t()
      pthread_create(
        &handle, nil,
        { argument in
          Unmanaged<TimedThread>.fromOpaque(argument!).takeRetainedValue().run()
          return nil
        }, Unmanaged.passRetained(thread).toOpaque())
      return handle
    }
    for handle in handles { pthread_join(handle, nil) }
    let longest = threads.map { $0.end - $0.start }.max()!
    let overlap = threads.map(\.end).min()! - threads.map(\.start).max()!
    if threads.contains(where: { $0.preemptions != 0 }) || overlap < 0.85 * longest { return nil }
    return longest / Double(iterations)
  }
}

private final class TimedThread: @unchecked Sendable {
  let work: Timing.Workload
  let number: Int
  let iterations: Int
  let barrier: UnsafeMutablePointer<pthread_barrier_t>
  var start = 0.0
  var end = 0.0
  var preemptions = 0

  init(
    _ work: @escaping Timing.Workload, _ number: Int, _ iterations: Int,
    _ barrier: UnsafeMutablePointer<pthread_barrier_t>
  ) {
    self.work = work
    self.number = number
    self.iterations = iterations
    self.barrier = barrier
  }

  func run() {
    _ = work(iterations / 8 + 1, number)
    pthread_barrier_wait(barrier)
    var before = rusage()
    var after = rusage()
    getrusage(__rusage_who_t(1), &before)
    start = Timing.nanoseconds()
    let result = work(iterations, number)
    end = Timing.nanoseconds()
    getrusage(__rusage_who_t(1), &after)
    preemptions = Int(after.ru_nivcsw - before.ru_nivcsw)
    if result == .max { preemptions += 1 }
  }
}
