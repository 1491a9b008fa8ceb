import AuditEvents
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

/// The files below and above an application's own: of this host, for any user, of another account.
@Suite struct LayerFilesTests {
  // MARK: Per-host files

  @Test func anOlderPerHostValueStaysInFrontAndCanBeTold() throws {
    let fixture = Fixture()
    try PersistentDomain(Fixture.domain, host: .current, in: fixture.locations).change { $0["k"] = 1 }
    let list = fixture.list()
    #expect(list.set(2, forKey: "k"), "it is stored")
    #expect(list.value("k") == 1, "which is not what was just set")
    let resolution = list.resolution(of: "k")
    #expect(resolution.winner == .applicationHost)
    #expect(resolution.considered.first { $0.value != nil }?.path == fixture.file(host: .current))
    #expect(resolution.considered.first { $0.layer == .application }?.value == 2)
    #expect(!list.isForced("k"))
    try PersistentDomain(Fixture.domain, host: .current, in: fixture.locations).change { $0["k"] = nil }
    #expect(list.synchronize())
    #expect(list.integer("k") == 2)
    #expect(list.persistentDomain(forName: Fixture.domain) == ["k": 2], "the file for any host alone")
    #expect(list.persistentDomainNames == ["NSGlobalDomain", Fixture.domain])
  }

  @Test func anotherHostsFilesAreNotRead() throws {
    let fixture = Fixture()
    fixture.store(["k": 1], host: .named("ffffffffffffffffffffffffffffffff"))
    #expect(fixture.list().value("k") == nil)
  }

  /// Directories that are not there at first, above all.
  @Test(arguments: [PersistentDomain.User.current, .any], [PersistentDomain.Host.any, .current])
  func filesThatAppearAreSeen(user: PersistentDomain.User, host: PersistentDomain.Host) throws {
    let fixture = Fixture()
    try Directory.createAll(fixture.installation.configurationDirectory)
    let watching = fixture.list(observes: true)
    let heard = Heard()
    let subscription = watching.onChange(heard.note)
    let asking = fixture.list()
    #expect(asking.value("k") == nil)
    fixture.store(["k": 1], GlobalDomain.name, user: user, host: host)
    #expect(heard.wait { $0.source == .otherProcess && $0.keys == ["k"] })
    #expect(watching.integer("k") == 1)
    #expect(asking.synchronize())
    #expect(asking.integer("k") == 1)
    try Directory.removeTree(FilePath.parent(of: fixture.file(user: user, host: host)))
    if user == .current, host == .any { try Directory.createAll(fixture.configuration) }
    #expect(asking.synchronize())
    #expect(asking.value("k") == nil)
    subscription.cancel()
  }

  // MARK: Files for any user

  @Test func aFileForAnyUserThatOthersCouldWriteIsPassedOver() throws {
    let fixture = Fixture()
    fixture.store(["k": "everybody's"], user: .any)
    chmod(fixture.file(user: .any), 0o646)
    let list = fixture.list()
    list.register(["k": "registered"])
    #expect(list.string("k") == "registered")
    let fault = PreferencesFault(
      .untrusted, path: fixture.file(user: .any), message: "the file can be written by others than root")
    #expect(list.faults == [fault])
    #expect(list.synchronize())
    #expect(
      fixture.sink.taken(.domainDamaged) == [
        ["domain": .string(Fixture.domain), "path": .string(fault.path), "fault": .string(fault.message)]
      ], "told once")
    chmod(fixture.file(user: .any), 0o644)
    #expect(list.synchronize())
    #expect(list.string("k") == "everybody's")
    #expect(list.faults == [])
  }

  @Test func aDirectoryThatOthersCanWriteIsNotBelieved() throws {
    let fixture = Fixture()
    fixture.store(["k": 1], user: .any)
    let folder = fixture.installation.anyUserDefaultsDirectory
    chmod(folder, 0o757)
    let list = fixture.list()
    #expect(list.value("k") == nil)
    let fault = PreferencesFault(
      .untrusted, path: folder, message: "the directory can be written by others than root")
    #expect(list.faults == [fault], "once, for all files in it")
    chmod(folder, 0o755)
    #expect(list.synchronize())
    #expect(list.integer("k") == 1)
    #expect(list.faults == [])
  }

  @Test func whatHoldsForAnyUserIsNeverWrittenByASet() {
    let fixture = Fixture()
    fixture.store(["k": 1, "other": 1], user: .any)
    let list = fixture.list()
    #expect(list.set(2, forKey: "k"))
    #expect(list.removeValue(forKey: "other") == false, "there is none of the user's to remove")
    #expect(list.integer("other") == 1)
    #expect(list.removePersistentDomain(forName: Fixture.domain))
    #expect(list.integer("k") == 1)
    #expect(list.synchronize())
    // The first set may have been written before the domain was emptied.
    #expect((fixture.stored() ?? [:]).isEmpty)
  }

  // MARK: Persistent domains

  @Test func aRemovedDomainIsEmptyEverywhereAndForcedValuesStay() throws {
    let fixture = Fixture()
    fixture.install([
      Fixture.Line(key: "forced", value: 1), Fixture.Line(domain: "org.example.Suite", key: "lock", value: true),
    ])
    fixture.store(["a": 1, "forced": 2], "org.example.Suite")
    fixture.store(["b": 1])
    fixture.store(["c": 1], "org.example.Suite", host: .current)
    let application = fixture.list()
    #expect(application.addSuite("org.example.Suite"))
    let suite = fixture.list("org.example.Suite", application: Fixture.domain)
    let other = fixture.list("org.example.Other")
    let heard = Heard()
    let subscription = suite.onChange(heard.note)
    #expect(other.removePersistentDomain(forName: "org.example.Suite"))
    #expect(
      heard.all == [
        SearchListChange(source: .otherList, persistentDomain: "org.example.Suite", keys: ["a", "forced"])
      ])
    for list in [application, suite] {
      #expect(list.value("a") == nil)
      #expect(list.value("lock") == true && list.isForced("lock"))
      #expect(list.integer("c") == 1, "this host's file is another domain's")
    }
    #expect(application.integer("b") == 1)
    #expect(application.integer("forced") == 1)
    #expect(other.synchronize())
    #expect(fixture.stored("org.example.Suite") == [:])
    #expect(fixture.stored() == ["b": 1])
    #expect(other.persistentDomain(forName: "org.example.Suite") == nil)
    #expect(!other.removePersistentDomain(forName: "org.example.Suite"), "nothing is left to remove")
    subscription.cancel()
  }

  /// A stored false, and nothing: the two that a getter of booleans can't tell apart.
  @Test func aStoredFalseIsNotAbsent() {
    let list = Fixture().list()
    list.set(false, forKey: "no")
    #expect(!list.bool("no") && !list.bool("missing"))
    #expect(list.value("no") == false)
    #expect(list.value("missing") == nil)
    list.set("abc", forKey: "token")
    list.set(nil, forKey: "token")
    #expect(list.string("token") == nil && list.value("token") == nil)
    #expect(list.persistentDomain(forName: Fixture.domain) == ["no": false])
  }

  @Test func twoProcessesShareASuite() async {
    let fixture = Fixture()
    fixture.install([Fixture.Line(domain: "group.lab", key: "forced", value: 1)])
    let reader = fixture.list("group.lab", application: Fixture.domain, observes: true)
    #expect(reader.isForced("forced"))
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let list = Fixture(in: directory).list("group.lab", application: "org.example.Writer")
      list.set("theirs", forKey: "shared")
      exit(list.isForced("forced") && list.synchronize() ? 0 : 1)
    }
    #expect(eventually { reader.string("shared") == "theirs" })
  }

  // MARK: Other accounts

  @Test func anUnknownAccountHasNoList() {
    #expect(SearchList.Configuration(account: "no-such-account-here") == nil)
  }

  @Test func theAccountOfThisProcessHasItsOwnPlaces() throws {
    let name = try #require(try UserDatabase.user(id: geteuid())?.name)
    let configuration = try #require(SearchList.Configuration(account: name, applicationDomain: Fixture.domain))
    #expect(configuration.locations == .current())
    #expect(configuration.domain == Fixture.domain)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, who may read every account's files"))
  func rootReadsAnotherAccountsList() throws {
    let account = try #require(try UserDatabase.user(named: "nobody"))
    let configuration = try #require(SearchList.Configuration(account: "nobody", applicationDomain: Fixture.domain))
    #expect(configuration.homeDirectory == account.homeDirectory)
    #expect(configuration.configurationDirectory == account.homeDirectory + "/.config")
    #expect(configuration.userFacts.userID == account.userID)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to become somebody else"))
  func anAccountWhoseFilesMayNotBeReadHasNoList() async {
    await #expect(processExitsWith: .success) {
      // Root's home is nobody else's to read, as a rule; where it is, its files decide.
      let isOpen = (try? FileMetadata.of("/root"))?.permissions ?? 0
      if setgid(65534) != 0 || setuid(65534) != 0 { exit(2) }
      let configuration = SearchList.Configuration(account: "root", applicationDomain: Fixture.domain)
      exit(configuration == nil || isOpen & 0o005 == 0o005 ? 0 : 1)
    }
  }
}
