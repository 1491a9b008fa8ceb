import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Synchronization
import Testing

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
    var file: String { folder + "/events.jsonl" }
    var spool: SpoolIntake.Spool {
      SpoolIntake.Spool(owner: user, group: getegid(), anchor: path, directory: folder)
    }

    init() throws {
      sandbox = try Sandbox(named: "policyd")
      try Directory.createAll(folder)
      for path in [path, path + "/.local", path + "/.local/state", folder] { own(path) }
    }

    func own(_ path: String) { lchown(path, user, getegid()) }

    func write(_ text: String, to name: String = "events.jsonl") throws {
      for name in [name, "events.lock"] {
        try AtomicReplacement.write(name == "events.lock" ? [] : Array(text.utf8), to: folder + "/" + name, mode: 0o600)
        own(folder + "/" + name)
      }
    }

    func writeEvents(_ keys: [String]) throws {
      try write(keys.map { String(decoding: AgentSandbox.event($0).jsonLine(), as: UTF8.self) }.joined())
    }

    @discardableResult
    func take() -> Int { SpoolIntake(store: store, report: { _ in }).take(spool) }
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
    #expect(try Directory.names(in: home.folder) == ["events.lock"])
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
    let lines = ["a", "b"].map { String(decoding: AgentSandbox.event($0).jsonLine(), as: UTF8.self) }.joined()
    try home.write(lines, to: "events.taken.jsonl")
    #expect(home.take() == 2, "once is no reason")
    #expect(try Directory.names(in: home.folder) == ["events.lock"])
    try home.write(lines, to: "events.retaken.jsonl")
    try home.writeEvents(["c"])
    #expect(home.take() == 1)
    #expect(home.store.keys == ["a", "b", nil, "c"])
    let record = try #require(home.store.records.dropFirst(2).first)
    #expect(record.kind == .auditDropped)
    #expect(record.attestation == .agent)
    #expect(
      PropertyListValue?.some(.dictionary(record.fields)).json
        == #"{"count":2,"reasons":{"spool":2},"user":\#(home.user)}"#)
    #expect(try Directory.names(in: home.folder) == ["events.aside.jsonl", "events.lock"])
    #expect(try WholeFile.read(home.folder + "/events.aside.jsonl").bytes == Array(lines.utf8))
  }

  /// The log's want of room is not held against a spool, however often.
  @Test func aLogWithoutRoomSetsNothingAside() throws {
    let home = try Home()
    try home.writeEvents(["a"])
    home.store.state.withLock { $0.isFull = true }
    for _ in 0..<4 {
      #expect(home.take() == 0)
      #expect(try Directory.names(in: home.folder) == ["events.lock", "events.taken.jsonl"])
    }
    home.store.state.withLock { $0.isFull = false }
    #expect(home.take() == 1)
    try home.writeEvents(["b"])
    try Directory.rename(home.file, to: home.folder + "/events.retaken.jsonl")
    home.store.state.withLock { $0.isFull = true }
    #expect(home.take() == 0)
    #expect(try Directory.names(in: home.folder) == ["events.lock", "events.retaken.jsonl"])
  }

  @Test func whatIsNoEventIsCounted() throws {
    let home = try Home()
    let good = String(decoding: AgentSandbox.event("a").jsonLine(), as: UTF8.self)
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
      let lock = try FileLock.exclusive(home.folder + "/events.lock")
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
      unlink(home.folder + "/events.lock")
      symlink(secret, home.folder + "/events.lock")
    // Nobody can be made to wait for a lock that is never there.
    case "the lock is a pipe":
      unlink(home.folder + "/events.lock")
      mkfifo(home.folder + "/events.lock", 0o600)
      home.own(home.folder + "/events.lock")
      home.take()
      return
    case "the renamed file is a link":
      unlink(home.file)
      symlink("/etc/shadow", home.folder + "/events.taken.jsonl")
    case "the renamed file is a pipe":
      mkfifo(home.folder + "/events.taken.jsonl", 0o600)
      home.own(home.folder + "/events.taken.jsonl")
    case "the renamed file is a folder":
      try Directory.create(home.folder + "/events.taken.jsonl")
      home.own(home.folder + "/events.taken.jsonl")
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
      ([claimed] + administrative).map { String(decoding: $0.jsonLine(), as: UTF8.self) }.joined())
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
    #expect(try Directory.names(in: home.folder) == ["events.lock"])
  }

  /// The whole way: a program without an agent, then an agent.
  @Test func anAgentThatStartsTakesInWhatProgramsLeft() throws {
    let agent = try AgentSandbox()
    let folder = agent.sandbox.home + "/.local/state/managed-preferences"
    let sink = AgentSink(at: agent.socket, spool: AuditSpool(directory: folder))
    sink.send(AgentSandbox.event("Key"))
    sink.flush()
    try agent.start()
    let record = try #require(try agent.waitForRecords("forced.write").first)
    #expect(record["unattested", "uid"]?.integerValue == Int(geteuid()))
    #expect(record["attested"]?.dictionaryValue == nil)
    #expect(record["claimed", "pid"]?.integerValue == Int(getpid()))
    try wait(while: Directory.names(in: folder) != ["events.lock"])
    #expect(try Directory.names(in: folder) == ["events.lock"])
    // And what comes while it runs, when it is told to look.
    let deaf = AgentSink(at: agent.sandbox.path + "/none", spool: AuditSpool(directory: folder))
    deaf.send(AgentSandbox.event("Later"))
    deaf.flush()
    agent.signal(SIGHUP)
    #expect(try agent.waitForRecords("forced.write", count: 2).last?["fields", "key"].text == "Later")
  }
}
