import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

/// Persistent domains by name and place, and by path.
@Suite struct DomainPlaceTests {
  private struct Stop: Error {}

  private func fault(_ body: () throws -> Void) -> PreferencesFault? {
    do { try body() } catch { return error as? PreferencesFault }
    return nil
  }

  @Test func everyPlaceHasItsFile() throws {
    let fixture = Fixture()
    let (users, any) = (fixture.configuration, fixture.installation.anyUserDefaultsDirectory)
    let host = Fixture.host
    #expect(fixture.file() == "\(users)/org.example.Editor.plist")
    #expect(fixture.file(host: .current) == "\(users)/ByHost/org.example.Editor.\(host).plist")
    #expect(fixture.file(host: .named("lab-b-1")) == "\(users)/ByHost/org.example.Editor.lab-b-1.plist")
    #expect(fixture.file(GlobalDomain.name) == "\(users)/.GlobalPreferences.plist")
    #expect(fixture.file(GlobalDomain.name, host: .current) == "\(users)/ByHost/.GlobalPreferences.\(host).plist")
    #expect(fixture.file(user: .any) == "\(any)/org.example.Editor.plist")
    #expect(
      fixture.file(GlobalDomain.name, user: .any, host: .current) == "\(any)/ByHost/.GlobalPreferences.\(host).plist")
    #expect(throws: DomainNameFault.slash("a/b")) { try PersistentDomain("a/b", in: fixture.locations) }
    #expect(throws: DomainNameFault.slash("../x")) {
      try PersistentDomain("a", host: .named("../x"), in: fixture.locations)
    }
  }

  @Test(arguments: [PersistentDomain.User.current, .any], [PersistentDomain.Host.any, .current, .named("lab-b-1")])
  func whatIsWrittenIsReadAndListed(user: PersistentDomain.User, host: PersistentDomain.Host) throws {
    let fixture = Fixture()
    let domain = try PersistentDomain(Fixture.domain, user: user, host: host, in: fixture.locations)
    let global = try PersistentDomain(GlobalDomain.name, user: user, host: host, in: fixture.locations)
    #expect(try domain.read() == nil)
    #expect(try PersistentDomain.names(in: fixture.locations, user: user, host: host) == [])
    #expect(
      try domain.change { values in
        values["a"] = true
        values["b"] = 1.5
        return values.count
      } == 2)
    try global.change { $0["g"] = 1 }
    #expect(try domain.read() == ["a": true, "b": 1.5])
    #expect(
      try PersistentDomain.names(in: fixture.locations, user: user, host: host) == ["NSGlobalDomain", Fixture.domain])
    let metadata = try FileMetadata.of(domain.path)
    #expect(metadata.permissions == (user == .any ? 0o644 : 0o600))
    try domain.change { $0 = [:] }
    #expect(try domain.read() == [:], "there, and empty")
  }

  @Test func oneHostsFilesAreNoOthers() throws {
    let fixture = Fixture()
    for host in [PersistentDomain.Host.any, .current, .named("lab-b-1")] {
      try PersistentDomain(Fixture.domain, host: host, in: fixture.locations).change { $0["k"] = .string("\(host)") }
    }
    #expect(try PersistentDomain(Fixture.domain, in: fixture.locations).read() == ["k": "any"])
    #expect(try PersistentDomain(Fixture.domain, host: .current, in: fixture.locations).read() == ["k": "current"])
    #expect(try PersistentDomain.names(in: fixture.locations, host: .named("lab-b-1")) == [Fixture.domain])
    #expect(try PersistentDomain.names(in: fixture.locations, host: .named("lab-b-2")) == [])
  }

  @Test func aBodyThatChangesNothingOrThrowsLeavesTheFileAlone() throws {
    let fixture = Fixture()
    fixture.store(["a": 1])
    let before = try WholeFile.read(fixture.file())
    let domain = try PersistentDomain(Fixture.domain, in: fixture.locations)
    #expect(try domain.change { $0["a"] } == 1)
    #expect(throws: Stop.self) {
      try domain.change { values in
        values["a"] = 2
        throw Stop()
      }
    }
    let after = try WholeFile.read(fixture.file())
    #expect(after.metadata.isSameVersion(as: before.metadata))
  }

  @Test func aDamagedFileIsKeptAside() throws {
    let fixture = Fixture()
    try AtomicReplacement.write(Array("{broken".utf8), to: fixture.file(), mode: 0o600, durable: false)
    let domain = try PersistentDomain(Fixture.domain, in: fixture.locations)
    #expect(fault { _ = try domain.read() }?.kind == .damaged)
    var remarks: [PreferencesFault] = []
    func note(_ fault: PreferencesFault) { remarks.append(fault) }
    try domain.change(remark: note) { $0["new"] = 1 }
    #expect(remarks.map(\.kind) == [.movedAside])
    #expect(fixture.stored() == ["new": 1])
    let aside = try #require(try Directory.names(in: fixture.configuration).first { $0.contains(".damaged-") })
    #expect(try WholeFile.read("\(fixture.configuration)/\(aside)").bytes == Array("{broken".utf8))
  }

  @Test func aFileThatCannotBeReadIsNotReplaced() throws {
    let fixture = Fixture()
    try Directory.create(fixture.file())
    let domain = try PersistentDomain(Fixture.domain, in: fixture.locations)
    let expected = PreferencesFault(
      .unreadable, path: fixture.file(), message: "cannot read \(fixture.file()): it is a directory, not a file",
      errno: .isDirectory, isNoFile: true)
    #expect(fault { _ = try domain.read() } == expected)
    #expect(fault { try domain.change { $0["a"] = 1 } } == expected)
  }

  @Test func anotherWriterIsWaitedFor() throws {
    let fixture = Fixture()
    let locks = fixture.configuration + "/managed-preferences/locks"
    try Directory.createAll(locks)
    let lock = try FileLock.exclusive("\(locks)/\(Fixture.domain).lock")
    let domain = try PersistentDomain(Fixture.domain, in: fixture.locations)
    #expect(fault { try domain.change(lockTimeout: 0.01) { $0["a"] = 1 } }?.kind == .busy)
    extendLifetime(lock)
    #expect(fixture.stored() == nil)
  }

  @Test func aValueThatNoFileHoldsIsRefused() throws {
    let fixture = Fixture()
    fixture.store(["a": 1])
    let domain = try PersistentDomain(Fixture.domain, in: fixture.locations)
    let far = PropertyListValue.date(PropertyListDate(secondsSinceReferenceDate: 1e12))
    let fault = fault { try domain.change { $0["far"] = far } }
    #expect(fault?.kind == .unwritable)
    #expect(fault?.message.hasPrefix("the value of 'far' can't be stored: ") == true)
    #expect(fixture.stored() == ["a": 1])
  }

  @Test func domainsByPath() throws {
    let fixture = Fixture()
    let path = fixture.directory + "/somewhere"
    let domain = PersistentDomain(path: path, in: fixture.locations)
    #expect(domain.path == path + ".plist")
    #expect(try domain.read() == nil)
    try domain.change { $0["a"] = 1 }
    #expect(try PersistentDomain(path: path + ".plist", in: fixture.locations).read() == ["a": 1])
    #expect(try Directory.names(in: fixture.directory) == ["home", "root", "somewhere.plist"], "nothing else is left")
    try AtomicReplacement.write(Array("{ b = 2; }".utf8), to: path, mode: 0o600)
    #expect(PersistentDomain(path: path, in: fixture.locations).path == path, "a file of exactly this name")
  }

  @Test func aPathIntoAKnownPlaceIsThatDomain() throws {
    let fixture = Fixture()
    try Directory.createAll(fixture.configuration + "/ByHost")
    symlink(fixture.configuration, fixture.directory + "/link")
    for host in [PersistentDomain.Host.any, .current, .named("lab-b-1")] {
      let named = try PersistentDomain(Fixture.domain, host: host, in: fixture.locations)
      let linked = fixture.directory + "/link" + named.path.dropFirst(fixture.configuration.count)
      #expect(PersistentDomain(path: named.path, in: fixture.locations).file == named.file)
      #expect(PersistentDomain(path: linked, in: fixture.locations).file == named.file)
      // A link to the file itself, as soon as there is one.
      try named.change { $0["k"] = 1 }
      unlink(fixture.directory + "/file.plist")
      symlink(named.path, fixture.directory + "/file.plist")
      let file = PersistentDomain(path: fixture.directory + "/file", in: fixture.locations)
      #expect(file.file == named.file)
      #expect(file.domainName == Fixture.domain)
    }
  }

  /// `a` of the host `b.c` is not `a.b` of the host `c`.
  @Test func aHostHasNoDot() {
    #expect(throws: DomainNameFault.dotInHost("b.c")) {
      try PersistentDomain("a", host: .named("b.c"), in: Fixture().locations)
    }
  }

  // MARK: For any user

  @Test func whatOthersCouldHaveWrittenForEverybodyIsRefused() throws {
    let fixture = Fixture()
    let domain = try PersistentDomain(Fixture.domain, user: .any, in: fixture.locations)
    try domain.change { $0["a"] = 1 }
    chmod(domain.path, 0o666)
    let writable = PreferencesFault(
      .untrusted, path: domain.path, message: "the file can be written by others than root")
    #expect(fault { _ = try domain.read() } == writable)
    #expect(fault { try domain.change { $0["a"] = 2 } } == writable)
    chmod(domain.path, 0o644)
    #expect(try domain.read() == ["a": 1])
    let folder = fixture.installation.anyUserDefaultsDirectory
    chmod(folder, 0o777)
    #expect(
      fault { _ = try domain.read() }
        == PreferencesFault(.untrusted, path: folder, message: "the directory can be written by others than root"))
    chmod(folder, 0o755)
    if geteuid() == 0 {
      chown(domain.path, 12345, 12345)
      #expect(
        fault { _ = try domain.read() }
          == PreferencesFault(.untrusted, path: domain.path, message: "the file belongs to user 12345, not to root"))
    }
    try Directory.removeFile(domain.path)
    symlink("/etc/hostname", domain.path)
    #expect(
      fault { _ = try domain.read() }
        == PreferencesFault(.untrusted, path: domain.path, message: "is a symbolic link, or no directory"))
  }
}
