import ForcedDomain
import PolicyCompiler
import PolicyLanguage
import PropertyList
import Testing

@Suite struct NarrowingTests {
  private static let tree = """
    version: 1
    kind: Profile
    id: org.example.base
    title: Baseline
    owner: lab-admins
    priority: 10
    forced:
      org.example.Browser: {HomePage: https://example.org/, Zoom: 1}
      org.example.Editor: {Theme: light}
    recommended:
      org.example.Editor: {FontSize: 12}
    overrides:
      - hosts: {names: [lab-a-07]}
        reason: projector
        ticket: LAB-1
        forced: {org.example.Browser: {HomePage: https://beamer.example.org/}}
    controls:
      - {id: LAB-1, title: Zoom, severity: low, expect: {org.example.Browser: {Zoom: {max: 2}}}}
    exemptions:
      - control: LAB-1
        hosts: {names: [lab-a-09]}
        reason: eyes
        owner: j.doe
        expires: 2030-01-01T00:00:00Z
    ---
    version: 1
    kind: Profile
    id: org.example.exam
    title: Exam
    priority: 100
    applies:
      hosts: {groups: [lab-a]}
      users: {groups: [students]}
      during:
        - {days: [mon, tue], from: "09:00", to: "11:30", timezone: Europe/Berlin}
    forced:
      org.example.Browser: {Zoom: 3}
    ---
    version: 1
    kind: Profile
    id: org.example.containers
    title: Containers
    applies: {hosts: {groups: [lab-b]}}
    containers:
      org.example.Editor: {groups: [group.org.example.suite], read: [org.example.Fonts], files: ["~/Documents"]}
    roaming:
      org.example.Editor: [Theme]

    """

  private static func files(
    _ host: String, unknownHosts: String = "refuse"
  ) throws -> (payload: ForcedDomain, forced: ForcedDomain, provenance: ForcedDomain, NarrowingStatistics) {
    let (compilation, tree) = PolicySources.compile([
      "a.yaml": Self.tree, "inventory.yaml": PolicySources.inventory(unknownHosts: unknownHosts),
    ])
    let bytes = try #require(
      compilation.payload, "\(DiagnosticRenderer(sources: tree.sources).render(compilation.diagnostics))")
    let payload = try ForcedDomain(bytes: bytes, expecting: [.fleet])
    let files = try Narrowing.narrow(
      payload, to: HostIdentity(name: host), users: NarrowingInvariantTests.nobody,
      stamp: FileStamp(
        generation: 3, serial: 4, sourceDigest: compilation.sourceDigest,
        horizon: WindowExpansion.horizon(at: PolicySources.now)))
    return (
      payload, try ForcedDomain(bytes: files.forced, expecting: [.forced]),
      try ForcedDomain(bytes: files.provenance, expecting: [.provenance]), files.statistics
    )
  }

  /// What a file holds for a key, one line an entry.
  private static func lines(_ domain: ForcedDomain, _ name: String, _ key: String) -> [String] {
    domain.entries(domain: name, key: key, section: .forced).map { entry in
      "\(entry.action) \(entry.value?.displayText ?? "-") \(entry.rank.priority) hosts:\(entry.condition.hosts != nil) "
        + "users:\(entry.condition.users != nil) windows:\(entry.condition.windows.count) \(entry.profile.id)"
    }
  }

  @Test func whatCannotHoldIsDropped() throws {
    let (_, forced, _, _) = try Self.files("lab-b-01")
    #expect(
      Self.lines(forced, "org.example.Browser", "Zoom")
        == ["replace 1 10 hosts:false users:false windows:0 org.example.base"])
    #expect(
      Self.lines(forced, "org.example.Browser", "HomePage")
        == ["replace \"https://example.org/\" 10 hosts:false users:false windows:0 org.example.base"])
  }

  @Test func whatStandsBehindAnUnconditionalEntryIsDropped() throws {
    let (_, forced, _, _) = try Self.files("lab-a-07")
    #expect(
      Self.lines(forced, "org.example.Browser", "HomePage")
        == ["replace \"https://beamer.example.org/\" 10 hosts:false users:false windows:0 org.example.base"])
    #expect(
      Self.lines(forced, "org.example.Browser", "Zoom") == [
        "replace 3 100 hosts:false users:true windows:1 org.example.exam",
        "replace 1 10 hosts:false users:false windows:0 org.example.base",
      ])
  }

  @Test func theForcedFileTellsNothingPrivate() throws {
    let (_, forced, provenance, _) = try Self.files("lab-a-07")
    #expect(forced.hostName == "lab-a-07" && forced.generation == 3 && forced.serial == 4)
    #expect(forced.hostGroups == [])
    #expect(forced.profiles.allSatisfy { $0.owner == nil })
    let entries = forced.domains.flatMap { domain in
      forced.keys(inDomain: domain).flatMap { forced.entries(domain: domain, key: $0, section: .forced) }
    }
    #expect(entries.allSatisfy { $0.provenance == nil })
    #expect(forced.annex == .dictionary([:]))
    #expect(
      provenance.entries(domain: "org.example.Browser", key: "HomePage", section: .forced).map(\.provenance) == [
        Provenance(file: "a.yaml", line: 16, column: 46, reason: "projector", ticket: "LAB-1"),
        Provenance(file: "a.yaml", line: 8, column: 35),
      ])
  }

  @Test func theProvenanceFileKeepsEveryEntry() throws {
    let (payload, _, provenance, _) = try Self.files("lab-b-01")
    #expect(provenance.entryCount == payload.entryCount)
    for domain in payload.domains {
      for key in payload.keys(inDomain: domain) {
        #expect(Self.lines(provenance, domain, key) == Self.lines(payload, domain, key))
      }
    }
  }

  @Test func statistics() throws {
    var expected = NarrowingStatistics()
    expected.forcedKeys = 3
    expected.forcedDomains = 2
    expected.recommendedKeys = 1
    expected.windows = 1
    #expect(try Self.files("lab-a-03").3 == expected)
    expected.windows = 0
    #expect(try Self.files("lab-b-03").3 == expected)
  }

  @Test func grantsReachTheHostsThatTheyConcern() throws {
    let (_, forced, _, _) = try Self.files("lab-b-01")
    #expect(
      forced.annex
        == .dictionary([
          "containers": .array([
            .dictionary([
              "domain": .string("org.example.Editor"), "groups": .array([.string("group.org.example.suite")]),
              "read": .array([.string("org.example.Fonts")]), "files": .array([.string("~/Documents")]),
              "profile": .string("org.example.containers"), "condition": .integer(0),
            ])
          ]),
          "roaming": .array([
            .dictionary([
              "domain": .string("org.example.Editor"), "keys": .array([.string("Theme")]),
              "profile": .string("org.example.containers"), "condition": .integer(0),
            ])
          ]),
        ]))
    #expect(try Self.files("lab-a-03").forced.annex == .dictionary([:]))
  }

  @Test func auditorsFindControlsAndExemptions() throws {
    let (_, _, provenance, _) = try Self.files("lab-b-01")
    let annex = try #require(provenance.annex?.dictionaryValue)
    #expect(annex.keys.sorted() == ["containers", "controls", "exemptions", "inventory", "roaming", "unknownHosts"])
    let exemption = try #require(annex["exemptions"]?.arrayValue?.first?.dictionaryValue)
    let condition = try #require(exemption["condition"]?.integerValue)
    #expect(
      provenance.conditions[condition]
        == Condition(hosts: HostSelector(include: [.pattern("lab-a-09")]), notAfter: 1_893_456_000))
    #expect(
      annex["controls"]
        == .array([
          .dictionary([
            "id": .string("LAB-1"), "title": .string("Zoom"), "severity": .string("low"), "references": .array([]),
            "profile": .string("org.example.base"), "condition": .integer(0), "file": .string("a.yaml"),
            "line": .integer(18), "column": .integer(5),
            "expect": .array([
              .dictionary([
                "domain": .string("org.example.Browser"), "key": .string("Zoom"), "max": .integer(2),
                "file": .string("a.yaml"), "line": .integer(18), "column": .integer(82),
              ])
            ]),
          ])
        ]))
  }

  @Test(arguments: [
    ("lab-a-03", "refuse", HostAdmission.listed), ("LAB-B-30.example.org", "refuse", .listed),
    ("lab-c-01", "refuse", .refused), ("lab-c-01", "allow", .unlistedButAllowed),
  ])
  func admission(host: String, unknownHosts: String, expected: HostAdmission) throws {
    let (payload, _, provenance, _) = try Self.files("lab-a-01", unknownHosts: unknownHosts)
    #expect(HostAdmission(of: HostIdentity(name: host), in: payload) == expected)
    #expect(HostAdmission(of: HostIdentity(name: host), in: provenance) == expected)
  }

  @Test func withoutAnInventoryEveryHostIsWelcome() throws {
    let (compilation, _) = PolicySources.compile(["a.yaml": PolicySources.profile("a", value: "one")])
    let payload = try ForcedDomain(bytes: try #require(compilation.payload), expecting: [.fleet])
    #expect(HostAdmission(of: HostIdentity(name: "anything"), in: payload) == .unlistedButAllowed)
  }

  @Test func anUnknownZoneRefusesThePayload() throws {
    var writer = ForcedDomainWriter(kind: .fleet)
    let profile = writer.addProfile(ProfileReference(id: "a", title: "A"))
    let condition = writer.addCondition(
      Condition(windows: [WeeklyWindow(fromMinute: 0, toMinute: 60, timeZone: "Mars/Olympus")]))
    writer.addEntry(
      key: writer.addKey(domain: writer.addDomain("d"), key: "k"), section: .forced, action: .replace, rank: Rank(),
      condition: condition, profile: profile, value: .boolean(true))
    let payload = try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.fleet])
    let error = #expect(throws: NarrowingError.self) {
      try Narrowing.narrow(
        payload, to: HostIdentity(name: "h"), users: NarrowingInvariantTests.nobody,
        stamp: FileStamp(horizon: WindowExpansion.horizon(at: PolicySources.now)))
    }
    #expect(
      error?.description
        == "time zone 'Mars/Olympus' is not known on this system (its files come with the package tzdata)")
  }

  private static func groups(_ names: String) -> [String: String] {
    [
      "a.yaml": PolicySources.profile(
        "a", applies: "{hosts: {groups: [g1, g2], except: {groups: [g3]}}}", value: "one"),
      "inventory.yaml": """
      version: 1
      kind: Inventory
      unknownHosts: allow
      hosts: {groups: {\(names)}}

      """,
    ]
  }

  /// F07: any of several groups, none of the excepted ones; the proof, the payload and the narrowed file agree.
  @Test(arguments: [("only-1", true), ("both", true), ("none", false), ("excepted", false)])
  func anyGroupCounts(host: String, isForced: Bool) throws {
    let (compilation, _) = PolicySources.compile(
      Self.groups("g1: {names: [only-1, both, excepted]}, g2: {names: [both]}, g3: {names: [excepted]}"))
    let payload = try ForcedDomain(bytes: try #require(compilation.payload), expecting: [.fleet])
    let policies = try WhatIf(
      payload: payload, host: HostIdentity(name: host), now: PolicySources.now,
      users: NarrowingInvariantTests.nobody, accounts: .none)
    #expect((policies.statistics.forcedKeys == 1) == isForced)
    #expect((policies.forced.keyCount == 1) == isForced)
  }

  /// F07: a group that is gone refuses the tree, and names itself.
  @Test func aMissingGroupRefusesTheTree() {
    let (compilation, _) = PolicySources.compile(Self.groups("g1: {names: [a]}, g2: {names: [b]}"))
    #expect(compilation.payload == nil)
    #expect(compilation.diagnostics.filter { $0.severity == .error }.map(\.code) == [.undeclaredGroup])
  }

  struct Facts: Sendable {
    let user: String?
    let groups: [String]
    let facts: UserFacts
  }

  /// Rule 8: known users have the kernel's ids, unknown ones are people with the groups that list them.
  @Test(arguments: [
    Facts(user: "ada", groups: [], facts: UserFacts(userID: 1001, groupIDs: [1001, 50], name: "ada")),
    Facts(
      user: "ada", groups: ["students"],
      facts: UserFacts(userID: 1001, groupIDs: [1001, 50], name: "ada", inventoryGroups: ["students"])),
    Facts(user: "miller", groups: [], facts: UserFacts(name: "miller", inventoryGroups: ["teachers"])),
    Facts(
      user: "miller", groups: ["students"], facts: UserFacts(name: "miller", inventoryGroups: ["students", "teachers"])),
    Facts(user: nil, groups: ["students"], facts: UserFacts(inventoryGroups: ["students"])),
  ])
  func whoIsMeant(row: Facts) throws {
    let (compilation, _) = PolicySources.compile([
      "a.yaml": PolicySources.profile("a", applies: "{users: {groups: [students, teachers]}}", value: "one"),
      "inventory.yaml": PolicySources.inventory(),
    ])
    let payload = try ForcedDomain(bytes: try #require(compilation.payload), expecting: [.fleet])
    let policies = try WhatIf(
      payload: payload, host: HostIdentity(name: "lab-a-01"), now: PolicySources.now,
      users: NarrowingInvariantTests.nobody, accounts: AccountDirectory { $0 == "ada" ? (1001, [1001, 50]) : nil })
    #expect(policies.context(user: row.user, groups: row.groups, instant: 0).user == row.facts)
  }
}
