import Glibc
import LinuxFiles
import PropertyList
import Synchronization
import TestPrograms
import Testing

@testable import PreferencesCore

/// What is on the disk after a process has ended, in whatever way.
@Suite struct EndOfProcessTests {
  let fixture = Fixture()
  /// What `PreferencesPeer end` sets.
  static let set: [String: PropertyListValue] = [
    "a": "x", "b": true, "c": .date(PropertyListDate(secondsSinceReferenceDate: 700_000_000.123456)),
  ]

  @Test(arguments: ["return", "exit"]) func aNormalEndLosesNothing(way: String) throws {
    fixture.store(["before": 1])
    #expect(try Peer.start("end", fixture, way).wait() == 0)
    #expect(fixture.stored() == Self.set.merging(["before": 1]) { a, _ in a })
  }

  @Test func twoSetsAMillisecondApartAreBothThere() throws {
    #expect(try Peer.start("end", fixture, "two").wait() == 0)
    #expect(fixture.stored() == Self.set.merging(["b": false]) { _, b in b })
  }

  @Test func aProcessThatGoesOnWritesByItself() throws {
    // It waits until its values are on the disk, and ends without a word.
    #expect(try Peer.start("end", fixture, "later").wait() == 0)
    #expect(fixture.stored() == Self.set)
  }

  @Test(arguments: [
    ("fatal", -SIGTRAP), ("terminate", -SIGTERM), ("kill", -SIGKILL),
    ("_exit", 0),
  ])
  func anAbruptEndLosesTheLastMomentAtMost(way: String, end: Int32) throws {
    fixture.store(["before": 1])
    // No backtrace of a death on purpose.
    let quietly = ["/usr/bin/env", "SWIFT_BACKTRACE=enable=no"]
    let ended = try StartedProgram(
      quietly + [Peer.program, "end", fixture.directory, way], errors: .nothing
    ).wait()
    // A trap is SIGILL on x86.
    #expect(ended == end || (way == "fatal" && ended == -SIGILL))
    let stored = try #require(fixture.stored(), "the file is whole")
    #expect(stored["before"] == 1)
    for (key, value) in stored where key != "before" { #expect(Self.set[key] == value) }
    let names = try Directory.names(in: fixture.configuration)
    #expect(!names.contains { $0.contains(".damaged-") })
    let list = fixture.list()
    list.set(2, forKey: "after")
    #expect(list.synchronize(), "the lock fell with its holder")
  }

  @Test func parentAndForkedChildBothSet() async {
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let list = Fixture(in: directory).list()
      let subscription = list.observe("shared") { _ in }
      // A fork waits for the writer for a moment only: what a thread needs once has been made before.
      list.set(0, forKey: "parent0")
      guard list.synchronize() else { exit(4) }
      for round in 0..<20 {
        list.set(.integer(PropertyListInteger(round)), forKey: "parent\(round)")
        let child = fork()
        if child == 0 {
          list.set(.integer(PropertyListInteger(round)), forKey: "child\(round)")
          list.set("child", forKey: "shared")
          exit(list.synchronize() ? 0 : 1)
        }
        list.set("parent", forKey: "shared")
        var status: Int32 = 0
        waitpid(child, &status, 0)
        guard status == 0 else { exit(2) }
      }
      subscription.cancel()
      exit(list.synchronize() ? 0 : 3)
    }
    let stored = fixture.stored() ?? [:]
    for round in 0..<20 {
      #expect(stored["parent\(round)"] == .integer(PropertyListInteger(round)))
      #expect(stored["child\(round)"] == .integer(PropertyListInteger(round)))
    }
    #expect(stored.count == 41)
  }

  /// A fork comes between what the background has taken in and the tables: the child fills them at its first look.
  @Test func aForkedChildFillsWhatItsParentHadStillToFill() async {
    fixture.install([])
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let parent = getpid()
      let isThere = Atomic(false)
      let list = Fixture(in: directory).list(
        observes: true,
        roaming: { place throws(PreferencesFault) in
          isThere.store(true, ordering: .relaxed)
          while getpid() == parent { usleep(1000) }
          throw PreferencesFault(.notRoaming, path: place.directory, message: "the store can't be opened")
        })
      let subscription = list.observe("k") { _ in }
      Fixture(in: directory).install(
        [Fixture.Line(key: "k", value: 1)], roaming: [Fixture.domain: ["Theme"]], generation: 2)
      guard eventually({ isThere.load(ordering: .relaxed) }) else { exit(1) }
      guard !list.isForced("k") else { exit(2) }
      let child = fork()
      if child == 0 {
        // Starts the child's watcher.
        let subscription = list.observe("other") { _ in }
        defer { subscription.cancel() }
        _exit(eventually { list.isForced("k") && list.integer("k") == 1 } ? 0 : 3)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      subscription.cancel()
      _exit(status == 0 ? 0 : 4)
    }
  }
}
