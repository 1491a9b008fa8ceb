import AuditEvents
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

@Suite struct PersistentDomainTests {
  @Test func changesReachTheDiskByThemselves() {
    let fixture = Fixture()
    let list = fixture.list()
    #expect(list.set(1, forKey: "a"))
    #expect(list.integer("a") == 1, "visible at once")
    #expect(eventually { fixture.stored() == ["a": 1] })
    let bytes = try! WholeFile.read(fixture.file())
    #expect(bytes.bytes.starts(with: Array("bplist00".utf8)))
    #expect(bytes.metadata.permissions == 0o600)
  }

  @Test func synchronizeWaitsForTheDiskAndTakesInWhatOthersChanged() throws {
    let fixture = Fixture()
    fixture.store(["theirs": 1])
    let list = fixture.list()
    let lock = try fixture.lock()
    list.set("mine", forKey: "mine")
    fixture.store(["theirs": 2, "new": 3])
    _ = consume lock
    #expect(list.synchronize())
    #expect(fixture.stored() == ["theirs": 2, "new": 3, "mine": "mine"])
    #expect(list.integer("theirs") == 2)
    #expect(list.integer("new") == 3)
    fixture.store(["only": 4])
    #expect(list.synchronize())
    #expect(list.dictionaryRepresentation() == ["only": 4])
  }

  @Test func removalsReachTheDiskToo() {
    let fixture = Fixture()
    fixture.store(["a": 1, "b": 2])
    let list = fixture.list()
    #expect(list.set(nil, forKey: "a"))
    #expect(!list.removeValue(forKey: "missing"))
    #expect(list.value("a") == nil)
    #expect(list.synchronize())
    #expect(fixture.stored() == ["b": 2])
  }

  @Test func listsOfOneProcessShareTheirDomains() {
    let fixture = Fixture()
    let a = fixture.list()
    let b = fixture.list()
    let suite = fixture.list("org.example.Other")
    #expect(suite.addSuite(Fixture.domain))
    let heard = Heard()
    let subscription = b.onChange(heard.note)
    a.set(1, forKey: "k")
    #expect([a, b, suite].map { $0.integer("k") } == [1, 1, 1])
    #expect(heard.all == [SearchListChange(source: .otherList, persistentDomain: Fixture.domain, keys: ["k"])])
    #expect(b.removePersistentDomain(forName: Fixture.domain))
    #expect([a, b, suite].map { $0.value("k") } == [nil, nil, nil])
    subscription.cancel()
    a.set(2, forKey: "k")
    #expect(heard.all.count == 2)
  }

  @Test func observersAreToldOnTheCallingThreadAndMayCallBack() {
    let fixture = Fixture()
    fixture.install([Fixture.Line(key: "forced", value: 1)])
    let list = fixture.list()
    let heard = Heard()
    let thread = pthread_self()
    let subscription = list.onChange { change in
      heard.note(change)
      #expect(pthread_equal(thread, pthread_self()) != 0)
      if change.keys == ["a"] { list.set(list.value("a"), forKey: "copy") }
    }
    list.set(1, forKey: "a")
    list.set(1, forKey: "a")
    list.set(1, forKey: "forced")
    list.register(["r": 1])
    list.removeValue(forKey: "missing")
    #expect(
      heard.all == [
        SearchListChange(source: .receiver, persistentDomain: Fixture.domain, keys: ["a"]),
        SearchListChange(source: .receiver, persistentDomain: Fixture.domain, keys: ["copy"]),
        SearchListChange(source: .receiver, persistentDomain: Fixture.domain, keys: []),
        SearchListChange(source: .receiver, persistentDomain: nil, keys: ["r"]),
      ])
    #expect(list.integer("copy") == 1)
    subscription.cancel()
  }

  @Test func anObserverIsToldOfOtherProcesses() {
    let fixture = Fixture()
    let list = fixture.list(observes: true)
    let heard = Heard()
    let subscription = list.onChange(heard.note)
    fixture.store(["k": 1])
    #expect(heard.wait { $0 == SearchListChange(source: .otherProcess, persistentDomain: Fixture.domain, keys: ["k"]) })
    #expect(list.integer("k") == 1)
    subscription.cancel()
  }

  @Test func domainsByName() throws {
    let fixture = Fixture()
    fixture.install([Fixture.Line(key: "forced", value: 1)])
    fixture.store(["old": 1])
    fixture.store(["g": 1], GlobalDomain.name)
    let list = fixture.list()
    // Until another process has written: nothing of ours reaches the disk before.
    let lock = try fixture.lock()
    #expect(list.persistentDomainNames == ["NSGlobalDomain", Fixture.domain])
    #expect(list.persistentDomain(forName: Fixture.domain) == ["old": 1], "without forced values")
    #expect(list.persistentDomain(forName: "org.example.None") == nil)
    #expect(list.persistentDomain(forName: "../x") == nil)
    #expect(list.setPersistentDomain(["new": 2], forName: Fixture.domain))
    #expect(list.dictionaryRepresentation() == ["new": 2, "g": 1, "forced": 1])
    #expect(list.setPersistentDomain(["x": 1], forName: "org.example.Else"))
    #expect(!list.setPersistentDomain(["x": 1], forName: "a/b"))
    #expect(list.persistentDomainNames == ["NSGlobalDomain", Fixture.domain, "org.example.Else"])
    fixture.store(["old": 1, "theirs": 1])
    _ = consume lock
    #expect(list.synchronize())
    #expect(fixture.stored() == ["new": 2], "old keys don't come back through the merge")
    #expect(fixture.stored("org.example.Else") == ["x": 1])
    #expect(list.removePersistentDomain(forName: Fixture.domain))
    #expect(!list.removePersistentDomain(forName: Fixture.domain))
    #expect(list.persistentDomain(forName: Fixture.domain) == nil)
    #expect(list.synchronize())
    #expect(fixture.stored() == [:])
    #expect(list.integer("forced") == 1)
  }

  @Test(.disabled(if: Fixture.isContained, "in a container no link is followed")) func modeOwnerAndLinkStay() {
    let fixture = Fixture()
    let target = fixture.directory + "/dotfiles.plist"
    fixture.store(["a": 1])
    try! Directory.rename(fixture.file(), to: target)
    symlink(target, fixture.file())
    chmod(target, 0o644)
    let list = fixture.list()
    list.set(2, forKey: "b")
    #expect(list.synchronize())
    #expect(SymbolicLink.target(of: fixture.file()) == target)
    #expect(fixture.stored() == ["a": 1, "b": 2])
    #expect(try! FileMetadata.of(target).permissions == 0o644)
  }

  @Test(arguments: ["not a property list", "", "(1, 2)", "bplist00"]) func aDamagedFileIsKeptAside(text: String) throws
  {
    let fixture = Fixture()
    try! AtomicReplacement.write(Array(text.utf8), to: fixture.file(), mode: 0o600)
    let list = fixture.list()
    #expect(list.faults.map(\.kind) == [.damaged])
    #expect(fixture.sink.taken(.domainDamaged).count == 1)
    #expect(try! WholeFile.read(fixture.file()).bytes == Array(text.utf8), "reading changes nothing")
    list.register(["a": 1])
    #expect(list.integer("a") == 1)
    list.set(2, forKey: "a")
    #expect(list.synchronize())
    #expect(fixture.stored() == ["a": 2])
    let folder = FilePath.parent(of: fixture.file())
    let aside = try! Directory.names(in: folder).filter { $0.contains(".plist.damaged-") }
    try #require(aside.count == 1)
    #expect(try! WholeFile.read(folder + "/" + aside[0]).bytes == Array(text.utf8))
    #expect(list.faults.map(\.kind) == [.movedAside])
    // Told after the writing, which the background may have done.
    #expect(eventually { fixture.sink.taken(.domainDamaged).count == 2 })
  }

  @Test func aFileThatCannotBeReadIsNeverOverwritten() {
    let fixture = Fixture()
    try! Directory.create(fixture.file())
    let list = fixture.list()
    #expect(list.faults.map(\.kind) == [.unreadable])
    list.set(1, forKey: "a")
    #expect(!list.synchronize())
    #expect(list.integer("a") == 1, "visible to this process all the same")
    #expect(list.faults.map(\.kind) == [.unreadable, .unwritable])
    #expect(eventually { fixture.sink.taken(.domainUnwritable).count == 1 })
    #expect(try! FileMetadata.of(fixture.file()).isDirectory)
    try! Directory.remove(fixture.file())
    #expect(list.synchronize())
    #expect(fixture.stored() == ["a": 1])
    #expect(list.faults == [])
  }

  @Test func aValueThatNoFileCanHoldDoesNotKeepTheOthers() {
    let fixture = Fixture()
    let list = fixture.list()
    var deep = PropertyListValue.array([])
    for _ in 0..<700 { deep = .array([deep]) }
    list.set(deep, forKey: "deep")
    list.set(1, forKey: "a")
    #expect(list.synchronize())
    #expect(fixture.stored() == ["a": 1])
    #expect(list.value("deep") == nil)
    #expect(eventually { fixture.sink.taken(.domainUnwritable).count == 1 })
    let fault = fixture.sink.taken(.domainUnwritable).first?["fault"]?.stringValue
    #expect(fault?.hasPrefix("the value of 'deep' is lost: ") == true)
  }

  @Test func aLockThatAnotherProcessHoldsStopsNeitherSetsNorReads() throws {
    let fixture = Fixture()
    let list = fixture.list()
    let locks = fixture.configuration + "/managed-preferences/locks"
    try Directory.createAll(locks, mode: 0o700)
    do {
      let lock = try FileLock.exclusive(locks + "/\(Fixture.domain).lock")
      defer { extendLifetime(lock) }
      list.set(1, forKey: "a")
      #expect(list.integer("a") == 1)
      #expect(!Engine.shared.writer.flush(list.state.own.user, lockTimeout: 0.05))
      #expect(fixture.stored() == nil)
      // The locked domain does not hold up another.
      let other = fixture.list("org.example.Other")
      other.set(2, forKey: "b")
      #expect(eventually { fixture.stored("org.example.Other") == ["b": 2] })
    }
    #expect(eventually { fixture.stored() == ["a": 1] })
  }

  @Test func manyKeysAndLargeValues() {
    let fixture = Fixture()
    let list = fixture.list()
    for number in 0..<3000 { list.set(.integer(PropertyListInteger(number)), forKey: "key\(number)") }
    list.set(.data([UInt8](repeating: 7, count: 5_000_000)), forKey: "blob")
    let key = String(repeating: "k", count: 10_000)
    list.set(1, forKey: key)
    #expect((0..<3000).allSatisfy { list.integer("key\($0)") == $0 })
    #expect(list.synchronize())
    #expect((0..<3000).allSatisfy { list.integer("key\($0)") == $0 })
    let stored = fixture.stored() ?? [:]
    #expect(stored.count == 3002)
    #expect(stored["blob"]?.dataValue?.count == 5_000_000)
    #expect(list.integer(key) == 1)
    #expect(fixture.list().dictionaryRepresentation() == stored)
  }

  @Test func readsXMLAndOldStyle() throws {
    let fixture = Fixture()
    try AtomicReplacement.write(Array("{ a = \"b c\"; n = (1, 2); }".utf8), to: fixture.file(), mode: 0o600)
    #expect(fixture.list().dictionaryRepresentation() == ["a": "b c", "n": .array(["1", "2"])])
  }
}
