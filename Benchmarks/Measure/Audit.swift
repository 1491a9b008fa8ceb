import AuditEvents
import AuditLog
import Glibc
import LinuxFiles
import PropertyList

/// What the audit log costs: appending, verifying, and sending an event to it.
enum AuditMeasure {
  /// What the agent writes most: that somebody's program tried to change a forced key.
  static func record(_ number: Int, _ time: PropertyListDate) -> AuditRecord {
    AuditRecord(
      .forcedWrite,
      fields: [
        "domain": .string("org.benchmark.policy"), "key": .string("SafeBrowsingPolicy.Key\(number % 10_000)"),
        "operation": .string("set"), "generation": .integer(7), "count": .integer(1),
      ],
      time: time, attested: .init(userID: 1000, processID: 4711, executable: "/usr/bin/editor"),
      claimed: AuditEvent.Claim(processID: 4711, userID: 1000, executable: "/usr/bin/editor"),
      isAdministrative: false)
  }

  static func log(_ folder: String, _ limits: AuditLogLimits = AuditLogLimits()) -> AuditLog {
    let user = ProcessIdentity.effectiveUserID
    return AuditLog(
      AuditLogPlace(directory: folder + "/log", anchor: folder + "/anchor", host: "benchmark", limits: limits) {
        $0 == user || $0 == 0
      })
  }

  static func group(_ index: Int, of size: Int) -> [AuditRecord] {
    let time = PropertyListDate(unixTime: Double(WallClock.unixMilliseconds()) / 1000)
    return (0..<size).map { record(index * size + $0, time) }
  }

  /// Appends groups, each as the agent does: durable when the call returns.
  static func append(_ folder: String, _ label: String, groups: Int, size: Int) throws {
    let log = log(folder)
    try log.append([record(0, PropertyListDate(unixTime: 1_796_000_000))])
    let records = (0..<groups).map { group($0, of: size) }
    let (start, startOfWork) = (Timing.nanoseconds(), Timing.processorNanoseconds())
    for group in records { try log.append(group) }
    let count = Double(groups * size) * 1000
    Timing.report(label, [(Timing.nanoseconds() - start) / count], "µs")
    Timing.report(label + ", processor", [(Timing.processorNanoseconds() - startOfWork) / count], "µs")
  }

  /// Verifies the whole log, and fails where it is not sound.
  static func verify(_ folder: String, _ label: String) {
    let (start, startOfWork) = (Timing.nanoseconds(), Timing.processorNanoseconds())
    let verification = AuditVerification(of: log(folder).place)
    let (length, work) = (Timing.nanoseconds() - start, Timing.processorNanoseconds() - startOfWork)
    guard verification.verdict == .sound else {
      print(verification.findings)
      exit(1)
    }
    Timing.report(label, [length / 1e6], "ms")
    Timing.report(label + ", processor", [work / 1e6], "ms")
  }

  /// What `send` costs the application that calls it, with nobody at the other end: the queue is emptied between bursts.
  static func send(_ folder: String) {
    let sink = AgentSink(
      at: folder + "/nobody",
      spool: AuditSpool(of: SpoolOrigin(host: "bench", root: folder), directory: folder + "/spool"))
    var costs: [Double] = []
    for burst in 0..<100 {
      let start = Timing.nanoseconds()
      for number in 0..<100 {
        sink.send(
          AuditEvent(
            .forcedWrite,
            fields: ["domain": .string("org.benchmark.policy"), "key": .string("Key \(burst).\(number)")]))
      }
      costs.append((Timing.nanoseconds() - start) / 100 / 1000)
      sink.flush()
    }
    Timing.report("audit, sending an event", costs, "µs")
  }
}

func measureAudit(_ words: [String]) throws {
  switch (words.first, words.count) {
  case ("append", 5):
    try AuditMeasure.append(words[1], words[2], groups: Int(words[3])!, size: Int(words[4])!)
  case ("verify", 3): AuditMeasure.verify(words[1], words[2])
  case ("send", 2): AuditMeasure.send(words[1])
  default: exit(64)
  }
}
