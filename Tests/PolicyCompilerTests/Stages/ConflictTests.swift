import PolicyCompiler
import PolicyLanguage
import Testing

/// What is a conflict, in the very words that an administrator reads.
@Suite struct ConflictTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let files: [String: String]
    let report: String
    var testDescription: String { id }
  }

  private static func document(_ id: String, _ body: String, priority: Int = 0) -> String {
    """
    version: 1
    kind: Profile
    id: org.example.\(id)
    title: \(id)
    priority: \(priority)
    \(body)

    """
  }

  private static let unions = """
    version: 1
    kind: Manifest
    domain: org.example.Browser
    keys:
      Extensions: {type: array, items: string, merge: union}
      Handlers: {type: dictionary, merge: union}

    """

  static let rows: [Row] = [
    Row(
      id: "two profiles, one value each",
      files: [
        "exam.yaml": document(
          "exam",
          "applies: {hosts: {groups: [lab-a]}}\nforced:\n  org.example.Browser:\n    HomePage: https://exam.example.org/"
        ),
        "kiosk.yaml": document(
          "kiosk",
          "applies: {hosts: {groups: [labs]}}\nforced:\n  org.example.Browser:\n    HomePage: https://kiosk.example.org/"
        ),
        "inventory.yaml": PolicySources.inventory(),
      ],
      report: """
        exam.yaml:9:15: error: HomePage is forced to different values at the same rank [conflict]
            9 |     HomePage: https://exam.example.org/
              |               ^~~~~~~~~~~~~~~~~~~~~~~~~
        kiosk.yaml:9:15: note: the other value is here, for hosts that both match (lab-a-01 … lab-a-30)
        hint: give one profile a higher priority, or make their hosts disjoint

        """),
    Row(
      id: "types are part of a value",
      files: [
        "a.yaml": document("a", "forced: {org.example.Browser: {Zoom: 1}}"),
        "b.yaml": document("b", "forced: {org.example.Browser: {Zoom: 1.0}}"),
      ],
      report: """
        a.yaml:6:38: error: Zoom is forced to different values at the same rank [conflict]
            6 | forced: {org.example.Browser: {Zoom: 1}}
              |                                      ^
        b.yaml:6:38: note: the other value is here, for every host
        hint: give one profile a higher priority, or make their hosts disjoint

        """),
    Row(
      id: "recommended against recommended; forced of the same key has nothing to do with it",
      files: [
        "a.yaml": document("a", "recommended: {org.example.Editor: {Theme: light}}"),
        "b.yaml": document("b", "recommended: {org.example.Editor: {Theme: dark}}"),
        "c.yaml": document("c", "forced: {org.example.Editor: {Theme: grey}}"),
      ],
      report: """
        a.yaml:6:43: error: Theme is recommended with different values at the same rank [conflict]
            6 | recommended: {org.example.Editor: {Theme: light}}
              |                                           ^~~~~
        b.yaml:6:43: note: the other value is here, for every host
        hint: give one profile a higher priority, or make their hosts disjoint

        """),
    Row(
      id: "forced here, released there",
      files: [
        "a.yaml": document("a", "forced: {org.example.Editor: {FontSize: 12}}"),
        "b.yaml": document("b", "release: {org.example.Editor: [FontSize]}"),
      ],
      report: """
        a.yaml:6:41: error: FontSize is forced and released at the same rank [conflict]
            6 | forced: {org.example.Editor: {FontSize: 12}}
              |                                         ^~
        b.yaml:6:32: note: it is released here, for every host
        hint: give one profile a higher priority, or make their hosts disjoint

        """),
    Row(
      id: "released here, forced there",
      files: [
        "a.yaml": document("a", "release: {org.example.Editor: [FontSize]}"),
        "b.yaml": document("b", "forced: {org.example.Editor: {FontSize: 12}}"),
      ],
      report: """
        a.yaml:6:32: error: FontSize is forced and released at the same rank [conflict]
            6 | release: {org.example.Editor: [FontSize]}
              |                                ^~~~~~~~
        b.yaml:6:41: note: it is forced here, for every host
        hint: give one profile a higher priority, or make their hosts disjoint

        """),
    Row(
      id: "dictionaries that unite and differ on a key",
      files: [
        "a.yaml": document("a", "forced: {org.example.Browser: {Handlers: {mailto: mutt, irc: weechat}}}"),
        "b.yaml": document("b", "forced: {org.example.Browser: {Handlers: {mailto: mail, web: lynx}}}"),
        "m.yaml": unions,
      ],
      report: """
        a.yaml:6:42: error: Handlers gathers different values for 'mailto' at the same rank [conflict]
            6 | forced: {org.example.Browser: {Handlers: {mailto: mutt, irc: weechat}}}
              |                                          ^
        b.yaml:6:42: note: the other value is here, for every host
        hint: give one profile a higher priority, or make their hosts disjoint

        """),
    Row(
      id: "three places, one report",
      files: [
        "a.yaml": document("a", "forced: {org.example.Browser: {Page: one}}"),
        "b.yaml": document("b", "forced: {org.example.Browser: {Page: two}}"),
        "c.yaml": document("c", "forced: {org.example.Browser: {Page: three}}"),
      ],
      report: """
        a.yaml:6:38: error: Page is forced to different values at the same rank [conflict]
            6 | forced: {org.example.Browser: {Page: one}}
              |                                      ^~~
        b.yaml:6:38: note: the other value is here, for every host
        c.yaml:6:38: note: the other value is here, for every host
        hint: give one profile a higher priority, or make their hosts disjoint

        """),
    Row(
      id: "two overrides of one profile",
      files: [
        "a.yaml": document(
          "a",
          """
          forced: {org.example.Browser: {Page: one}}
          overrides:
            - hosts: {names: [lab-a-07]}
              reason: projector
              forced: {org.example.Browser: {Page: two}}
            - hosts: {names: [lab-a-07, lab-a-08]}
              reason: printer
              forced: {org.example.Browser: {Page: three}}
          """)
      ],
      report: """
        a.yaml:10:42: error: Page is forced to different values at the same rank [conflict]
           10 |     forced: {org.example.Browser: {Page: two}}
              |                                          ^~~
        a.yaml:13:42: note: the other value is here, for hosts that both match (lab-a-07)
        hint: make their hosts disjoint, or move one of them to a profile of a higher priority

        """),
    Row(
      id: "an exemption against a literal host's override",
      files: [
        "a.yaml": document(
          "a",
          """
          forced: {org.example.Browser: {Page: one}}
          overrides:
            - hosts: {names: [lab-a-07]}
              reason: projector
              forced: {org.example.Browser: {Page: two}}
          controls:
            - id: LAB-1
              title: The page
              severity: low
              expect: {org.example.Browser: {Page: one}}
          exemptions:
            - control: LAB-1
              hosts: {groups: [lab-a]}
              reason: tests
              owner: j.doe
              expires: 2030-01-01T00:00:00Z
          """), "inventory.yaml": PolicySources.inventory(),
      ],
      report: """
        a.yaml:10:42: error: Page is forced and released at the same rank [conflict]
           10 |     forced: {org.example.Browser: {Page: two}}
              |                                          ^~~
        a.yaml:17:5: note: it is released here, for hosts that both match (lab-a-07)
        hint: make their hosts disjoint, or move one of them to a profile of a higher priority

        """),
  ]

  @Test(arguments: rows)
  func report(row: Row) {
    #expect(PolicySources.report(row.files) == row.report)
  }

  static let fine: [(id: String, files: [String: String])] = [
    (
      "a higher priority",
      [
        "a.yaml": document("a", "forced: {org.example.Browser: {Page: one}}", priority: 1),
        "b.yaml": document("b", "forced: {org.example.Browser: {Page: two}}"),
      ]
    ),
    (
      "an override beats its profile's own part",
      [
        "a.yaml": document(
          "a",
          """
          forced: {org.example.Browser: {Page: one}}
          overrides:
            - hosts: {names: [lab-a-07]}
              reason: projector
              release: {org.example.Browser: [Page]}
          """)
      ]
    ),
    (
      "equal values",
      [
        "a.yaml": document("a", "forced: {org.example.Browser: {Page: [one, {two: 2}]}}"),
        "b.yaml": document("b", "forced: {org.example.Browser: {Page: [one, {two: 2}]}}"),
      ]
    ),
    (
      "one key of two domains",
      [
        "a.yaml": document("a", "forced: {org.example.Browser: {Page: one}}"),
        "b.yaml": document("b", "forced: {org.example.Editor: {Page: two}}"),
      ]
    ),
    (
      "two releases",
      [
        "a.yaml": document("a", "release: {org.example.Browser: [Page]}"),
        "b.yaml": document("b", "release: {org.example.Browser: [Page]}"),
      ]
    ),
    (
      "lists unite, whatever they hold (P12)",
      [
        "10-site.yaml": document("site", "forced: {org.example.Browser: {Extensions: [a, b]}}"),
        "50-sso.yaml": document("sso", "forced: {org.example.Browser: {Extensions: [sso]}}"), "m.yaml": unions,
      ]
    ),
    (
      "dictionaries unite where they don't differ",
      [
        "a.yaml": document("a", "forced: {org.example.Browser: {Handlers: {mailto: mutt, irc: weechat}}}"),
        "b.yaml": document("b", "forced: {org.example.Browser: {Handlers: {mailto: mutt, web: lynx}}}"),
        "m.yaml": unions,
      ]
    ),
    (
      "an exemption below a profile of a higher priority",
      [
        "a.yaml": document(
          "a",
          """
          forced: {org.example.Browser: {Page: one}}
          controls:
            - {id: LAB-1, title: The page, severity: low, expect: {org.example.Browser: {Page: one}}}
          exemptions:
            - control: LAB-1
              hosts: {names: [lab-a-07]}
              reason: tests
              owner: j.doe
              expires: 2030-01-01T00:00:00Z
          """),
        "b.yaml": document("b", "forced: {org.example.Browser: {Page: two}}", priority: 5),
      ]
    ),
  ]

  @Test(arguments: fine)
  func noConflict(id: String, files: [String: String]) {
    #expect(PolicySources.report(files) == "")
  }

  /// P08: the outcome is the same in every run and with the files in every order; what does not conflict is there.
  @Test func sameOutcomeInEveryOrder() {
    let files = [
      ("a.yaml", Self.document("a", "forced: {org.lab.term: {idle: 60}}")),
      ("b.yaml", Self.document("b", "forced: {org.lab.term: {idle: 90, lock: true}}")),
      ("c.yaml", Self.document("c", "forced: {org.lab.term: {font: mono}}")),
    ]
    let first = PolicySources.compile(files).compilation
    #expect(first.diagnostics.map(\.message) == ["idle is forced to different values at the same rank"])
    #expect(first.payload == nil)
    for _ in 0..<100 {
      let again = PolicySources.compile(files.shuffled()).compilation
      #expect(again.diagnostics == first.diagnostics)
      #expect(again.sourceDigest == first.sourceDigest)
    }
  }

  /// H01: renaming a group decides nothing.
  @Test(arguments: ["zone-a", "area-a"])
  func groupNamesDecideNothing(name: String) {
    let report = PolicySources.report([
      "a.yaml": Self.document("a", "applies: {hosts: {groups: [lab-b]}}\nforced: {org.lab.term: {idle: 60}}"),
      "b.yaml": Self.document("b", "applies: {hosts: {groups: [\(name)]}}\nforced: {org.lab.term: {idle: 90}}"),
      "inventory.yaml": """
      version: 1
      kind: Inventory
      hosts: {groups: {lab-b: {names: [pc1]}, \(name): {names: [pc1]}}}

      """,
    ])
    #expect(
      report == """
        a.yaml:7:31: error: idle is forced to different values at the same rank [conflict]
            7 | forced: {org.lab.term: {idle: 60}}
              |                               ^~
        b.yaml:7:31: note: the other value is here, for hosts that both match (pc1)
        hint: give one profile a higher priority, or make their hosts disjoint

        """)
  }

  /// A page for each of 400 rooms, all of one priority: no conflict, and no comparison of every room with every other.
  @Test func manyRoomsOfOnePriority() {
    var files: [String: String] = [:]
    for room in 100..<500 {
      files["room-\(room).yaml"] = Self.document(
        "room\(room)",
        "applies: {hosts: {names: [\"room-\(room)-[01-30]\"]}}\nforced: {org.example.Browser: {Page: page-\(room)}}")
    }
    #expect(PolicySources.report(files) == "")
    files["hall.yaml"] = Self.document(
      "hall", "applies: {hosts: {names: [room-1*-01]}}\nforced: {org.example.Browser: {Page: hall}}")
    #expect(
      PolicySources.compile(files).compilation.diagnostics.map(\.related.count) == [100])
  }

  /// An override for each of many machines and each of many users: compared by name, not every one with every other.
  @Test(arguments: ["hosts", "users"])
  func manyOverridesOfOneRank(part: String) {
    var body = "forced: {org.example.Browser: {Page: 0}}\noverrides:\n"
    for number in 1000..<2500 {
      body += "  - {\(part): {names: [x\(number)]}, reason: r, forced: {org.example.Browser: {Page: \(number)}}}\n"
    }
    #expect(PolicySources.report(["a.yaml": Self.document("a", body)]) == "")
    body += "  - {\(part): {names: [x1007]}, reason: r, forced: {org.example.Browser: {Page: again}}}\n"
    let conflicts = PolicySources.compile(["a.yaml": Self.document("a", body)]).compilation.diagnostics
    #expect(conflicts.map(\.line) == [15])
    #expect(conflicts.flatMap(\.related).map(\.line) == [1508])
  }

  /// A secret that was forced twice is refused, and no report shows either value.
  @Test func secretsAreNotShown() {
    let report = PolicySources.report([
      "a.yaml": Self.document("a", "forced: {org.example.Browser: {Licence: open-sesame}}"),
      "b.yaml": Self.document("b", "forced: {org.example.Browser: {Licence: abracadabra}}"),
      "m.yaml": """
      version: 1
      kind: Manifest
      domain: org.example.Browser
      keys: {Licence: {type: string, secret: true}}

      """,
    ])
    #expect(report.contains("a.yaml:6:32: error: Licence is secret"))
    #expect(report.contains("b.yaml:6:32: error: Licence is secret"))
    #expect(!report.contains("sesame") && !report.contains("abracadabra") && !report.contains("[conflict]"))
  }

  /// A key that is written twice in one mapping is one mistake, not two: neither value stands for it in a conflict.
  @Test(arguments: [
    ("plain", "k: 1, k: 2"), ("in another spelling", "\"\\u00e9\": 1, \"e\\u0301\": 2"),
    ("three times", "k: 1, k: 2, k: 3"),
  ])
  func aDuplicateIsNoConflict(id: String, members: String) {
    let head = "version: 1\nkind: Profile\nid: org.example.p\ntitle: P\n"
    for text in [
      "forced: {org.example.App: {\(members)}}\n",
      "forced: {a.b: {x: 1}}\noverrides: [{hosts: {names: [pc]}, reason: r, forced: {a.b: {\(members)}}}]\n",
    ] {
      let compilation = PolicySources.compile(["p.yaml": head + text]).compilation
      #expect(Set(compilation.diagnostics.map(\.code)) == [.duplicateKey])
    }
  }
}
