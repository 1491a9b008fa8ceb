import AuditEvents
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

/// Where contained applications read and write, by every way there is; and what others see of it.
///
/// What holds of every search list holds contained too: the rest of this folder runs both ways.
@Suite(.disabled(if: Fixture.isContained, "these say themselves what is contained")) struct ContainmentTests {
  static let group = "group.org.example.suite"
  static let fonts = "org.example.Fonts"
  static let foreign = "org.example.Other"

  let fixture = Fixture()
  let directories: ContainerDirectories

  init() { directories = ContainerDirectories(dataDirectory: fixture.home + "/.local/share") }

  /// What the policy says of the applications of these tests.
  private func contain(
    _ grants: [String: (groups: [String], read: [String])], lines: [Fixture.Line] = [], condition: Condition = .always,
    generation: UInt64 = 1
  ) {
    fixture.install(lines, containing: grants, under: condition, generation: generation)
  }

  private func containEditor(_ lines: [Fixture.Line] = []) {
    contain([Fixture.domain: ([Self.group], [Self.fonts]), "org.example.Viewer": ([Self.group], [])], lines: lines)
  }

  private func path(_ domain: String, inContainer application: String = Fixture.domain) -> String {
    directories.home(ofContainer: application) + "/.config/\(domain).plist"
  }

  private func contents(_ path: String) -> [String: PropertyListValue]? {
    guard let (bytes, _) = try? WholeFile.read(path) else { return nil }
    return try? PropertyListCoding.decode(bytes).dictionaryValue
  }

  /// Everything outside of the containers and groups: paths, versions.
  private func outside() throws -> [String: FileMetadata] {
    var found: [String: FileMetadata] = [:]
    func look(_ path: String) throws {
      for name in try Directory.names(in: path) {
        let entry = FilePath.join(path, name)
        if entry == directories.base { continue }
        let metadata = try FileMetadata.of(entry, followingLinks: false)
        // What is on the way to the containers changes when they are made.
        if !directories.base.hasPrefix(entry + "/") { found[entry] = metadata }
        if metadata.isDirectory { try look(entry) }
      }
    }
    try look(fixture.home)
    return found
  }

  // MARK: The redirect

  /// Every entry point, and nothing outside has changed afterwards.
  @Test func nothingOutsideChanges() throws {
    for domain in [Self.foreign, Self.fonts, GlobalDomain.name] { fixture.store(["theirs": 1], domain) }
    containEditor()
    let before = try outside()
    let list = fixture.list()
    list.set(1, forKey: "own")
    #expect(list.addSuite(Self.foreign))
    #expect(list.addSuite(Self.group))
    list.register(["registered": 1])
    #expect(list.setPersistentDomain(["a": 1], forName: "org.example.A"))
    #expect(list.setPersistentDomain(["b": 1], forName: Self.foreign))
    #expect(list.setPersistentDomain(["c": 1], forName: GlobalDomain.name))
    #expect(list.setPersistentDomain(["d": 1], forName: Self.fonts))
    #expect(list.removePersistentDomain(forName: "org.example.A"))
    for name in [Self.foreign, Self.group, GlobalDomain.name, Self.fonts] {
      let other = fixture.list(name, application: Fixture.domain)
      other.set(2, forKey: "set")
      other.removeValue(forKey: "theirs")
      #expect(other.synchronize())
    }
    #expect(list.synchronize())
    #expect(try outside() == before)
    #expect(contents(path(Fixture.domain)) == ["own": 1])
    // Whether the first of its two changes was written before the second came is the writer's business.
    #expect((contents(path("org.example.A")) ?? [:]) == [:])
    #expect(contents(path(Self.foreign)) == ["b": 1, "set": 2])
    #expect(contents(path(".GlobalPreferences")) == ["c": 1, "set": 2])
    #expect(contents(path(Self.fonts)) == ["d": 1, "set": 2])
    #expect(contents(directories.group(Self.group) + "/\(Self.group).plist") == ["set": 2])
  }

  /// A foreign domain is what the container has of it: nothing at first, then what the application wrote.
  @Test func aForeignDomainIsTheContainersOwn() {
    fixture.store(["theirs": "secret", "both": "theirs"], Self.foreign)
    containEditor()
    let list = fixture.list()
    list.addSuite(Self.foreign)
    #expect(list.value("theirs") == nil)
    #expect(list.persistentDomain(forName: Self.foreign) == nil)
    #expect(list.persistentDomainNames == [GlobalDomain.name])
    #expect(fixture.list(Self.foreign, application: Fixture.domain).value("theirs") == nil)
    list.setPersistentDomain(["both": "mine"], forName: Self.foreign)
    #expect(list.string("both") == "mine")
    #expect(list.persistentDomain(forName: Self.foreign) == ["both": "mine"])
    #expect(list.persistentDomainNames == [GlobalDomain.name, Self.foreign])
    #expect(list.resolution(of: "both").considered.first { $0.value != nil }?.path == path(Self.foreign))
  }

  /// Of `NSGlobalDomain`, the user's values, under what the application wrote itself.
  @Test func theGlobalDomainIsReadable() {
    fixture.store(["theirs": "user", "both": "user"], GlobalDomain.name)
    fixture.store(["host": "user"], GlobalDomain.name, host: .current)
    containEditor()
    let list = fixture.list()
    #expect(list.string("theirs") == "user" && list.string("host") == "user")
    let global = fixture.list(GlobalDomain.name, application: Fixture.domain)
    global.set("mine", forKey: "both")
    #expect(list.string("both") == "mine" && global.string("theirs") == "user")
    #expect(list.persistentDomain(forName: GlobalDomain.name) == ["theirs": "user", "both": "mine"])
    global.removeValue(forKey: "both")
    #expect(list.string("both") == "user")
    #expect(global.synchronize())
    #expect(fixture.stored(GlobalDomain.name) == ["theirs": "user", "both": "user"])
  }

  /// The owner's newest value, though the application wrote another one, and though the owner replaces its file.
  @Test func aDomainThatMayBeReadStaysFresh() throws {
    fixture.store(["Serif": "Garamond"], Self.fonts)
    containEditor()
    let list = fixture.list(observes: true)
    list.addSuite(Self.fonts)
    #expect(list.string("Serif") == "Garamond")
    #expect(list.persistentDomain(forName: Self.fonts) == ["Serif": "Garamond"])
    #expect(list.persistentDomainNames == [GlobalDomain.name, Self.fonts])
    list.setPersistentDomain(["Serif": "mine", "Mono": "mine"], forName: Self.fonts)
    #expect(list.string("Serif") == "Garamond" && list.string("Mono") == "mine")
    let owner = fixture.list(Self.fonts)
    owner.set("Palatino", forKey: "Serif")
    #expect(owner.synchronize())
    #expect(eventually { list.string("Serif") == "Palatino" })
    #expect(fixture.stored(Self.fonts) == ["Serif": "Palatino"])
  }

  /// Both ways between two applications of one group, and for everybody else under the group's name.
  @Test func aGroupIsShared() {
    fixture.store(["old": 1], Self.group)
    containEditor()
    let editor = fixture.list(Self.group, application: Fixture.domain)
    let viewer = fixture.list(Self.group, application: "org.example.Viewer")
    #expect(editor.integer("old") == 1, "what the group had before came along")
    editor.set(2, forKey: "editors")
    #expect(editor.synchronize() && viewer.synchronize())
    #expect(viewer.integer("editors") == 2)
    viewer.set(3, forKey: "viewers")
    #expect(viewer.synchronize() && editor.synchronize())
    #expect(editor.integer("viewers") == 3)
    #expect(fixture.list(Self.group, application: "org.example.Free").integer("viewers") == 3)
    #expect(fixture.stored(Self.group) == ["old": 1, "editors": 2, "viewers": 3])
  }

  /// Forced values come first wherever a file is: of its own domain, of `NSGlobalDomain`, of a foreign one that is searched.
  @Test func forcedValuesHold() {
    containEditor([
      Fixture.Line(key: "own", value: 1), Fixture.Line(domain: GlobalDomain.name, key: "everywhere", value: 2),
      Fixture.Line(domain: Self.foreign, key: "foreign", value: 3),
    ])
    let list = fixture.list()
    list.addSuite(Self.foreign)
    for (key, value) in [("own", 1), ("everywhere", 2), ("foreign", 3)] {
      list.set(9, forKey: key)
      list.setPersistentDomain([key: 9], forName: Self.foreign)
      #expect(list.integer(key) == value && list.isForced(key), "\(key)")
    }
  }

  /// Another account's preferences are foreign, in the container that `policyctl run` makes as well: what is set for it is not
  /// the application's own.
  @Test(arguments: [true, false]) func anotherAccountHasAPlaceOfItsOwn(isEnforced: Bool) {
    var locations = fixture.locations
    locations.containment = Containment(identifier: Fixture.domain, isEnforced: isEnforced)
    let own = locations.file(ofDomain: Fixture.domain, user: .current, host: nil)
    locations.accountOfOther = "anna"
    let others = locations.file(ofDomain: Fixture.domain, user: .current, host: nil)
    #expect(others.path != own.path)
    #expect(others.path.hasSuffix("/.config/managed-preferences/users/anna/\(Fixture.domain).plist"))
    #expect(others.anchor != nil)
  }

  // MARK: What others see

  /// What is written from outside before the first start is what the application finds, and both see the same file after.
  @Test func theContainerIsWhereTheDomainLives() throws {
    fixture.store(["zip": true, "name": "kept"])
    fixture.store(["window": 7], host: .current)
    containEditor()
    #expect(fixture.stored() == ["zip": true, "name": "kept"])
    let list = fixture.list()
    #expect(list.value("zip") == true && list.integer("window") == 7)
    list.set(false, forKey: "zip")
    #expect(list.synchronize())
    #expect(fixture.file() == path(Fixture.domain))
    let outside = try PersistentDomain(Fixture.domain, in: fixture.locations)
    #expect(try outside.read() == ["zip": false, "name": "kept"])
    try outside.change { $0["name"] = "from outside" }
    list.synchronize()
    #expect(list.string("name") == "from outside")
    #expect(
      contents(fixture.userConfiguration + "/\(Fixture.domain).plist") == ["zip": true, "name": "kept"],
      "the file that the container was filled from stays")
    #expect(try PersistentDomain.names(in: fixture.locations) == [Fixture.domain])
    #expect(PersistentDomain(path: outside.path, in: fixture.locations).domainName == Fixture.domain)
  }

  /// Only once: a file that appears in the old place later overwrites nothing.
  @Test func itMovesOnce() {
    containEditor()
    fixture.list().set(1, forKey: "a")
    let former = fixture.userConfiguration + "/\(Fixture.domain).plist"
    try! AtomicReplacement.write(
      PropertyListCoding.encode(.dictionary(["a": 2]), as: .xml), to: former, mode: 0o600, durable: false)
    let list = fixture.list()
    list.synchronize()
    #expect(list.integer("a") == 1)
  }

  @Test func manyProcessesMoveItOnce() async throws {
    fixture.store(["old": 1])
    containEditor()
    let directory = fixture.directory
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        group.addTask {
          await #expect(processExitsWith: .success) { [directory = directory as String, number = number as Int] in
            let list = Fixture(in: directory).list()
            guard list.integer("old") == 1 else { exit(1) }
            list.set(.integer(PropertyListInteger(number)), forKey: "process\(number)")
            // The others may keep the lock for longer than one call waits.
            exit((0..<20).contains { _ in list.synchronize() } ? 0 : 2)
          }
        }
      }
    }
    #expect(fixture.stored()?.count == 7)
    #expect(try Directory.names(in: directories.containersDirectory) == [Fixture.domain])
  }

  /// Nothing is lost of what is written while the domain moves.
  @Test func writersMoveAlong() throws {
    fixture.store(["old": 1])
    let (locations, count) = (fixture.locations, 40)
    withThreads(4) { writer in
      for number in 0..<count {
        // Asked anew each time, as by a command.
        guard let domain = try? PersistentDomain(Fixture.domain, in: locations) else { continue }
        _ = try? domain.change(lockTimeout: 120) { $0["\(writer).\(number)"] = 1 }
      }
    } during: {
      usleep(5000)
      // It waits ten seconds for the writers' lock, which they may keep to themselves for as long.
      let isMoved = eventually {
        (try? ContainerPreparation.prepare(Containment(identifier: Fixture.domain), in: locations)) != nil
      }
      #expect(isMoved)
    }
    #expect(contents(path(Fixture.domain))?.count == 1 + 4 * count)
  }

  /// What was killed while it moved leaves nothing for ever, and half a container never.
  @Test func leftoversGo() throws {
    let left = directories.containersDirectory + "/.org.example.Editor.1.tmp"
    try Directory.createAll(left + "/home/.config", mode: 0o700)
    containEditor()
    #expect(fixture.list().synchronize())
    #expect(try Directory.names(in: directories.containersDirectory) == [Fixture.domain])
  }

  /// Names are files' names: another spelling of a domain that may be read is another domain.
  @Test func spellingsAreFilesNames() {
    let (composed, decomposed) = ("org.example.F\u{f6}o", "org.example.Fo\u{308}o")
    fixture.store(["theirs": 1], composed)
    fixture.store(["theirs": 2], decomposed)
    contain([Fixture.domain: ([], [composed])])
    let list = fixture.list()
    #expect(list.persistentDomain(forName: composed) == ["theirs": 1])
    #expect(list.persistentDomain(forName: decomposed) == nil)
  }

  /// A program that was running when its domain moved goes on with the file that it moved to.
  @Test func aRunningProgramMovesAlong() throws {
    fixture.store(["old": 1])
    fixture.store(["here": 1], host: .current)
    let list = fixture.list()
    try ContainerPreparation.prepare(Containment(identifier: Fixture.domain), in: fixture.locations)
    list.set(2, forKey: "new")
    #expect(list.synchronize())
    #expect(contents(path(Fixture.domain)) == ["old": 1, "new": 2])
    fixture.store(["old": 3, "new": 2])
    fixture.store(["here": 4], host: .current)
    list.synchronize()
    #expect(list.integer("old") == 3 && list.integer("here") == 4)
    #expect(contents(fixture.userConfiguration + "/\(Fixture.domain).plist") == ["old": 1])
  }

  /// Whom no policy contains, it does not concern; nor whom it contains for others, or elsewhere.
  @Test(arguments: [true, false]) func theConditionDecides(_ isStudent: Bool) {
    fixture.store(["theirs": 1], Self.foreign)
    contain(
      [Fixture.domain: ([], [])],
      condition: Condition(users: UserSelector(include: [.people], exclude: isStudent ? [] : [.people])))
    let list = fixture.list()
    list.addSuite(Self.foreign)
    #expect(list.integer("theirs") == (isStudent ? 0 : 1))
    #expect(FilePath.parent(of: fixture.file()).hasPrefix(directories.containersDirectory) == isStudent)
  }

  /// While nothing says what is contained, everything is: with a container, the application stays in it; without one, it
  /// reads nothing foreign and writes nothing, until the policy can be read.
  @Test(arguments: [true, false]) func anUnreadablePolicyOpensNothing(hasContainer: Bool) throws {
    fixture.store(["theirs": 1], Self.foreign)
    containEditor()
    if hasContainer { #expect(fixture.list().synchronize()) }
    try AtomicReplacement.write([1, 2, 3], to: fixture.installation.forcedFile, mode: 0o644)
    let list = try SearchList(
      configuration: SearchList.Configuration(
        domain: Fixture.domain, homeDirectory: fixture.home, configurationDirectory: fixture.userConfiguration,
        installation: Installation(root: fixture.installation.root + "/."), sink: fixture.sink, observes: false))
    #expect(list.isForcedDomainUnavailable)
    #expect(list.persistentDomain(forName: Self.foreign) == nil)
    list.setPersistentDomain(["mine": 1], forName: Self.foreign)
    #expect(list.synchronize() == hasContainer)
    #expect(fixture.stored(Self.foreign) == ["theirs": 1])
    #expect(contents(path(Self.foreign)) == (hasContainer ? ["mine": 1] : nil))
    #expect(((try? FileMetadata.of(directories.containersDirectory)) != nil) == hasContainer)
  }

  // MARK: Links

  /// A link in the container leads nowhere: in the place of a file, of a lock, of a directory.
  @Test(arguments: ["file", "lock", "directory", "locks"]) func aPlantedLinkLeadsNowhere(_ what: String) throws {
    fixture.store(["theirs": "secret"], Self.foreign)
    containEditor()
    #expect(fixture.list().synchronize())
    let home = directories.home(ofContainer: Fixture.domain)
    let target = fixture.userConfiguration
    let settings = home + "/.config"
    let before = try outside()
    switch what {
    case "file": symlink(target + "/\(Self.foreign).plist", settings + "/\(Fixture.domain).plist")
    case "directory":
      try Directory.removeTree(settings)
      symlink(target, settings)
    case "locks":
      try Directory.create(settings + "/managed-preferences", mode: 0o700)
      symlink(target, settings + "/managed-preferences/locks")
    default:
      try Directory.createAll(settings + "/managed-preferences/locks", mode: 0o700)
      symlink(target + "/lock", settings + "/managed-preferences/locks/\(Fixture.domain).lock")
    }
    let list = fixture.list()
    #expect(list.value("theirs") == nil)
    list.set(1, forKey: "own")
    // A link in the place of the file is moved aside; in the place of others it is a fault that is told.
    #expect(list.synchronize() == (what == "file"))
    #expect(
      Set(list.faults.map(\.kind))
        == (what == "file" ? [.movedAside] : what == "directory" ? [.unreadable, .unwritable] : [.unwritable]))
    #expect(try outside() == before)
  }

  // MARK: Names and events

  /// Names that would lead elsewhere are no names, contained or not; and of two containers with one beginning, neither is in
  /// the other.
  @Test(arguments: ["../org.example.Other", "/tmp/x", "a/../../b", "a\u{0}b", ".", "..", "x/", ""])
  func aNameIsNoPath(_ name: String) throws {
    containEditor()
    let list = fixture.list()
    let before = try outside()
    #expect(!list.addSuite(name))
    #expect(!list.setPersistentDomain(["a": 1], forName: name))
    #expect(list.persistentDomain(forName: name) == nil)
    #expect(throws: DomainNameFault.self) { try PersistentDomain(name, in: list.configuration.locations) }
    #expect(list.synchronize())
    #expect(try outside() == before)
  }

  @Test func aSiblingWithALongerNameIsOutside() {
    contain([Fixture.domain: ([], []), Fixture.domain + "-evil": ([], [])])
    fixture.list(Fixture.domain + "-evil").set(1, forKey: "evil")
    let list = fixture.list()
    list.addSuite(Fixture.domain + "-evil")
    #expect(list.value("evil") == nil)
  }

  /// Each access once: a foreign domain that is opened, and each key that is written.
  @Test func auditorsAreToldOnce() {
    let foreign = "org.example.Told"
    containEditor()
    for _ in 0..<2 {
      let list = fixture.list()
      list.addSuite(foreign)
      _ = list.persistentDomain(forName: foreign)
      list.addSuite(Self.fonts)
      list.addSuite(Self.group)
      list.set(1, forKey: "own")
      for _ in 0..<2 { fixture.list(foreign, application: Fixture.domain).set(1, forKey: "k") }
      fixture.list(foreign, application: Fixture.domain).removeValue(forKey: "k")
    }
    let told = fixture.sink.taken(.foreignRedirect)
    #expect(
      told == [
        [
          "application": .string(Fixture.domain), "domain": .string(foreign), "operation": "read",
          "path": .string(path(foreign)),
        ],
        [
          "application": .string(Fixture.domain), "domain": .string(foreign), "operation": "set", "key": "k",
          "path": .string(path(foreign)),
        ],
      ])
  }
}
