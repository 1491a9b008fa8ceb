import AuditEvents
import AuditLog
import Glibc
import LinuxFiles
import PropertyList
import Synchronization

/// A process that writes an audit log, for tests with many writers and with crashes.
///
/// ```
/// AuditPeer LOG ANCHOR append GROUPS RECORDS [SEGMENT-BYTES]   appends; prints the last number of each group at once
/// AuditPeer LOG ANCHOR threads THREADS GROUPS RECORDS   the same on each of so many threads at once
/// AuditPeer LOG ANCHOR rotate TIMES | prune KEPT TIMES | erase USER | set-aside
/// AuditPeer LOG ANCHOR crash N VERB …   ends itself at the N-th change on the disk (exit 9); a write is half done then
/// ```
@main enum AuditPeer {
  static func main() {
    var words = Array(CommandLine.arguments.dropFirst())
    let directory = words.removeFirst()
    let anchor = words.removeFirst()
    var operations = LogOperations.system
    if words[0] == "crash" {
      operations = crashing(at: Int(words[1])!)
      words.removeFirst(2)
    }
    var limits = AuditLogLimits()
    if words[0] == "append", words.count > 3 { limits.segmentBytes = Int(words[3])! }
    let user = geteuid()
    let place = AuditLogPlace(directory: directory, anchor: anchor, host: "lab-a-03", limits: limits) {
      $0 == 0 || $0 == user
    }
    let log = AuditLog(place, operations: operations)
    do throws(AuditLogError) {
      switch words[0] {
      case "append":
        for group in 0..<Int(words[1])! {
          let records = (0..<Int(words[2])!).map { record(group, $0) }
          print(try log.append(records, patience: 120).sequence)
          // Whoever ends this process wants to know what it was told.
          fflush(nil)
        }
      case "threads": appendOnThreads(log, Int(words[1])!, Int(words[2])!, Int(words[3])!)
      case "rotate": for _ in 0..<Int(words[1])! { try log.rotate(patience: 120) }
      case "prune": for _ in 0..<Int(words[2])! { _ = try log.prune(keeping: Int(words[1])!, patience: 120) }
      case "erase": print(try log.erase(reason: "a test", patience: 120) { $0 == UInt32(words[1])! })
      case "set-aside": print(try log.setAside(finding: "a finding", reason: "a test", patience: 120).through)
      default: exit(64)
      }
    } catch {
      StandardStreams.writeError("\(error)\n")
      exit(74)
    }
  }

  static func record(_ group: Int, _ index: Int) -> AuditRecord {
    AuditRecord(
      .forcedWrite,
      fields: [
        "domain": .string("org.example.Editor"), "key": .string("Key \(group).\(index)"), "operation": .string("set"),
      ],
      time: PropertyListDate(unixTime: Double(WallClock.unixMilliseconds()) / 1000),
      attested: .init(userID: 1000 + UInt32(index % 3), processID: getpid(), executable: "/usr/bin/editor"),
      isAdministrative: false)
  }

  final class Work: Sendable {
    let log: AuditLog
    let groups: Int
    let records: Int
    init(_ log: AuditLog, _ groups: Int, _ records: Int) {
      (self.log, self.groups, self.records) = (log, groups, records)
    }

    func run() {
      for group in 0..<groups {
        let records = (0..<records).map { AuditPeer.record(group, $0) }
        guard let receipt = try? log.append(records, patience: 120) else { exit(74) }
        // One write, so that the numbers of several threads stay apart.
        try? StandardStreams.writeOutput(Array("\(receipt.sequence)\n".utf8))
      }
    }
  }

  static func appendOnThreads(_ log: AuditLog, _ threads: Int, _ groups: Int, _ records: Int) {
    let handles = (0..<threads).map { _ in
      var handle = pthread_t()
      pthread_create(
        &handle, nil,
        { pointer in
          pointer.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().run() }
          return nil
        }, Unmanaged.passRetained(Work(log, groups, records)).toOpaque())
      return handle
    }
    for handle in handles { pthread_join(handle, nil) }
  }

  /// The crash leaves what a kernel could leave: of a write, its first half.
  static func crashing(at last: Int) -> LogOperations {
    let count = Counter()
    return LogOperations { (operation) throws(Errno) in
      guard count.next() == last else { return }
      if operation.change == .write, operation.byteCount > 1 {
        // The bytes themselves are not known here: what counts is that the line isn't whole.
        let file = open(operation.path, O_WRONLY | O_CREAT, 0o640)
        let half = [UInt8](repeating: UInt8(ascii: "x"), count: operation.byteCount / 2)
        _ = pwrite(file, half, half.count, off_t(operation.offset))
      }
      _exit(9)
    }
  }

  final class Counter: Sendable {
    private let value = Atomic<Int>(0)
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
  }
}
