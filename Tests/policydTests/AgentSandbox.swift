import AuditEvents
import AuditLog
import CommandSandbox
import Glibc
import LinuxFiles
import PreferencesCore
import PropertyList
import TestPrograms
import Testing

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
    wait(while: AgentStatus.ask(at: socket) == nil)
    try #require(AgentStatus.ask(at: socket) != nil, "the agent does not serve: \(errors)")
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

  /// Sends packets and waits until so many are disposed of.
  func deliver(_ packets: [[UInt8]], count: Int? = nil) throws {
    let connection = try PacketSocket.connect(socket)
    for packet in packets {
      while true {
        do throws(Errno) {
          try connection.send(packet)
          break
        } catch {
          try #require(error == .wouldBlock)
          _ = connection.wait(orToSend: true, seconds: 5)
        }
      }
    }
    try waitForAnswer(count ?? packets.count, on: connection)
  }

  func deliver(_ events: [AuditEvent]) throws { try deliver(events.map { $0.jsonLine() }) }

  func waitForAnswer(_ count: Int, on connection: borrowing PacketSocket) throws {
    var bytes = [UInt8](repeating: 0, count: 64)
    var disposed = 0
    while disposed < count {
      let isThere = connection.wait(seconds: 30)
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
    for _ in 0..<400 {
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

/// Waits, half a minute at most, for as long as something is so.
func wait(while condition: @autoclosure () throws -> Bool) rethrows {
  let end = WallClock.monotonicSeconds() + 30
  while try condition(), WallClock.monotonicSeconds() < end { usleep(1000) }
}
