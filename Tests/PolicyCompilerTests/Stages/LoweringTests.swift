import ForcedDomain
import PolicyCompiler
import PolicyLanguage
import PropertyList
import Testing

/// Rule 1: an entry that names several classes becomes one entry for each class; overrides stay inside their profile.
@Suite struct LoweringTests {
  private static func entries(_ body: String, section: PolicySection = .forced) throws -> [ForcedEntry] {
    let (compilation, tree) = PolicySources.compile([
      "a.yaml": """
      version: 1
      kind: Profile
      id: org.example.a
      title: A
      owner: lab-admins
      priority: 7
      \(body)

      """, "inventory.yaml": PolicySources.inventory(unknownHosts: "allow"),
    ])
    try #require(
      compilation.diagnostics.filter { $0.severity == .error } == [],
      "\(DiagnosticRenderer(sources: tree.sources).render(compilation.diagnostics))")
    let payload = try ForcedDomain(bytes: try #require(compilation.payload), expecting: [.fleet])
    return payload.entries(domain: "org.example.Editor", key: "Theme", section: section)
  }

  @Test func eachClassIsAnEntry() throws {
    let entries = try Self.entries(
      """
      applies:
        hosts:
          names: [lab-c-01, "lab-a-[01-30]", lab-d-*]
          groups: [lab-b]
          except: {names: [lab-a-17]}
        users: {names: [ada, "*"], groups: [students]}
      forced: {org.example.Editor: {Theme: light}}
      """)
    let except: [HostAtom] = [.pattern("lab-a-17")]
    let hosts: [(HostClass, [HostAtom])] = [
      (.name, [.pattern("lab-c-01")]), (.pattern, [.pattern("lab-a-[01-30]"), .pattern("lab-d-*")]),
      (.group, [.group("lab-b")]),
    ]
    let users: [(UserClass, [UserAtom])] = [(.name, [.name("ada")]), (.group, [.people, .group("students")])]
    var expected: [(Rank, Condition)] = []
    for (hostClass, hostAtoms) in hosts {
      for (userClass, userAtoms) in users {
        expected.append(
          (
            Rank(priority: 7, hostClass: hostClass, userClass: userClass),
            Condition(
              hosts: HostSelector(include: hostAtoms, exclude: except), users: UserSelector(include: userAtoms))
          ))
      }
    }
    #expect(entries.map(\.rank) == expected.map(\.0))
    #expect(entries.map(\.condition) == expected.map(\.1))
    #expect(entries.allSatisfy { $0.value == .string("light") && $0.action == .replace })
    #expect(entries.allSatisfy { $0.profile == ProfileReference(id: "org.example.a", title: "A", owner: "lab-admins") })
    #expect(
      Set(entries.map { "\($0.provenance!.file):\($0.provenance!.line):\($0.provenance!.column)" }) == ["a.yaml:13:38"])
  }

  struct Inside: Sendable, CustomTestStringConvertible {
    let id: String
    let outer: String
    let inner: String
    let condition: Condition
    let rank: Rank
    var testDescription: String { id }
  }

  static let insides: [Inside] = [
    Inside(
      id: "the profile's parts are taken over", outer: "{users: {groups: [students]}}",
      inner: "hosts: {names: [lab-a-07]}",
      condition: Condition(
        hosts: HostSelector(include: [.pattern("lab-a-07")]), users: UserSelector(include: [.group("students")])),
      rank: Rank(priority: 7, isOverride: true, hostClass: .name, userClass: .group)),
    Inside(
      id: "a host that the profile covers", outer: "{hosts: {groups: [labs], except: {names: [lab-b-01]}}}",
      inner: "hosts: {names: [lab-a-07]}",
      condition: Condition(hosts: HostSelector(include: [.pattern("lab-a-07")], exclude: [.pattern("lab-b-01")])),
      rank: Rank(priority: 7, isOverride: true, hostClass: .name)),
    Inside(
      id: "hosts that it covers in part", outer: "{hosts: {groups: [lab-a]}}", inner: "hosts: {names: [lab-*-07]}",
      condition: Condition(
        hosts: HostSelector(include: [.pattern("lab-*-07")]),
        within: [Condition(hosts: HostSelector(include: [.group("lab-a")]))]),
      rank: Rank(priority: 7, isOverride: true, hostClass: .pattern)),
    Inside(
      id: "users of both", outer: "{users: {groups: [students]}}", inner: "users: {names: [ada]}",
      condition: Condition(
        users: UserSelector(include: [.name("ada")]),
        within: [Condition(users: UserSelector(include: [.group("students")]))]),
      rank: Rank(priority: 7, isOverride: true, userClass: .name)),
    Inside(
      id: "exceptions of both", outer: "{users: {groups: [students], except: {names: [joan]}}}",
      inner: "users: {groups: [students], except: {names: [ada]}}",
      condition: Condition(
        users: UserSelector(include: [.group("students")], exclude: [.name("ada"), .name("joan")])),
      rank: Rank(priority: 7, isOverride: true, userClass: .group)),
    Inside(
      id: "only exceptions inside", outer: "{hosts: {groups: [lab-a]}}", inner: "hosts: {except: {names: [lab-a-07]}}",
      condition: Condition(hosts: HostSelector(include: [.group("lab-a")], exclude: [.pattern("lab-a-07")])),
      rank: Rank(priority: 7, isOverride: true, hostClass: .group)),
    Inside(
      id: "windows of both",
      outer: "{during: [{days: [mon], from: \"09:00\", to: \"11:00\", timezone: Europe/Berlin}]}",
      inner: "during: [{days: [mon], from: \"10:00\", to: \"12:00\", timezone: Europe/Berlin}]",
      condition: Condition(
        windows: [WeeklyWindow(days: 1, fromMinute: 600, toMinute: 720, timeZone: "Europe/Berlin")],
        within: [
          Condition(windows: [WeeklyWindow(days: 1, fromMinute: 540, toMinute: 660, timeZone: "Europe/Berlin")])
        ]),
      rank: Rank(priority: 7, isOverride: true)),
  ]

  @Test(arguments: insides)
  func overridesStayInsideTheirProfile(row: Inside) throws {
    let entries = try Self.entries(
      """
      applies: \(row.outer)
      overrides:
        - \(row.inner)
          reason: because
          owner: j.doe
          ticket: LAB-1
          expires: 2030-01-01T00:00:00Z
          forced: {org.example.Editor: {Theme: light}}
      """)
    var condition = row.condition
    condition.notAfter = 1_893_456_000
    #expect(entries.map(\.condition) == [condition])
    #expect(entries.map(\.rank) == [row.rank])
    #expect(
      entries.map(\.provenance) == [
        Provenance(file: "a.yaml", line: 14, column: 42, reason: "because", owner: "j.doe", ticket: "LAB-1")
      ])
  }

  /// Rule 11.
  @Test func exemptionsRelease() throws {
    let entries = try Self.entries(
      """
      applies: {hosts: {groups: [labs]}}
      forced: {org.example.Editor: {Theme: light}}
      controls:
        - id: LAB-1
          title: Themes
          severity: low
          expect: {org.example.Editor: {Theme: light}}
      exemptions:
        - control: LAB-1
          hosts: {groups: [lab-a]}
          reason: eyes
          owner: j.doe
          expires: 2030-01-01T00:00:00Z
      """)
    #expect(entries.map(\.action) == [.release, .replace])
    #expect(entries[0].rank == Rank(priority: 7, isOverride: true, hostClass: .name))
    #expect(
      entries[0].condition
        == Condition(hosts: HostSelector(include: [.group("lab-a")]), notAfter: 1_893_456_000))
    #expect(entries[0].value == nil)
    #expect(entries[0].provenance?.reason == "eyes")
  }

  @Test func manifestsSayWhatUnites() throws {
    let (compilation, _) = PolicySources.compile([
      "a.yaml": """
      version: 1
      kind: Profile
      id: org.example.a
      title: A
      forced: {org.example.Editor: {Apps: [b, a], Version: 1.10, Plain: [c]}}
      ---
      version: 1
      kind: Manifest
      domain: org.example.Editor
      keys:
        Apps: {type: array, items: string, merge: union}
        Version: {type: string}
        Plain: {type: array, items: string}

      """
    ])
    let payload = try ForcedDomain(bytes: try #require(compilation.payload), expecting: [.fleet])
    func entry(_ key: String) -> ForcedEntry? {
      payload.entries(domain: "org.example.Editor", key: key, section: .forced).first
    }
    #expect(entry("Apps")?.action == .union)
    #expect(entry("Plain")?.action == .replace)
    #expect(entry("Version")?.value == .string("1.10"))
  }

  @Test func statistics() {
    let (compilation, _) = PolicySources.compile([
      "a.yaml": PolicySources.profile("a", applies: "{hosts: {names: [x], groups: [lab-a]}}", value: "one"),
      "b.yaml": PolicySources.profile("b", priority: 1, value: "two"),
      "inventory.yaml": PolicySources.inventory(unknownHosts: "allow"),
    ])
    var expected = CompilationStatistics()
    expected.files = 3
    expected.profiles = 2
    expected.inventories = 1
    expected.keys = 1
    expected.entries = 3
    #expect(compilation.statistics == expected)
  }
}
