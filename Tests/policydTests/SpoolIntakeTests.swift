import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Synchronization
import Testing

@testable import AuditEvents
@testable import policyd

/// What users' spools held comes in later, and brings nothing else with it.
@Suite struct SpoolIntakeTests {
  /// Keeps records in memory, or refuses.
  final class MemoryStore: EventStore {
    struct State {
      var records: [AgentRecord] = []
      var isFull = false
    }
    let state = Mutex(State())

    func append(_ records: [AgentRecord]) throws(EventStoreError) {
      let isFull = state.withLock { state in
        if !state.isFull { state.records += records }
        return state.isFull
      }
      if isFull { throw EventStoreError(description: "full") }
    }

    func withoutKept(_ records: [AgentRecord]) throws(EventStoreError) -> [AgentRecord] { records }

    var records: [AgentRecord] { state.withLock { $0.records } }
    var keys: [String?] { records.map { $0.fields["key"]?.stringValue } }
  }

  /// The home of a user, with a spool in it.
  final class Home {
    let sandbox: Sandbox
    let store = MemoryStore()
    let user = geteuid() == 0 ? UInt32(65533) : geteuid()
    var path: String { sandbox.path + "/user" }
    var folder: String { path + "/.local/state/managed-preferences" }
    let origin: SpoolOrigin
    var name: SpoolName { SpoolName(stem: origin.stem) }
    var file: String { folder + "/" + name.file }
    var spool: SpoolIntake.Spool {
      SpoolIntake.Spool(owner: user, group: getegid(), anchor: path, directory: folder)
    }

    /// - Parameter origin: of whose spool the agent is.
    init(_ origin: SpoolOrigin = SpoolOrigin(host: "0123456789abcdef0123456789abcdef", root: "")) throws {
      self.origin = origin
      sandbox = try Sandbox(named: "policyd")
      try Directory.createAll(folder)
      for path in [path, path + "/.local", path + "/.local/state", folder] { own(path) }
    }

    func own(_ path: String) { lchown(path, user, getegid()) }

    /// - Parameter file: nil is that of the origin.
    func write(_ text: String, to file: String? = nil, lock: String? = nil) throws {
      for (file, bytes) in [(file ?? name.file, Array(text.utf8)), (lock ?? name.lock, [])] {
        try AtomicReplacement.write(bytes, to: folder + "/" + file, mode: 0o600)
        own(folder + "/" + file)
      }
    }

    func lines(_ keys: [String], of origin: SpoolOrigin? = nil) -> String {
      keys.map { String(decoding: AgentSandbox.event($0).jsonLine(of: origin ?? self.origin), as: UTF8.self) }.joined()
    }

    func writeEvents(_ keys: [String]) throws { try write(lines(keys)) }

    var intake: SpoolIntake { SpoolIntake(origin: origin, store: store, report: { self.reported.append($0) }) }
    var reported: [String] = []
    var names: [String] { (try? Directory.names(in: folder)) ?? [] }
    func read(_ name: String) throws -> String {
      String(decoding: try WholeFile.read(folder + "/" + name).bytes, as: UTF8.self)
    }

    @discardableResult
    func take() -> Int { intake.take(spool) }
  }

  @Test func eventsComeInUnattestedWithTheirOwnerAndTheFileIsGone() throws {
    let home = try Home()
    try home.writeEvents(["a", "b", "a"])
    #expect(home.take() == 2)
    #expect(home.store.keys == ["a", "b"])
    #expect(home.store.records.map { $0.fields["count"].number } == [2, nil])
    for record in home.store.records {
      #expect(record.attestation == .spool(owner: home.user))
      #expect(record.claim?.processID == getpid())
      #expect(!record.isAdministrative)
    }
    #expect(home.names == [home.name.lock])
    #expect(home.take() == 0)
  }

  @Test func whatCanNotBeKeptStaysAndComesInOnce() throws {
    let home = try Home()
    try home.writeEvents(["a"])
    home.store.state.withLock { $0.isFull = true }
    #expect(home.take() == 0)
    // Programs go on with a spool of their own meanwhile.
    try home.writeEvents(["b"])
    home.store.state.withLock { $0.isFull = false }
    #expect(home.take() == 2)
    #expect(home.store.keys == ["a", "b"])
  }

  /// An agent that is ended while it takes a spool in leaves it under the name that it had then.
  @Test func whatEndedTheAgentTwiceIsSetAsideAndCounted() throws {
    let home = try Home()
    let lines = home.lines(["a", "b"])
    try home.write(lines, to: home.name.taken)
    #expect(home.take() == 2, "once is no reason")
    #expect(home.names == [home.name.lock])
    try home.write(lines, to: home.name.retaken)
    try home.writeEvents(["c"])
    #expect(home.take() == 1)
    #expect(home.store.keys == ["a", "b", nil, "c"])
    let record = try #require(home.store.records.dropFirst(2).first)
    #expect(record.kind == .auditDropped)
    #expect(record.attestation == .agent)
    #expect(
      PropertyListValue?.some(.dictionary(record.fields)).json
        == #"{"count":2,"reasons":{"spool":2},"user":\#(home.user)}"#)
    #expect(home.names == [home.name.aside(1), home.name.lock])
    #expect(try WholeFile.read(home.folder + "/" + home.name.aside(1)).bytes == Array(lines.utf8))
  }

  /// The log's want of room is not held against a spool, however often.
  @Test func aLogWithoutRoomSetsNothingAside() throws {
    let home = try Home()
    try home.writeEvents(["a"])
    home.store.state.withLock { $0.isFull = true }
    for _ in 0..<4 {
      #expect(home.take() == 0)
      #expect(home.names == [home.name.lock, home.name.taken])
    }
    home.store.state.withLock { $0.isFull = false }
    #expect(home.take() == 1)
    try home.writeEvents(["b"])
    try Directory.rename(home.file, to: home.folder + "/" + home.name.retaken)
    home.store.state.withLock { $0.isFull = true }
    #expect(home.take() == 0)
    #expect(home.names == [home.name.lock, home.name.retaken])
  }

  @Test func whatIsNoEventIsCounted() throws {
    let home = try Home()
    let good = home.lines(["a"])
    let foreign = String(decoding: AuditEvent(.policyInstalled, fields: [:]).jsonLine(), as: UTF8.self)
    try home.write("hello\n" + good + foreign + #"{"kind":"forced.wr"#)
    home.take()
    #expect(home.store.records.map(\.kind.rawValue) == ["forced.write", "audit.dropped"])
    #expect(
      (home.store.records.last.map { PropertyListValue.dictionary($0.fields) }).json
        == #"{"count":3,"reasons":{"spool":3},"user":\#(home.user)}"#)
  }

  @Test func theLineThatCountsIsTakenAtItsWord() throws {
    let home = try Home()
    try home.write(#"{"kind":"events.dropped","fields":{"reason":"full","dropped":96                  }}"# + "\n")
    #expect(home.take() == 1)
    #expect(
      (home.store.records.first.map { PropertyListValue.dictionary($0.fields) }).json
        == #"{"dropped":96,"reason":"full"}"#)
  }

  @Test func aLockThatIsHeldIsNotWaitedFor() throws {
    let home = try Home()
    try home.writeEvents(["a"])
    do {
      let lock = try FileLock.exclusive(home.folder + "/" + home.name.lock)
      #expect(home.take() == 0)
      extendLifetime(lock)
    }
    #expect(home.take() == 1)
  }

  /// Each of these would have root read, rename or remove something that is not the user's spool.
  @Test(arguments: [
    "the file is a link", "the folder is a link", "a pipe", "a file of another", "a folder of another",
    "the lock is a link", "the lock is a pipe", "the renamed file is a link", "the renamed file is a pipe",
    "the renamed file is a folder", "the state folder is a link",
  ])
  func whatIsNotTheUsersOwnIsLeftAlone(trick: String) throws {
    let home = try Home()
    let secret = home.sandbox.path + "/secret"
    let line = AgentSandbox.event("secret").jsonLine()
    try AtomicReplacement.write(line, to: secret, mode: 0o600)
    try home.writeEvents(["a"])
    switch trick {
    case "the file is a link":
      unlink(home.file)
      symlink(secret, home.file)
    case "the folder is a link":
      rename(home.folder, home.sandbox.path + "/moved")
      symlink(home.sandbox.path + "/moved", home.folder)
    case "a pipe":
      unlink(home.file)
      mkfifo(home.file, 0o600)
      home.own(home.file)
    case "the lock is a link":
      unlink(home.folder + "/" + home.name.lock)
      symlink(secret, home.folder + "/" + home.name.lock)
    // Nobody can be made to wait for a lock that is never there.
    case "the lock is a pipe":
      unlink(home.folder + "/" + home.name.lock)
      mkfifo(home.folder + "/" + home.name.lock, 0o600)
      home.own(home.folder + "/" + home.name.lock)
      home.take()
      return
    case "the renamed file is a link":
      unlink(home.file)
      symlink("/etc/shadow", home.folder + "/" + home.name.taken)
    case "the renamed file is a pipe":
      mkfifo(home.folder + "/" + home.name.taken, 0o600)
      home.own(home.folder + "/" + home.name.taken)
    case "the renamed file is a folder":
      try Directory.create(home.folder + "/" + home.name.taken)
      home.own(home.folder + "/" + home.name.taken)
    case "the state folder is a link":
      rename(home.path + "/.local/state", home.sandbox.path + "/moved")
      symlink(home.sandbox.path + "/moved", home.path + "/.local/state")
    case "a file of another":
      guard geteuid() == 0 else { return }
      chown(home.file, 0, 0)
    // Its name may be changed by who owns the folder; what it holds is not taken for the user's.
    default:
      guard geteuid() == 0 else { return }
      chown(home.folder, 0, 0)
    }
    home.take()
    #expect(home.store.records == [])
    #expect(try WholeFile.read(secret).bytes == line)
  }

  /// What a user makes of the spool by hand: it is that user's word, whoever it names.
  @Test func aForgedSpoolIsItsOwnersWordAndNoMore() throws {
    let home = try Home()
    let others = AuditEvent.Claim(processID: 1, userID: 0, executable: "/usr/bin/policyctl")
    let claimed = AuditEvent(.forcedWrite, fields: ["key": .string("a"), "count": .integer(1_000_000)], claim: others)
    let kinds: [AuditEvent.Kind] = [.policyInstalled, .policyUninstalled, .keyTrusted, .agentStopped, .auditAlarm]
    let administrative = kinds.map { AuditEvent($0, fields: ["generation": .integer(9)], claim: others) }
    try home.write(
      ([claimed] + administrative).map { String(decoding: $0.jsonLine(of: home.origin), as: UTF8.self) }.joined())
    home.take()
    #expect(home.store.records.map(\.kind.rawValue) == ["forced.write", "audit.dropped"])
    #expect(home.store.records.first?.attestation == .spool(owner: home.user))
    #expect(home.store.records.first?.fields["count"] == nil)
    #expect(
      (home.store.records.last.map { PropertyListValue.dictionary($0.fields) }).json
        == #"{"count":5,"reasons":{"spool":5},"user":\#(home.user)}"#)
    #expect(home.store.records.allSatisfy { !$0.isAdministrative })
  }

  /// A terabyte of nothing costs the agent two megabytes, and is gone afterwards.
  @Test func aHugeSpoolIsCut() throws {
    let home = try Home()
    try home.writeEvents(["a"])
    try #require(truncate(home.file, 1 << 40) == 0)
    home.take()
    #expect(home.store.records.map(\.kind.rawValue) == ["forced.write", "audit.dropped"])
    #expect(home.names == [home.name.lock])
  }

  /// The whole way: a program without an agent, then an agent.
  @Test func anAgentThatStartsTakesInWhatProgramsLeft() throws {
    let agent = try AgentSandbox()
    let folder = agent.sandbox.home + "/.local/state/managed-preferences"
    let sink = AgentSink(at: agent.socket, spool: AuditSpool(of: agent.origin, directory: folder))
    sink.send(AgentSandbox.event("Key"))
    sink.flush()
    try agent.start()
    let record = try #require(try agent.waitForRecords("forced.write").first)
    #expect(record["unattested", "uid"]?.integerValue == Int(geteuid()))
    #expect(record["attested"]?.dictionaryValue == nil)
    #expect(record["claimed", "pid"]?.integerValue == Int(getpid()))
    try wait(while: Directory.names(in: folder) != [agent.spoolName.lock])
    #expect(try Directory.names(in: folder) == [agent.spoolName.lock])
    // And what comes while it runs, when it is told to look.
    let deaf = AgentSink(at: agent.sandbox.path + "/none", spool: AuditSpool(of: agent.origin, directory: folder))
    deaf.send(AgentSandbox.event("Later"))
    deaf.flush()
    agent.signal(SIGHUP)
    #expect(try agent.waitForRecords("forced.write", count: 2).last?["fields", "key"].text == "Later")
  }
}
