import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import AuditEvents

@Suite struct AuditSpoolTests {
  /// A directory of its own, removed at the end.
  final class Folder: Sendable {
    let path = "/tmp/managed-preferences-spool.\(getpid()).\(UInt64.random(in: .min ... .max))"
    deinit { try? Directory.removeTree(path) }
    let origin = SpoolOrigin(host: "0123456789abcdef0123456789abcdef", root: "")
    var file: String { path + "/events-0123456789abcdef0123456789abcdef.jsonl" }
    var lock: String { path + "/events-0123456789abcdef0123456789abcdef.lock" }
    var lines: [String] {
      guard let (bytes, _) = try? WholeFile.read(file) else { return [] }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  static func event(_ key: String) -> AuditEvent {
    AuditEvent(
      .forcedWrite, fields: ["key": .string(key)], time: PropertyListDate(unixTime: 1_800_000_000.25),
      claim: AuditEvent.Claim(processID: 7, userID: 1000, executable: "/usr/bin/editor"))
  }

  @Test(arguments: [
    ("plain", "plain"), ("a\"b\\c\nd\u{1b}[31m\u{7}", #"a\"b\\c\nd\u001b[31m\u0007"#),
    ("\u{202e}gpj.exe\u{200b}", #"\u202egpj.exe\u200b"#), ("\u{e0041}ü\u{7f}\u{85}", #"\udb40\udc41ü\u007f\u0085"#),
    ("\u{2028}", #"\u2028"#),
  ])
  func hostileTextCannotBeginALineOrSteerATerminal(key: String, written: String) {
    #expect(
      String(decoding: Self.event(key).jsonLine(), as: UTF8.self)
        == #"{"kind":"forced.write","time":"2027-01-15T08:00:00.25Z","claim":{"pid":7,"uid":1000,"#
        + #""executable":"/usr/bin/editor"},"fields":{"key":"\#(written)"}}"# + "\n")
  }

  @Test func eventsReachTheFile() throws {
    let folder = Folder()
    let spool = AuditSpool(of: folder.origin, directory: folder.path)
    for number in 0..<10 { spool.send(Self.event("\(number)")) }
    spool.flush()
    #expect(
      folder.lines
        == (0..<10).map { String(decoding: Self.event("\($0)").jsonLine(of: folder.origin).dropLast(), as: UTF8.self) })
    #expect(try FileMetadata.of(folder.file).permissions == 0o600)
    #expect(try FileMetadata.of(folder.path).permissions == 0o700)
    #expect(spool.dropped == 0)
  }

  @Test func aThreadOfItsOwnWrites() {
    let folder = Folder()
    AuditSpool(of: folder.origin, directory: folder.path).send(Self.event("k"))
    for _ in 0..<12_000 where folder.lines.isEmpty { usleep(5000) }
    #expect(folder.lines.count == 1)
  }

  @Test func theFileIsBoundedAndItsLastLineCounts() throws {
    let folder = Folder()
    let limits = AuditSpool.Limits(bytes: 1 << 20, events: 5, queue: 100)
    let spool = AuditSpool(of: folder.origin, directory: folder.path, limits: limits)
    for number in 0..<7 { spool.send(Self.event("\(number)")) }
    spool.flush()
    #expect(folder.lines.count == 5)
    #expect(
      folder.lines.last?.hasPrefix(
        #"{"kind":"events.dropped","origin":"0123456789abcdef0123456789abcdef","fields":{"reason":"full","dropped":3 "#)
        == true)
    for number in 7..<100 { spool.send(Self.event("\(number)")) }
    spool.flush()
    #expect(folder.lines.count == 5)
    #expect(
      folder.lines.last?.hasPrefix(
        #"{"kind":"events.dropped","origin":"0123456789abcdef0123456789abcdef","fields":{"reason":"full","dropped":96 "#
      ) == true)
    let last = try PropertyListCoding.decode(Array(folder.lines[4].utf8), as: .json)
    #expect(last.dictionaryValue?["fields"]?.dictionaryValue?["dropped"]?.integerValue == 96)
    // Whoever collects starts a new file.
    unlink(folder.file)
    spool.send(Self.event("new"))
    spool.flush()
    #expect(folder.lines.count == 1)
  }

  @Test func bytesAreBoundedToo() throws {
    let folder = Folder()
    let spool = AuditSpool(
      of: folder.origin, directory: folder.path, limits: AuditSpool.Limits(bytes: 4096, events: 1000, queue: 1000))
    for number in 0..<500 { spool.send(Self.event("\(number)")) }
    spool.flush()
    #expect(try FileMetadata.of(folder.file).size <= 4096)
    #expect(folder.lines.last?.contains("events.dropped") == true)
  }

  @Test func aQueueThatOverflowsSaysSo() throws {
    let folder = Folder()
    // Somebody holds the lock, so the queue fills.
    try Directory.createAll(folder.path)
    let spool = AuditSpool(of: folder.origin, directory: folder.path, limits: AuditSpool.Limits(events: 1000, queue: 3))
    // Who waits for the lock too long loses what it has taken, the word of the overflow included: then once more.
    let isSaid = try (0..<20).contains { _ in
      do {
        let lock = try FileLock.exclusive(folder.lock)
        defer { extendLifetime(lock) }
        for number in 0..<50 { spool.send(Self.event("\(number)")) }
      }
      spool.flush()
      #expect(spool.dropped > 0)
      return folder.lines.contains { $0.contains(#""reason":"queue""#) }
    }
    #expect(isSaid)
  }

  @Test func aTornLineIsNotContinued() throws {
    let folder = Folder()
    try Directory.createAll(folder.path)
    try AtomicReplacement.write(Array(#"{"kind":"forced.wr"#.utf8), to: folder.file, mode: 0o600)
    let spool = AuditSpool(of: folder.origin, directory: folder.path)
    spool.send(Self.event("k"))
    spool.flush()
    #expect(spool.dropped == 0)
    #expect(folder.lines.first == #"{"kind":"forced.wr"#)
    #expect(folder.lines.count == 2)
  }

  @Test func aPlaceThatCannotBeWrittenFailsNobody() {
    let spool = AuditSpool(of: SpoolOrigin(host: "h", root: ""), directory: "/proc/nowhere")
    spool.send(Self.event("k"))
    spool.flush()
    #expect(spool.dropped == 1)
  }

  @Test func aLinkInThePlaceOfTheFileLeadsNowhere() throws {
    let folder = Folder()
    try Directory.createAll(folder.path)
    let target = folder.path + "/target"
    try AtomicReplacement.write([], to: target, mode: 0o600)
    symlink(target, folder.file)
    let spool = AuditSpool(of: folder.origin, directory: folder.path)
    spool.send(Self.event("k"))
    spool.flush()
    #expect(spool.dropped == 1)
    #expect(try WholeFile.read(target).bytes == [])
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to have somebody else's home"))
  func rootKeepsOutOfOtherHomes() async throws {
    let folder = Folder()
    try Directory.createAll(folder.path + "/home")
    chown(folder.path + "/home", 1234, 1234)
    let home = folder.path + "/home"
    await #expect(processExitsWith: .success) { [home = home as String] in
      setenv("HOME", home, 1)
      setenv("XDG_STATE_HOME", home + "/state", 1)
      let place = try AuditSpool.userDirectory()
      // Also where it is asked for by name.
      let named = try AuditSpool.userDirectory(home: home)
      #expect(!place.hasPrefix(home) && !named.hasPrefix(home))
    }
    #expect(try Directory.names(in: home) == [])
  }

  @Test func aHomeThatIsNamedComesBeforeTheEnvironments() async throws {
    let folder = Folder()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      setenv("HOME", path + "/a", 1)
      unsetenv("XDG_STATE_HOME")
      let spool = AuditSpool(of: SpoolOrigin(host: "0123456789abcdef0123456789abcdef", root: ""), home: path + "/b")
      spool.send(Self.event("k"))
      spool.flush()
      let names = try Directory.names(in: path + "/b/.local/state/managed-preferences")
      #expect(names.contains { $0.hasSuffix(".jsonl") })
      #expect(throws: FileError.self) { try Directory.names(in: path + "/a") }
    }
  }

  @Test func aNormalEndWritesWhatIsQueued() async {
    let folder = Folder()
    let path = folder.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let spool = AuditSpool(of: SpoolOrigin(host: "0123456789abcdef0123456789abcdef", root: ""), directory: path)
      for number in 0..<20 { spool.send(Self.event("\(number)")) }
      exit(0)
    }
    #expect(folder.lines.count == 20)
  }
}
