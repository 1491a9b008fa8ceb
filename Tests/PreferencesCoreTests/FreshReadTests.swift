import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
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

  /// Another process keeps the domain's lock: sets and reads go on, and so does the policy.
  @Test func aHeldLockHoldsUpNobody() throws {
    let fixture = Fixture()
    var lines = (0..<10_000).map { Fixture.Line(key: "forced\($0)", value: .integer(PropertyListInteger($0))) }
    fixture.install(lines)
    fixture.store(["a": 1, "b": 2, "c": 3, "d": 4])
    let list = fixture.list(observes: true)
    let holder = Peer("hold", fixture)
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
    #expect(holder.wait() == .code(0))
    #expect(eventually { fixture.stored()?["e"] == 5 })
  }
}
