import AuditEvents
import CReaderEpoch
import Foundation
import Glibc
import LinuxFiles
import PropertyList
import Synchronization
import Testing

@testable import PreferencesCore

/// What only several processes can show. Each child is an exit test: a process of its own that runs the closure.
@Suite struct ProcessTests {
  @Test func aNormalEndBringsChangesToTheDisk() async {
    let fixture = Fixture()
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let list = Fixture(in: directory).list()
      list.set("x", forKey: "a")
      list.set(1, forKey: "b")
      list.set(.date(PropertyListDate(secondsSinceReferenceDate: 0.123456)), forKey: "c")
      exit(0)
    }
    #expect(
      fixture.stored() == ["a": "x", "b": 1, "c": .date(PropertyListDate(secondsSinceReferenceDate: 0.123456))])
  }

  @Test func aKilledProcessLeavesAWholeFile() async {
    let fixture = Fixture()
    fixture.store(["before": 1])
    let directory = fixture.directory
    for round in 0..<3 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String, round = round as Int] in
        let list = Fixture(in: directory).list()
        for number in 0..<200 { list.set(.integer(PropertyListInteger(number)), forKey: "key\(number)") }
        list.synchronize()
        list.set(.integer(PropertyListInteger(round)), forKey: "round")
        // Somewhere in the middle of the background's write.
        usleep(UInt32(240_000 + round * 10_000))
        kill(getpid(), SIGKILL)
      }
      let stored = fixture.stored()
      #expect(stored?["before"] == 1)
      #expect(stored?["key199"] == 199)
      let leftovers = try! Directory.names(in: fixture.configuration).filter { $0.contains(".damaged-") }
      #expect(leftovers == [])
    }
    #expect(fixture.list().synchronize(), "the lock fell with its holder")
  }

  @Test func eightWritersLoseNothingOfEachOther() async {
    let fixture = Fixture()
    fixture.store(["z": 0])
    let directory = fixture.directory
    let reader = fixture.list()
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          await #expect(processExitsWith: .success) { [directory = directory as String, writer = writer as Int] in
            let list = Fixture(in: directory).list()
            for number in 0..<60 {
              list.set(.integer(PropertyListInteger(number)), forKey: "w\(writer).\(number)")
              list.set(.integer(PropertyListInteger(number)), forKey: "z")
              // The others may keep the lock for longer than one call waits.
              if number % 10 == 9, !(0..<20).contains(where: { _ in list.synchronize() }) { exit(1) }
            }
            exit(0)
          }
        }
      }
      group.addTask {
        for _ in 0..<300 {
          reader.synchronize()
          #expect(reader.value("z") != nil, "a key that is only ever overwritten is never absent")
          usleep(2000)
        }
      }
    }
    let stored = fixture.stored() ?? [:]
    #expect(stored.count == 8 * 60 + 1)
  }

  @Test func anotherProcessSeesASetWithoutRestart() async {
    let fixture = Fixture()
    let list = fixture.list(observes: true)
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      Fixture(in: directory).list().set("hello", forKey: "k")
      exit(0)
    }
    #expect(eventually { list.string("k") == "hello" })
  }

  /// Lets both threads of the process do once what they do. A fork waits for them for a moment only, and what a thread that
  /// stands still is making for the first time in the runtime would never be ready in the child.
  private static func hasWarmedUp(_ list: SearchList, _ fixture: Fixture) -> Bool {
    fixture.store(["warm": 1])
    guard eventually({ list.integer("warm") == 1 }) else { return false }
    list.removeValue(forKey: "warm")
    return eventually { fixture.stored() == [:] }
  }

  @Test func aForkedChildDoesNotWriteItsParentsChanges() async {
    let fixture = Fixture()
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let fixture = Fixture(in: directory)
      let list = fixture.list(observes: true)
      guard Self.hasWarmedUp(list, fixture) else { exit(5) }
      // The parent's writer has to wait until the child is done.
      list.state.own.user.disk.lock()
      list.set(1, forKey: "parent")
      let child = fork()
      if child == 0 {
        // Visible, but not ours to write; what the child sets is.
        guard list.integer("parent") == 1 else { _exit(1) }
        list.set(2, forKey: "child")
        guard list.synchronize() else { _exit(2) }
        guard let stored = fixture.stored(), stored["child"] == 2, stored["parent"] == nil else { _exit(3) }
        list.set(3, forKey: "late")
        exit(0)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      list.state.own.user.disk.unlock()
      guard status == 0 else { exit(EXIT_FAILURE) }
      list.set(4, forKey: "parent")
      exit(list.synchronize() ? 0 : 1)
    }
    #expect(fixture.stored() == ["parent": 4, "child": 2, "late": 3])
  }

  @Test func aForkedChildReadsAndWatches() async {
    let fixture = Fixture()
    fixture.install([Fixture.Line(key: "k", value: 1)])
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let fixture = Fixture(in: directory)
      let list = fixture.list(observes: true)
      guard Self.hasWarmedUp(list, fixture) else { exit(5) }
      let child = fork()
      if child == 0 {
        guard list.integer("k") == 1, list.isForced("k") else { _exit(1) }
        fixture.install([Fixture.Line(key: "k", value: 2)], generation: 2)
        let heard = Heard()
        let subscription = list.onChange(heard.note)
        guard eventually({ list.integer("k") == 2 }) else { _exit(2) }
        subscription.cancel()
        _exit(0)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      exit(status == 0 ? 0 : 1)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to become two users"))
  func rootWithSomebodyElsesHomeLeavesNothingThere() async {
    let fixture = Fixture()
    fixture.store(["k": 1])
    fixture.give(to: 1234)
    let before = try! FileMetadata.of(fixture.file())
    let list = fixture.list()
    #expect(list.integer("k") == 1)
    list.set(2, forKey: "k")
    list.setPersistentDomain(["x": 1], forName: "org.example.New")
    #expect(!list.synchronize())
    #expect(
      list.faults.first?.message
        == "cannot write as root in another user's directory \(fixture.configuration): Operation not permitted")
    #expect(try! FileMetadata.of(fixture.file()) == before)
    #expect(try! Directory.names(in: fixture.configuration) == ["\(Fixture.domain).plist"])
    // The user herself is not hindered.
    chmod(fixture.directory, 0o755)
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      guard setgid(1234) == 0, setuid(1234) == 0 else { exit(1) }
      let list = Fixture(in: directory).list()
      list.set(3, forKey: "k")
      exit(list.synchronize() ? 0 : 1)
    }
    #expect(fixture.stored() == ["k": 3])
    #expect(try! FileMetadata.of(fixture.file()).userID == 1234)
    #expect(try! FileMetadata.of(fixture.file()).permissions == 0o600)
  }

  /// What an earlier mishap left to root is still in her home.
  @Test(.enabled(if: geteuid() == 0, "needs root, to have somebody else's home"))
  func rootWritesNowhereBelowSomebodyElsesHome() throws {
    let fixture = Fixture()
    chown(fixture.home, 1234, 1234)
    fixture.store(["k": 1])
    let list = fixture.list()
    list.set(2, forKey: "k")
    #expect(!list.synchronize())
    #expect(
      list.faults.map(\.message) == [
        "cannot write as root in another user's directory \(fixture.home): Operation not permitted"
      ])
    // Nor through a link of hers, though it leads to a folder of root's.
    let linked = Fixture()
    try Directory.remove(linked.configuration)
    chown(linked.home, 1234, 1234)
    try Directory.create(linked.directory + "/elsewhere")
    symlink(linked.directory + "/elsewhere", linked.configuration)
    let other = linked.list()
    other.set(1, forKey: "k")
    #expect(!other.synchronize())
    #expect(try Directory.names(in: linked.directory + "/elsewhere") == [])
    // Nor where the file is the link: root's link into her home, and her link to root's file.
    let planted = Fixture()
    let hers = planted.directory + "/hers.plist"
    symlink(fixture.file(), hers)
    #expect(throws: PreferencesFault.self) {
      try PersistentDomain(path: hers, in: planted.locations).change { $0["k"] = 3 }
    }
    unlink(hers)
    planted.store(["k": 1])
    symlink(planted.file(), hers)
    lchown(hers, 1234, 1234)
    #expect(throws: PreferencesFault.self) {
      try PersistentDomain(path: hers, in: Fixture().locations).change { $0["k"] = 3 }
    }
    #expect(try PersistentDomain(path: planted.file(), in: planted.locations).read() == ["k": 1])
    #expect(try PersistentDomain(path: fixture.file(), in: fixture.locations).read() == ["k": 1])
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to become somebody who may not write"))
  func aReadOnlyFileIsLeftAlone() async {
    let fixture = Fixture()
    fixture.store(["k": 1])
    chmod(fixture.file(), 0o444)
    fixture.give(to: 1234)
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      guard setgid(1234) == 0, setuid(1234) == 0 else { exit(1) }
      let list = Fixture(in: directory).list()
      list.set(2, forKey: "k")
      exit(!list.synchronize() && list.faults.map(\.kind) == [.unwritable] ? 0 : 1)
    }
    #expect(fixture.stored() == ["k": 1])
  }

  /// Foundation reads what we write, and we what it writes (XML, on Linux).
  @Test func filesAreFoundations() throws {
    let fixture = Fixture()
    let list = fixture.list()
    list.set("ours", forKey: "text")
    list.set(.array([1, "a", 2.5, true]), forKey: "list")
    #expect(list.synchronize())
    let ours = try #require(
      PropertyListSerialization.propertyList(
        from: Data(contentsOf: URL(fileURLWithPath: fixture.file())), format: nil) as? NSDictionary)
    #expect(ours == ["text": "ours", "list": [1, "a", 2.5, true] as [Any]] as NSDictionary)
    try PropertyListSerialization.data(
      fromPropertyList: ["text": "theirs", "n": 3] as [String: Any], format: .xml, options: 0
    ).write(to: URL(fileURLWithPath: fixture.file()), options: .atomic)
    list.synchronize()
    #expect(list.dictionaryRepresentation() == ["text": "theirs", "n": 3])
  }

  /// Kernels without membarrier: readers fence for themselves, and what is replaced is freed all the same.
  @Test func withoutMembarrierReadersFence() async {
    let fixture = Fixture()
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      reader_epoch_force_fences()
      let list = Fixture(in: directory).list()
      for round in 0..<500 {
        list.set(.integer(PropertyListInteger(round)), forKey: "k\(round)")
        guard list.integer("k\(round)") == round else { exit(1) }
      }
      let section = reader_epoch_enter()
      guard !Engine.shared.lock.withLock({ reader_epoch_wait(2) }) else { exit(2) }
      reader_epoch_exit(section)
      guard Engine.shared.lock.withLock({ reader_epoch_wait(1000) }) else { exit(3) }
      var all: UInt32 = 0
      var owned: UInt32 = 0
      reader_epoch_count(&all, &owned)
      exit(all >= 1 && list.synchronize() ? 0 : 4)
    }
    #expect(fixture.stored()?.count == 500)
  }

  /// On a file system that other machines may change, nobody relies on inotify: each second's look opens the file.
  @Test func aSharedFileSystemIsLookedAt() async {
    let fixture = Fixture()
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let fixture = Fixture(in: directory)
      let asked = Mutex<Set<String>>([])
      Engine.shared.lock.withLock {
        Engine.shared.isSharedDirectory = { directory in
          asked.withLock { _ = $0.insert(directory) }
          return true
        }
      }
      guard Self.isInotifyRefused() else { exit(0) }
      let list = fixture.list(observes: true)
      let heard = KeyObservationTests.Told()
      let subscription = list.observe("k", handler: heard.note)
      fixture.store(["k": 1])
      guard eventually({ heard.all == ["otherProcess: nil -> 1"] }) else { exit(1) }
      fixture.store(["k": 2])
      guard list.synchronize(), list.integer("k") == 2 else { exit(2) }
      subscription.cancel()
      exit(asked.withLock { $0.contains(fixture.configuration) } ? 0 : 3)
    }
  }

  /// Leaves this process none of inotify's instances. To use them up would take them from the user's other processes, the tests'
  /// own among them.
  private static func isInotifyRefused() -> Bool {
    if RefusedSystemCall.refuse("inotify_init1", EMFILE), inotify_init1(Int32(IN_CLOEXEC)) < 0 { return true }
    print("SKIPPED: the kernel lets no system call be refused")
    return false
  }

  /// Two hundred processes of one user may have more lists that observe than the kernel has inotify instances.
  @Test func withoutInotifyObserversAreToldAllTheSame() async {
    let fixture = Fixture()
    fixture.install([Fixture.Line(key: "k", value: 1)])
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let fixture = Fixture(in: directory)
      guard Self.isInotifyRefused() else { exit(0) }
      let list = fixture.list(observes: true)
      let heard = Heard()
      let subscription = list.onChange(heard.note)
      fixture.install([Fixture.Line(key: "k", value: 2)], generation: 2)
      let isTold = heard.wait { $0.source == .policy }
      subscription.cancel()
      exit(isTold && list.integer("k") == 2 ? 0 : 1)
    }
  }
}

/// Swift hides `fork`; a library must nevertheless bear being forked.
let fork: @convention(c) () -> pid_t = {
  unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
}()
