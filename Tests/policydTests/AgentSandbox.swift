import AuditLog
import CommandSandbox
import Glibc
import LinuxFiles
import PreferencesCore
import PropertyList
import TestPrograms
import Testing

@testable import AuditEvents

/// A root of its own with an agent that serves it.
final class AgentSandbox {
  let sandbox: Sandbox
  private var process: StartedProgram?
  var root: String { sandbox.root }
  var socket: String { root + "/run/managed-preferences/policyd.sock" }
  var errorsPath: String { sandbox.path + "/agent.errors" }

  /// - Parameter policy: a profile, for what is in force; nil: nothing is.
  init(policy: String? = nil) throws {
    sandbox = try Sandbox(named: "policyd")
    let made = policyctl("init", "--host", "lab-a-03")
    try #require(made.exitCode == 0, "\(made.errors)")
    if let policy { try apply(policy) }
  }

  deinit { stop(SIGKILL) }

  func apply(_ policy: String) throws {
    try sandbox.write(policy, to: root + "/etc/managed-preferences/policies/base.yaml")
    let applied = policyctl("apply")
    try #require(applied.exitCode == 0, "\(applied.errors)")
  }

  func policyctl(_ words: String...) -> Sandbox.Result {
    sandbox.execute([Sandbox.binary("policyctl"), "--root", root] + words)
  }

  // MARK: The agent

  static let program = Sandbox.binary("policyd")

  /// Starts it, and waits until it serves.
  func start(_ words: String..., environment: [String: String] = [:]) throws {
    try launch([Self.program, "--root", root] + words, environment: environment)
    try #require(waitForStatus() != nil, "the agent does not serve: \(errors)")
  }

  /// What it says of itself, once that is as it should be; nil where it ends before, or that does not come.
  func waitForStatus(where isAsItShouldBe: (AgentStatus) -> Bool = { _ in true }) -> AgentStatus? {
    let end = WallClock.monotonicSeconds() + 120
    while isAlive, WallClock.monotonicSeconds() < end {
      if let status = AgentStatus.ask(at: socket, patience: 60), isAsItShouldBe(status) { return status }
      usleep(1000)
    }
    return nil
  }

  /// Starts a program in the agent's place.
  /// - Parameter descriptor: what it gets as its descriptor 3.
  func launch(
    _ words: [String], environment extra: [String: String] = [:], handing descriptor: Int32? = nil
  ) throws {
    var environment = ["PATH": "/usr/bin:/bin", "HOME": sandbox.home, "TZ": "Europe/Berlin"]
    environment.merge(extra) { _, new in new }
    process = try StartedProgram(
      words, environment: environment, output: .nothing, errors: .appended(errorsPath), handing: descriptor)
  }

  func signal(_ number: Int32) { process?.signal(number) }

  /// Ends it, and waits for that.
  /// - Returns: its exit code; minus the number of the signal that ended it.
  @discardableResult
  func stop(_ number: Int32 = SIGTERM) -> Int32? {
    signal(number)
    return waitForEnd()
  }

  func waitForEnd() -> Int32? {
    defer { process = nil }
    return process?.wait()
  }

  /// Does something while the agent stands still, so that it finds all of it at once, however slow this process is.
  func whileItStandsStill(_ body: () throws -> Void) rethrows {
    signal(SIGSTOP)
    defer { signal(SIGCONT) }
    wait(while: !isStandingStill)
    try body()
  }

  private var isStandingStill: Bool {
    let tasks = "/proc/\(processID)/task"
    return ((try? Directory.names(in: tasks)) ?? []).allSatisfy { thread in
      guard let stat = try? WholeFile.read("\(tasks)/\(thread)/stat").bytes else { return true }
      // Behind the name, which may hold anything, and a space.
      return stat.lastIndex(of: UInt8(ascii: ")")).map { stat[$0 + 2] == UInt8(ascii: "T") } ?? false
    }
  }

  var processID: Int32 { process?.process ?? 0 }

  /// Whether it runs still; one that ended is not waited for.
  var isAlive: Bool { process?.isRunning ?? false }

  var errors: String { (try? sandbox.read(errorsPath)) ?? "" }

  // MARK: Events

  /// Of events that programs leave for its agent.
  var origin: SpoolOrigin { SpoolOrigin(host: HostIdentifier.current(), root: root) }
  var spoolName: SpoolName { SpoolName(stem: origin.stem) }

  static func event(_ key: String, domain: String = "org.example.Editor") -> AuditEvent {
    AuditEvent(
      .forcedWrite,
      fields: [
        "domain": .string(domain), "key": .string(key), "operation": .string("set"), "profiles": .array([]),
        "generation": .integer(1),
      ])
  }

  /// Sends packets, and waits until all are disposed of. What the agent did not answer when it closed a connection, one that
  /// had nothing to say for ten seconds as a rule, is the sender's still, and sent anew.
  func deliver(_ packets: [[UInt8]]) throws {
    var rest = packets[...]
    let end = WallClock.monotonicSeconds() + 120
    while !rest.isEmpty {
      rest = rest.dropFirst(AgentProtocol.deliver(rest, to: socket, patience: 60))
      let goesOn = rest.isEmpty || isAlive && WallClock.monotonicSeconds() < end
      try #require(goesOn, "\(rest.count) packets are not disposed of: \(errors)")
    }
  }

  func deliver(_ events: [AuditEvent]) throws { try deliver(events.map { $0.jsonLine() }) }

  /// The same with packets that are all there when the agent comes to the first of them.
  func deliverAtOnce(_ events: [AuditEvent]) throws {
    let end = WallClock.monotonicSeconds() + 120
    while true {
      try #require(WallClock.monotonicSeconds() < end, "the packets can't be sent: \(errors)")
      // Too many may wait already.
      guard let connection = try? PacketSocket.connect(socket) else {
        usleep(1000)
        continue
      }
      // Whoever gets an answer is let in.
      guard (try? connection.send(Array(AgentProtocol.statusQuestion.utf8))) != nil, connection.wait(seconds: 60) else {
        continue
      }
      var bytes = [UInt8](repeating: 0, count: 4096)
      guard case .packet = bytes.withUnsafeMutableBytes({ connection.receive(into: $0) }) else { continue }
      var sent = 0
      try whileItStandsStill {
        for event in events {
          do throws(Errno) {
            try connection.send(event.jsonLine())
            sent += 1
          } catch {
            // It had nothing to say for too long before.
            try #require(error == .brokenPipe && sent == 0)
            return
          }
        }
      }
      if sent == events.count { return try waitForAnswer(events.count, on: connection) }
    }
  }

  func waitForAnswer(_ count: Int, on connection: borrowing PacketSocket) throws {
    var bytes = [UInt8](repeating: 0, count: 64)
    var disposed = 0
    while disposed < count {
      let isThere = connection.wait(seconds: 120)
      try #require(isThere, "no answer: \(errors)")
      let reception = bytes.withUnsafeMutableBytes { connection.receive(into: $0) }
      guard case .packet(let length) = reception else {
        Issue.record("the connection ended at \(disposed): \(errors)")
        return
      }
      disposed = Int(String(decoding: bytes[..<length], as: UTF8.self)) ?? disposed
    }
    #expect(disposed == count)
  }

  // MARK: The log

  var logPlace: AuditLogPlace {
    AuditLogPlace(
      directory: root + "/var/log/managed-preferences", anchor: root + "/var/lib/managed-preferences/audit-anchor",
      host: nil, isTrustedOwner: { _ in true })
  }

  /// Every record with its parts.
  func records(_ kind: String? = nil) throws -> [PropertyListValue] {
    try Self.records(in: logPlace).filter { kind == nil || $0["kind"].text == kind }
  }

  static func records(in place: AuditLogPlace) throws -> [PropertyListValue] {
    var records: [PropertyListValue] = []
    try LogReader(place).forEachRecord { record throws(AuditLogError) in
      var members: [String: PropertyListValue] = [
        "seq": .integer(PropertyListInteger(record.sequence)), "kind": .string(record.kind),
        "fields": .dictionary(record.fields),
      ]
      for (name, part) in [
        ("attested", record.attested), ("claimed", record.claimed), ("unattested", record.unattested),
      ] {
        if let part { members[name] = .dictionary(part) }
      }
      records.append(.dictionary(members))
    }
    return records
  }

  /// Waits for records of a kind.
  func waitForRecords(_ kind: String, count: Int = 1) throws -> [PropertyListValue] {
    let end = WallClock.monotonicSeconds() + 120
    while WallClock.monotonicSeconds() < end {
      let found = try records(kind)
      if found.count >= count { return found }
      usleep(50_000)
    }
    Issue.record("no \(kind): \(errors)")
    return []
  }
}

extension PropertyListValue {
  subscript(_ names: String...) -> PropertyListValue? {
    names.reduce(Optional(self)) { $0?.dictionaryValue?[$1] }
  }
}

extension PropertyListValue? {
  /// As JSON in one line, with sorted names, to compare it whole; `null` for none.
  var json: String {
    var writer = JSONWriter(pretty: false)
    if let self { writer.value(self) } else { writer.null() }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  var text: String? { self?.stringValue }
  var number: Int? { self?.integerValue }
}

/// Waits, two minutes at most, for as long as something is so.
func wait(while condition: @autoclosure () throws -> Bool) rethrows {
  let end = WallClock.monotonicSeconds() + 120
  while try condition(), WallClock.monotonicSeconds() < end { usleep(1000) }
}
