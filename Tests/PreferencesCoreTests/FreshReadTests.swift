import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Synchronization
import TestPrograms
import Testing

@testable import PreferencesCore

/// Reads answer from memory, and never from memory that is out of date.
@Suite struct FreshReadTests {
  enum Cause: String, CaseIterable {
    case ownSet, otherList, suiteInstance, removedDomain, replacedDomain, otherProcess, foreignProgram, policy, release,
      any
  }

  @Test(arguments: Cause.allCases) func nothingStaleIsRead(after cause: Cause) async {
    let fixture = Fixture()
    fixture.store(["k": "old", "other": 1])
    fixture.store(["k": "suite"], "org.example.Suite")
    fixture.install(cause == .release ? [Fixture.Line(key: "k", value: "forced")] : [])
    let list = fixture.list(observes: true)
    list.addSuite("org.example.Suite")
    #expect(list.string("k") == (cause == .release ? "forced" : "old"))
    switch cause {
    case .ownSet:
      list.set("new", forKey: "k")
      #expect(list.string("k") == "new")
    case .otherList:
      fixture.list().set("new", forKey: "k")
      #expect(list.string("k") == "new")
    case .suiteInstance:
      list.removeValue(forKey: "k")
      #expect(list.string("k") == "suite")
      fixture.list("org.example.Suite", application: Fixture.domain).set("new", forKey: "k")
      #expect(list.string("k") == "new")
    case .removedDomain:
      list.removePersistentDomain(forName: Fixture.domain)
      #expect(list.string("k") == "suite")
    case .replacedDomain:
      fixture.list("org.example.Else").setPersistentDomain(["k": "new"], forName: Fixture.domain)
      #expect(list.string("k") == "new")
      #expect(list.value("other") == nil)
    case .otherProcess:
      let directory = fixture.directory
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let list = Fixture(in: directory).list()
        list.set("new", forKey: "k")
        exit(list.synchronize() ? 0 : 1)
      }
      #expect(eventually { list.string("k") == "new" })
    case .foreignProgram:
      // As plain Foundation writes: cut, and filled in place.
      let file = open(fixture.file(), O_WRONLY | O_TRUNC)
      usleep(30_000)
      let text = Array("{ k = new; }".utf8)
      #expect(write(file, text, text.count) == text.count)
      close(file)
      #expect(eventually { list.string("k") == "new" })
      #expect(list.faults == [])
    case .policy:
      fixture.install([Fixture.Line(key: "k", value: "new")], generation: 2)
      #expect(eventually { list.string("k") == "new" })
    case .release:
      fixture.install([], generation: 2)
      #expect(eventually { list.string("k") == "old" })
    case .any:
      list.set(nil, forKey: "k")
      list.removeSuite("org.example.Suite")
      list.synchronize()
      #expect(list.value("k") == nil)
    }
  }

  /// A writer that knows the file does not read it again; one that another program changed meanwhile it does.
  @Test(arguments: [false, true]) func aWriterKnowsWhetherTheFileIsStillTheSame(isChanged: Bool) throws {
    let fixture = Fixture()
    fixture.store(["k": 1])
    let list = fixture.list()
    // Times of files are too coarse for what is younger.
    usleep(150_000)
    let known = Engine.shared.lock.withLock { list.state.own.user.known }
    #expect(list.state.own.user.file.surelyHolds(known))
    if isChanged { fixture.store(["k": 2, "theirs": 1]) }
    #expect(list.state.own.user.file.surelyHolds(known) == !isChanged)
    list.set(3, forKey: "ours")
    #expect(list.synchronize())
    #expect(fixture.stored() == (isChanged ? ["k": 2, "theirs": 1, "ours": 3] : ["k": 1, "ours": 3]))
    #expect(list.integer("k") == (isChanged ? 2 : 1))
  }

  /// A change in place within the same tick of the file's clock would not show: who has read a moment ago is not sure.
  @Test func whatIsYoungIsReadAgain() throws {
    let fixture = Fixture()
    var wasQuick = false
    for round in 0..<100 where !wasQuick {
      fixture.store(["k": .integer(PropertyListInteger(round))])
      let file = fixture.locations.file(ofDomain: Fixture.domain, user: .current, host: nil)
      let reading = file.read()
      let isSure = file.surelyHolds(reading)
      let age = WallClock.unixMilliseconds() - (try #require(reading.version)).changeNanoseconds / 1_000_000
      // On a busy machine the moment may be over.
      if age >= 100 { continue }
      wasQuick = true
      #expect(!isSure)
    }
    #expect(wasQuick)
  }

  /// A program that cuts the file and writes it anew in its place: a reader that comes in between waits for it.
  @Test func aFileThatIsBeingWrittenIsReadWhenItIsWhole() {
    // Who pauses for a tenth of a second counts as done, so a writer that was held up shows nothing.
    let isShown = (0..<100).contains { _ in
      let fixture = Fixture()
      fixture.store(["k": "old"])
      let path = fixture.file()
      let isCut = Atomic(false)
      let pause = Mutex(0.0)
      var reading: PreferenceFile.Reading?
      withThreads(1) { _ in
        let start = WallClock.monotonicSeconds()
        let file = open(path, O_WRONLY | O_TRUNC)
        isCut.store(true, ordering: .releasing)
        usleep(30_000)
        let text = Array("{ k = new; }".utf8)
        #expect(write(file, text, text.count) == text.count)
        close(file)
        pause.withLock { $0 = WallClock.monotonicSeconds() - start }
      } during: {
        while !isCut.load(ordering: .acquiring) { usleep(100) }
        reading = fixture.locations.file(ofDomain: Fixture.domain, user: .current, host: nil).read()
      }
      if pause.withLock({ $0 }) > 0.08 { return false }
      #expect(reading?.values == ["k": "new"])
      #expect(reading?.fault == nil)
      return true
    }
    #expect(isShown)
  }

  /// What is watched for a directory that is not there yet is its appearing.
  @Test func aDirectoryThatAppearsIsNews() throws {
    let fixture = Fixture()
    let wake = try Pipe()
    var directories = WatchedDirectories()
    let missing = FilePath.join(fixture.directory, "later")
    directories.follow([FilePath.join(missing, "below")])
    guard directories.isAvailable else {
      print("SKIPPED: this user's inotify instances are used up")
      return
    }
    let isNew = directories.isNew
    #expect(isNew)
    try Directory.createAll(FilePath.join(fixture.directory, "unrelated"))
    directories.wait(wake.reading, timeout: 5000)
    let isUnrelatedNews = directories.concerns(["file"], wake: wake.reading)
    #expect(!isUnrelatedNews)
    try Directory.createAll(missing)
    directories.wait(wake.reading, timeout: 5000)
    let isNews = directories.concerns(["file"], wake: wake.reading)
    #expect(isNews)
  }

  /// Who synchronizes reads what the background has taken in, though that stands still before it has filled the tables.
  @Test func aSynchronizationWaitsForNoOtherThread() async {
    let fixture = Fixture()
    fixture.install([])
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let fixture = Fixture(in: directory)
      let isHeld = Atomic(true)
      let isThere = Atomic(false)
      let list = fixture.list(
        observes: true,
        roaming: { place throws(PreferencesFault) in
          if !isThere.exchange(true, ordering: .relaxed) { while isHeld.load(ordering: .relaxed) { usleep(1000) } }
          throw PreferencesFault(.notRoaming, path: place.directory, message: "the store can't be opened")
        })
      let told = KeyObservationTests.Told()
      let subscription = list.observe("k", handler: told.note)
      fixture.install(
        [Fixture.Line(key: "k", value: 1)], roaming: [Fixture.domain: ["Theme"]], generation: 2)
      guard eventually({ isThere.load(ordering: .relaxed) }) else { exit(1) }
      list.synchronize()
      guard list.integer("k") == 1, list.isForced("k") else { exit(2) }
      guard told.all == ["policy: nil -> 1!"] else { exit(3) }
      isHeld.store(false, ordering: .relaxed)
      subscription.cancel()
    }
  }

  /// Another process keeps the domain's lock: sets and reads go on, and so does the policy.
  @Test func aHeldLockHoldsUpNobody() throws {
    let fixture = Fixture()
    var lines = (0..<10_000).map { Fixture.Line(key: "forced\($0)", value: .integer(PropertyListInteger($0))) }
    fixture.install(lines)
    fixture.store(["a": 1, "b": 2, "c": 3, "d": 4])
    let list = fixture.list(observes: true)
    let holder = try Peer.start("hold", fixture)
    try #require(holder.line() == "ready")
    list.set(5, forKey: "e")
    for round in 0..<1500 {
      let (key, value) = [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)][round % 5]
      #expect(list.integer(key) == value)
      if round == 700 {
        lines[0].value = "reloaded"
        fixture.install(lines, generation: 2)
      }
    }
    #expect(eventually { list.string("forced0") == "reloaded" })
    #expect(list.integer("forced9999") == 9999)
    // Nothing of this waited for the lock: it is still held, and the file as it was.
    let lock = "\(fixture.configuration)/managed-preferences/locks/\(Fixture.domain).lock"
    #expect(throws: FileError("lock", path: lock, errno: .timedOut)) { _ = try FileLock.exclusive(lock, timeout: 0.01) }
    #expect(fixture.stored() == ["a": 1, "b": 2, "c": 3, "d": 4])
    holder.endInput()
    #expect(holder.wait() == 0)
    #expect(eventually { fixture.stored()?["e"] == 5 })
  }
}

/// Both ends of a pipe, in the place of the one that wakes the watcher.
private struct Pipe: ~Copyable {
  let reading: Int32
  private let writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    (reading, writing) = (ends[0], ends[1])
    _ = fcntl(reading, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(reading)
    close(writing)
  }
}
