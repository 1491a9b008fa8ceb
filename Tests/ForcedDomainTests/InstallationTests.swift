import Glibc
import LinuxFiles
import Testing

@testable import ForcedDomain

@Suite("Finding the installation")
struct InstallationTests {
  @Test func paths() {
    let installation = Installation(root: "/demo/")
    #expect(installation.root == "/demo")
    #expect(Installation(root: "/").root == "")
    #expect(
      [
        installation.hostFile, installation.trustedKeysDirectory, installation.localKeyFile,
        installation.policiesDirectory, installation.anyUserDefaultsDirectory, installation.bundleFile,
        installation.forcedFile, installation.provenanceFile, installation.generationMarker,
        installation.generationDirectory(7), installation.auditAnchor, installation.logDirectory,
        installation.agentSocket,
      ] == [
        "/demo/etc/managed-preferences/host.yaml", "/demo/etc/managed-preferences/trusted-keys",
        "/demo/etc/managed-preferences/local-key", "/demo/etc/managed-preferences/policies",
        "/demo/etc/managed-preferences/defaults", "/demo/var/lib/managed-preferences/bundle",
        "/demo/var/lib/managed-preferences/forced", "/demo/var/lib/managed-preferences/provenance",
        "/demo/var/lib/managed-preferences/generation", "/demo/var/lib/managed-preferences/generations/7",
        "/demo/var/lib/managed-preferences/audit-anchor", "/demo/var/log/managed-preferences",
        "/demo/run/managed-preferences/policyd.sock",
      ])
    #expect(Installation(root: "").forcedFile == "/var/lib/managed-preferences/forced")
  }

  @Test func explicitRootWins() throws {
    let system = try TemporaryInstallation()
    try system.install(generation: 1)
    let (installation, notes) = Installation.locate(
      root: "/demo", variable: "/elsewhere", system: system.installation)
    #expect(installation.root == "/demo")
    #expect(
      notes == [
        SearchedPath(path: "/demo/var/lib/managed-preferences/forced", outcome: .read, reason: "--root"),
        SearchedPath(path: "MANAGED_PREFERENCES_ROOT", outcome: .skipped, reason: "--root was given"),
      ])
  }

  @Test func variableWithoutSystemInstallation() throws {
    let system = try TemporaryInstallation()
    let (installation, notes) = Installation.locate(
      root: nil, variable: "/elsewhere", system: system.installation)
    #expect(installation.root == "/elsewhere")
    #expect(
      notes == [
        SearchedPath(
          path: "/elsewhere/var/lib/managed-preferences/forced", outcome: .read, reason: "MANAGED_PREFERENCES_ROOT"),
        SearchedPath(
          path: system.installation.generationMarker, outcome: .skipped,
          reason: "no system-wide installation exists"),
      ])
  }

  @Test func variableBesideSystemInstallation() throws {
    let system = try TemporaryInstallation()
    try system.install(generation: 1)
    let (installation, notes) = Installation.locate(
      root: nil, variable: "/elsewhere", system: system.installation)
    #expect(installation == system.installation)
    #expect(
      notes == [
        SearchedPath(
          path: system.installation.forcedFile, outcome: .read, reason: "the system's installation"),
        SearchedPath(
          path: "MANAGED_PREFERENCES_ROOT", outcome: .skipped, reason: "a system-wide installation exists"),
      ])
  }

  @Test func onlyNoSuchFileFreesTheVariable() throws {
    let system = try TemporaryInstallation()
    // A link to nowhere is there; a file in a directory's place is another error than "no such file".
    #expect(symlink("/nonexistent", system.installation.generationMarker) == 0)
    #expect(
      Installation.locate(root: nil, variable: "/elsewhere", system: system.installation).installation
        == system.installation)
    try Directory.removeTree(system.installation.stateDirectory)
    try AtomicReplacement.write([], to: system.installation.stateDirectory, mode: 0o644)
    #expect(
      Installation.locate(root: nil, variable: "/elsewhere", system: system.installation).installation
        == system.installation)
  }

  @Test(arguments: ["forced", "bundle", "generations/1/forced"])
  func aLostMarkerDoesNotFreeTheVariable(trace: String) throws {
    let system = try TemporaryInstallation()
    try system.write([1], to: system.installation.stateDirectory + "/" + trace)
    #expect(
      Installation.locate(root: nil, variable: "/elsewhere", system: system.installation).installation
        == system.installation)
  }

  @Test func markerRoundTrip() throws {
    let marker = GenerationMarker(
      generation: 7, serial: .max, sourceDigest: (0..<32).map { UInt8($0 * 8) }, hostName: "lab-a-03.example.org",
      installedAt: 1_764_500_000, forcedChecksum: 0x0123_4567_89AB_CDEF)
    #expect(
      String(decoding: marker.bytes, as: UTF8.self) == """
        managed-preferences generation 1
        generation 7
        serial 18446744073709551615
        source-digest 0008101820283038404850586068707880889098a0a8b0b8c0c8d0d8e0e8f0f8
        forced-checksum 0123456789abcdef
        installed-at 1764500000
        host lab-a-03.example.org

        """)
    #expect(GenerationMarker(parsing: marker.bytes) == marker)
    let bare = GenerationMarker(
      generation: 0, serial: 0, sourceDigest: [], hostName: "", installedAt: -1, forcedChecksum: 0)
    #expect(GenerationMarker(parsing: bare.bytes) == bare)
    #expect(GenerationMarker(parsing: marker.bytes + Array("later things\n".utf8)) == marker)
  }

  @Test func theMarkerRemembersWhereItsPoliciesCameFrom() {
    var marker = GenerationMarker(
      generation: 7, serial: 1, sourceDigest: [], hostName: "h", installedAt: 5, forcedChecksum: 1)
    let bare = String(decoding: marker.bytes, as: UTF8.self)
    for (source, line) in [
      (.folder("/etc/managed-preferences/policies"), "folder /etc/managed-preferences/policies"),
      (.bundleFile("/srv/a b%\n\u{e9}"), "bundle /srv/a b%25%0a\u{e9}"),
    ] as [(InstalledSource, String)] {
      marker.source = source
      marker.signer = [UInt8](repeating: 0xab, count: 32)
      #expect(
        String(decoding: marker.bytes, as: UTF8.self)
          == bare + "source \(line)\nsigner \(String(repeating: "ab", count: 32))\n")
      #expect(GenerationMarker(parsing: marker.bytes) == marker)
      #expect(marker.source?.path == source.path)
    }
    // A kind of later versions, and damage to what is only told.
    for line in ["pipe /x", "folder x", "folder", "folder /%zz", "folder /%4"] {
      let parsed = GenerationMarker(parsing: Array((bare + "source \(line)\n").utf8))
      #expect(parsed?.generation == 7 && parsed?.source == nil, "\(line)")
    }
    // Who signed decides what is accepted next: damage to that is damage.
    for line in ["", "ab", "zz"] {
      #expect(GenerationMarker(parsing: Array((bare + "signer \(line)\n").utf8)) == nil, "\(line)")
    }
  }

  @Test(arguments: [
    "", "\n", "managed-preferences generation 2\n", "generation 7\n",
    "managed-preferences generation 1\ngeneration 7\n",
    "managed-preferences generation 1\ngeneration -7\nserial 1\nsource-digest none\nforced-checksum "
      + "0123456789abcdef\ninstalled-at 5\nhost h\n",
    "managed-preferences generation 1\ngeneration 7\ngeneration 8\nserial 1\nsource-digest none\nforced-checksum "
      + "0123456789abcdef\ninstalled-at 5\nhost h\n",
    "managed-preferences generation 1\ngeneration 7\nserial 1\nsource-digest 00\nforced-checksum "
      + "0123456789abcdef\ninstalled-at 5\nhost h\n",
    "managed-preferences generation 1\ngeneration 7\nserial 1\nsource-digest none\nforced-checksum "
      + "0123456789ABCDEF\ninstalled-at 5\nhost h\n",
    "managed-preferences generation 1\ngeneration 7\nserial 1\nsource-digest none\nforced-checksum "
      + "0123456789abcdef\ninstalled-at 5\nhost h",
  ])
  func damagedMarker(_ text: String) { #expect(GenerationMarker(parsing: Array(text.utf8)) == nil) }

  @Test func everyTruncationOfAMarker() {
    let marker = GenerationMarker(
      generation: 7, serial: 1, sourceDigest: [], hostName: "h", installedAt: 5, forcedChecksum: 1)
    for count in 0..<marker.bytes.count {
      #expect(GenerationMarker(parsing: Array(marker.bytes.prefix(count))) == nil)
    }
  }
}

@Suite("Processes in user namespaces")
struct OutsideFactsTests {
  @Test func thisProcess() {
    let facts = UserFacts.current()
    #expect(facts.userID == getuid())
    #expect(facts.groupIDs.contains(getgid()))
    #expect(facts.name == nil)
    #expect(facts.inventoryGroups == [])
  }

  @Test func idsAreTranslated() {
    let inside = UserFacts(userID: 0, groupIDs: [0, 65534])
    let map = IdentityMap(text: "         0       1001          1\n")
    let outside = OutsideFacts(inside, users: map, groups: IdentityMap(text: "0 100 1\n"), canDropGroups: false)
    #expect(outside.userID == 1001)
    #expect(outside.groupIDs == [100])
    #expect(outside.hasUnknownGroups)
    #expect(IdentityMap(text: "0 100000 65536\n").outside(65535) == 165_535)
    #expect(IdentityMap(text: "0 100000 65536\n").outside(65536) == nil)
    #expect(IdentityMap(text: "").outside(0) == nil)
    #expect(IdentityMap(text: "4294967295 4294967295 4294967295\n").outside(.max) == .max)
  }

  /// `unshare --map-auto` maps every id, and then groups may be left: that they are not shown proves nothing.
  @Test(arguments: [(canDropGroups: true, isMember: true), (canDropGroups: false, isMember: false)])
  func droppedGroups(_ row: (canDropGroups: Bool, isMember: Bool)) throws {
    var writer = ForcedDomainWriter(kind: .forced)
    writer.setUserGroups([
      UserGroup(name: "students", unixGroups: ["students"], groupIDs: [2001]),
      UserGroup(name: "named", names: ["s1"], userIDs: [1002]),
    ])
    let student = Int(writer.addCondition(Condition(users: UserSelector(include: [.group("students")]))))
    let other = Int(writer.addCondition(Condition(users: UserSelector(exclude: [.group("students")]))))
    let named = Int(writer.addCondition(Condition(users: UserSelector(include: [.group("named")]))))
    let domain = try ForcedDomain(
      bytes: try writer.finish(FileStamp()), expecting: [.forced], isOwnedOutside: true)
    var facts = UserFacts(userID: 0, groupIDs: [0])
    facts.outside = OutsideFacts(
      facts, users: IdentityMap(text: "0 1001 1\n1 100000 65536\n"),
      groups: IdentityMap(text: "0 100 1\n1 100000 65536\n"), canDropGroups: row.canDropGroups)
    let truth = domain.truth(in: EvaluationContext(user: facts, instant: 0))
    for action in [.replace, .union] as [EntryAction] {
      #expect(truth.holds(student, for: action) == row.isMember)
      #expect(truth.holds(other, for: action))
    }
    #expect(!truth.holds(student, for: .release))
    #expect(truth.holds(other, for: .release) == !row.isMember)
    // Membership by the user's own id is decided all the same.
    #expect(!truth.holds(named, for: .replace))
  }

  @Test func whetherGroupsCanBeDropped() throws {
    let temporary = try TemporaryInstallation()
    let path = temporary.installation.root + "/setgroups"
    #expect(OutsideFacts.canDropGroups(path: path))
    for (text, can) in [("deny\n", false), ("allow\n", true), ("", true), ("denied\n", true)] {
      try temporary.write(Array(text.utf8), to: path)
      #expect(OutsideFacts.canDropGroups(path: path) == can, "\(text)")
    }
  }

  /// `unshare --map-root-user` neither makes a student root nor takes the group away.
  @Test(arguments: [
    (owned: true, user: true, group: true), (owned: false, user: false, group: false),
  ])
  func rootOfAnOwnNamespace(_ row: (owned: Bool, user: Bool, group: Bool)) throws {
    var writer = ForcedDomainWriter(kind: .forced)
    writer.setUserGroups([UserGroup(name: "students", unixGroups: ["students"], groupIDs: [2001])])
    let person = writer.addCondition(Condition(users: UserSelector(include: [.people])))
    let student = writer.addCondition(Condition(users: UserSelector(include: [.group("students")])))
    let domain = try ForcedDomain(
      bytes: try writer.finish(FileStamp()), expecting: [.forced], isOwnedOutside: row.owned)
    var facts = UserFacts(userID: 0, groupIDs: [0, 65534])
    facts.outside = OutsideFacts(
      facts, users: IdentityMap(text: "0 1001 1\n"), groups: IdentityMap(text: "0 100 1\n"), canDropGroups: false)
    let truth = domain.truth(in: EvaluationContext(user: facts, instant: 0))
    #expect(truth.holds(Int(person), for: .replace) == row.user)
    #expect(truth.holds(Int(student), for: .replace) == row.group)
    #expect(!truth.holds(Int(student), for: .release))
  }
}
