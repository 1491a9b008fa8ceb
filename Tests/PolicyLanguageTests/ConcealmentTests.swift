import PolicyLanguage
import Testing

/// No diagnostic shows a value of a key that a manifest calls secret, whatever else is wrong.
@Suite struct ConcealmentTests {
  /// What must not be seen; in the sources it is what `$` stands for.
  static let secret = "zq7-zq7"

  static let manifest = """
    version: 1
    kind: Manifest
    domain: org.example.App
    keys:
      LicenceKey: {type: string, secret: true}
      Size: {type: integer}

    """

  /// All that is said of a tree: as text, and what programs get.
  static func said(_ sources: [(path: String, text: String)]) -> (text: String, count: Int) {
    let files = sources.map {
      (
        path: $0.path,
        bytes: Array($0.text.split(separator: "$", omittingEmptySubsequences: false).joined(separator: secret).utf8)
      )
    }
    let tree = PolicyTreeLoader.load(sources: files, now: 1_796_000_000)
    var text = DiagnosticRenderer(sources: tree.sources).render(tree.diagnostics)
    for diagnostic in tree.diagnostics {
      text += diagnostic.message + (diagnostic.hint ?? "") + diagnostic.related.map(\.message).joined()
    }
    return (text, tree.diagnostics.count)
  }

  static func profile(_ forced: String) -> String {
    "version: 1\nkind: Profile\nid: org.example.p\ntitle: P\nforced:\n  org.example.App:\n\(forced)\n"
  }

  /// A value of the secret key with a mistake in it, beside it, or in what should end it.
  static let forced = [
    "    LicenceKey: $", "    LicenceKey: \"$", "    LicenceKey: '$", "    LicenceKey: [$", "    LicenceKey: {$",
    "    LicenceKey: *$", "    LicenceKey: & $", "    LicenceKey: @$", "    LicenceKey: `$", "    LicenceKey: %$",
    "    LicenceKey: !$ x", "    LicenceKey: !$!x y", "    LicenceKey: !!int $", "    LicenceKey: !!binary $",
    "    LicenceKey: !!timestamp $", "    LicenceKey: a[$[1]]", "    LicenceKey: [a[$]]", "    LicenceKey: $: x",
    "    LicenceKey: x: $", "    LicenceKey $", "    LicenceKey\n      $", "    LicenceKey:\n      $: ~",
    "    LicenceKey:\n      a: ~\n      b: {$: 1, $: 2}", "    LicenceKey: {auth: {credential: $, x: ~}}",
    "    LicenceKey: [$, ~, no]", "    LicenceKey:\n    - $\n    - ~", "    LicenceKey: \"a\n      $\", Other: ~",
    "    LicenceKey: \"a\n      $\" x", "    LicenceKey: |\n      $\n   $: 1\n  $", "    LicenceKey: |9\n      $",
    "    LicenceKey: >\n\t$", "\tLicenceKey: $", "   LicenceKey: $\n    Size: 1", "    Size: 1\n   LicenceKey: $",
    "    Size: 1\n     LicenceKey: $", "    - LicenceKey: $", "    LicenceKey: $\n    LicenceKey: $",
    "    licencekey: no $\n    LicenceKey: no", "    LicenceKey: &a $\n    Size: *a",
    "    Size: &a $\n    LicenceKey: *a",
    "    LicenceKey: {a: &a $}\n    Size: [*a]", "    {LicenceKey: $, Size: no}", "    {LicenceKey: $, Size: no",
    "    Size: [\n    LicenceKey: $", "    Size: [1\n    LicenceKey: $\n    Size: ]",
    "    ? LicenceKey\n    : $\n    ? ~",
    "    ? [LicenceKey, $]\n    : 1", "    LicenceKey: $\u{1}", "    LicenceKey: \"\\q$\"", "    LicenceKey: \"$\\x\"",
    "    LicenceKey: $\n...\n$ {", "    LicenceKey: $\n---\n[$", "  LicenceKey: $", "LicenceKey: $",
    "    LicenceKye: no $",
    "    Licence-Key: $\n    Size: x", "    !LicenceKey: $", "    *LicenceKey: $", "    &LicenceKey : $",
    "    <<: {LicenceKey: $}",
    "    \"LicenceKey: $", "    Licence\n    Key: $", "    LicenceKey: $ #\u{2028} x: y: z",
    "    LicenceKey: 0$\n    Size: 012",
    "    LicenceKey: \u{85}$\n    Size: x",
  ]

  @Test("A09: no diagnostic holds a value of a secret key", arguments: forced)
  func valuesAreNotShown(_ forced: String) {
    let (text, count) = Self.said([("m.yaml", Self.manifest), ("p.yaml", Self.profile(forced))])
    #expect(count > 0)
    #expect(!text.contains("zq7"), "\(text)")
    // The manifest in the same file, before and behind.
    for sources in ["\(Self.manifest)---\n\(Self.profile(forced))", "\(Self.profile(forced))---\n\(Self.manifest)"] {
      let (text, _) = Self.said([("p.yaml", sources)])
      #expect(!text.contains("zq7"), "\(text)")
    }
  }

  /// What the manifest says can't be read: then every value may be a secret.
  @Test(
    "A09: a broken manifest reveals nothing",
    arguments: [
      "LicenceKey: {type: string, secret: yes}", "LicenceKey: {type: string, secert: true}",
      "LicenceKey: {type: string, secret: \"true\"}", "LicenceKey: {type: string, secret: ~}", "LicenceKey: secret",
      "LicenceKey: {type: string, secret: true", "LicenceKey: [", "\tLicenceKey: {secret: true}",
      "LicenceKey: {type: strin, secret: true, default: $}", "LicenceKey: {secret: true, enum: [$, ~, no]}",
      "LicenceKey: {secret: !x true}", "? LicenceKey\n  : {secret: true}\n  ? []",
    ])
  func brokenManifests(_ keys: String) {
    for kind in ["kind: Manifest", "kind: Manifst", "kinds: Manifest"] {
      for field in ["keys", "kyes"] {
        let manifest = "version: 1\n\(kind)\ndomain: org.example.App\n\(field):\n  \(keys)\n"
        for forced in ["    LicenceKey: no $\n    Size: no", "    LicenceKey: !!int $", "    LicenceKey: {$: ~}"] {
          let profile = Self.profile(forced)
          let (text, count) = Self.said([("m.yaml", manifest), ("p.yaml", profile)])
          #expect(count > 0)
          #expect(!text.contains("zq7"), "\(text)")
        }
      }
    }
  }

  /// Each character that means something to YAML, put in at each place but in the secret itself.
  @Test(
    "A09: no single slip reveals a value",
    arguments: ["[", "{", "\"", "'", "&", "*", "!", "@", "\t", ":", " ", "-", "\n", "#", "|", ",", "x", "?", "\\"])
  func slips(_ slip: String) {
    let profile = Self.profile(
      """
          Size: no
          LicenceKey: {auth: {user: ~, credential: "$"}}
          More: [1, no]
      controls:
        - {id: C, title: T, severity: x, expect: {org.example.App: {LicenceKey: $, Size: x}}}
        - id: D
          title: T
          expect:
            org.example.App:
              LicenceKey: |
                $
              Size: no
      """)
    // A third of the places each: the slips are many enough to be at all of them.
    let phase = Int(slip.utf8.first ?? 0) % 3
    for (index, source) in [Self.manifest, profile].enumerated() {
      for place in source.indices where source.distance(from: source.startIndex, to: place) % 3 == phase {
        if Self.isDeclaredOtherwise(index, slip, source, place) { continue }
        let slipped = source[..<place] + slip + source[place...]
        let sources = index == 0 ? [String(slipped), profile] : [Self.manifest, String(slipped)]
        let (text, _) = Self.said([("m.yaml", sources[0]), ("p.yaml", sources[1])])
        if text.contains("zq7") {
          Issue.record("\(slip.debugDescription) before \(source[place...].prefix(12).debugDescription):\n\(text)")
          return
        }
      }
    }
  }

  /// What then stands there is another policy, and in order: the manifest has the entry in a comment, the name is two
  /// names of a flow mapping, or a line of the text is a key.
  static func isDeclaredOtherwise(_ index: Int, _ slip: String, _ source: String, _ place: String.Index) -> Bool {
    let before = source[..<place]
    let line = before.suffix(
      before.count - (before.lastIndex(of: "\n").map { before.distance(from: before.startIndex, to: $0) + 1 } ?? 0))
    switch slip {
    case "#": return index == 0
    case ",": return line.contains("{")
    case "?": return source[place...].split(separator: "\n").first?.hasSuffix(" $") ?? false
    default: return false
    }
  }

  /// Without a manifest, a name that sounds secret is enough, at any depth; where one describes the key, it decides.
  @Test func namesThatSoundSecret() {
    for forced in [
      "    proxyPassword: no $\n    Size: no", "    proxy: {auth: {credential: !!int $}}", "    API_Key: !$ x",
      "    a: [{Token: [1, {$: ~}]}]",
    ] {
      let (text, count) = Self.said([("p.yaml", Self.profile(forced))])
      #expect(count > 0)
      #expect(!text.contains("zq7"), "\(text)")
    }
    let manifest =
      "version: 1\nkind: Manifest\ndomain: org.example.App\nkeys:\n  TokenLifetime: {type: integer, range: [1, 9]}\n"
    let (text, _) = Self.said([("m.yaml", manifest), ("p.yaml", Self.profile("    TokenLifetime: 12"))])
    #expect(
      text.contains("error: TokenLifetime: 12 is not from 1 to 9 [out-of-range]\n    7 |     TokenLifetime: 12\n"),
      "\(text)")
  }

  /// What is left is enough to find the mistake.
  @Test func thePlaceAndTheKeyAreShown() {
    func said(_ forced: String) -> String {
      let file = (path: "p.yaml", bytes: Array(Self.profile(forced).utf8))
      let manifest = (path: "m.yaml", bytes: Array(Self.manifest.utf8))
      let tree = PolicyTreeLoader.load(sources: [manifest, file], now: 1_796_000_000)
      return DiagnosticRenderer(sources: tree.sources).render(tree.diagnostics)
    }
    #expect(
      said("    Size: 5\n    LicenceKey: @secret\n") == """
        p.yaml:8:17: error: no value can begin with '@' [syntax]
            8 |     LicenceKey: …
              |                 ^
        hint: put the text in quotes

        """)
    #expect(
      said("    LicenceKey: {a: !!int secret}\n") == """
        p.yaml:7:5: error: LicenceKey is secret; a policy can't give it a value [secret-key]
            7 |     LicenceKey: …
              |     ^~~~~~~~~~
        hint: everyone can read what a policy forces; leave the key to the application
        p.yaml:7:21: error: LicenceKey: a value is not what its tag says [invalid-tagged-value]
            7 |     LicenceKey: …
              |                 ^

        """)
    // The language's own fields are shown whole.
    #expect(
      said("    Size: 5\napplies:\n  hosts:\n    names: [lab-[1-2]]\n") == """
        p.yaml:10:17: error: expected ',' or ']' in the list that was opened with '[' [syntax]
           10 |     names: [lab-[1-2]]
              |                 ^
        p.yaml:10:12: note: the list is opened here
        hint: put a text with brackets in quotes: "lab-[1-2]"

        """)
    // A key where none is expected.
    #expect(
      said("    Size: 5\n   LicenceKey: secret\n") == """
        p.yaml:8:4: error: expected a key here, at the depth of the keys above [syntax]
            8 |    LicenceKey: …
              |    ^
        p.yaml:6:3: note: the mapping begins here
        hint: check the indentation of this line and of those above

        """)
  }
}
