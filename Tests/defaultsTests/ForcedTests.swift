import AuditEvents
import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// Forced keys: shown first, and never changed by a command.
@Suite struct ForcedTests {
  static let policy = """
    forced:
      org.lab.imp: {repo: X}
      org.lab.two: {a: 1, b: [one, two]}
      NSGlobalDomain: {locale: de}

    """

  static let sentence = "defaults: repo is forced to \"X\" by \"Baseline\" (generation 1); nothing was written.\n"
  static let explain = "Next: policyctl --root SANDBOX/root explain org.lab.imp repo\n"

  @Test(arguments: [
    ["write", "org.lab.imp", "repo", "Y"], ["write", "org.lab.imp", "repo", "-array-add", "Y"],
    ["delete", "org.lab.imp", "repo"], ["rename", "org.lab.imp", "repo", "other"],
    ["rename", "org.lab.imp", "free", "repo"], ["-currentHost", "write", "org.lab.imp", "repo", "Y"],
    ["-host", "elsewhere", "write", "org.lab.imp", "repo", "Y"], ["--any-user", "write", "org.lab.imp", "repo", "Y"],
  ])
  func aForcedKeyIsNotChanged(_ words: [String]) throws {
    let sandbox = try Sandbox(policy: Self.policy)
    sandbox.defaults("write", "org.lab.imp", "free", "1")
    let before = try sandbox.contents(of: sandbox.configuration)
    expect(sandbox.defaults(words), 77, errors: Self.sentence + Self.explain, in: sandbox)
    #expect(try sandbox.contents(of: sandbox.configuration) == before)
    expect(sandbox.defaults("read", "org.lab.imp", "repo"), output: "X\n", in: sandbox)
  }

  /// What this host's policy forces says nothing of what another host reads.
  @Test func anotherHostsFileIsShownAsItIs() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    try sandbox.write("{repo = theirs;}", to: sandbox.configuration + "/ByHost/org.lab.imp.elsewhere.plist")
    expect(sandbox.defaults("-host", "elsewhere", "read", "org.lab.imp", "repo"), output: "theirs\n", in: sandbox)
    expect(
      sandbox.defaults("-host", "elsewhere", "read", "org.lab.imp"), output: "{\n    repo = theirs;\n}\n", in: sandbox)
    expect(sandbox.defaults("read", "org.lab.imp", "repo"), output: "X\n", in: sandbox)
  }

  /// A file that a domain by name keeps is that domain's by path as well.
  @Test func aPathIsNoWayRound() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    sandbox.defaults("write", "org.lab.imp", "free", "1")
    let path = sandbox.configuration + "/../.config/org.lab.imp"
    expect(sandbox.defaults("write", path, "repo", "Y"), 77, errors: Self.sentence + Self.explain, in: sandbox)
    expect(sandbox.defaults("write", path, "free", "2"), in: sandbox)
    // The file alone is what a path shows.
    expect(sandbox.defaults("read", path), output: "{\n    free = 2;\n}\n", in: sandbox)
  }

  /// Nor is a link to the file, nor another host's file by its path.
  @Test func aLinkIsNoWayRound() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    sandbox.defaults("write", "org.lab.imp", "free", "1")
    sandbox.defaults("-host", "elsewhere", "write", "org.lab.imp", "free", "1")
    symlink(sandbox.configuration + "/org.lab.imp.plist", sandbox.work + "/link.plist")
    symlink("org.lab.imp.plist", sandbox.configuration + "/linked.plist")
    try sandbox.write("{repo = Y;}", to: "in.plist")
    let before = try sandbox.contents(of: sandbox.configuration)
    for domain in ["./link", "linked", "~/.config/linked", "~/.config/ByHost/org.lab.imp.elsewhere"] {
      let path = domain.replacing("~", with: sandbox.home)
      expect(sandbox.defaults("write", path, "repo", "Y"), 77, errors: Self.sentence + Self.explain, in: sandbox)
      for words in [
        ["delete", path, "repo"], ["rename", path, "free", "repo"], ["import", path, "in.plist"],
        ["write", path, "{repo = Y;}"], ["delete", path],
      ] { #expect(sandbox.defaults(words).exitCode == 77, "\(words)") }
    }
    #expect(
      try sandbox.contents(of: sandbox.configuration).filter { !$0.key.hasSuffix(".lock") }
        == before.filter { !$0.key.hasSuffix(".lock") })
    // `org.lab` of such a host would have the file of `org.lab.imp`.
    let host = "imp.\(sandbox.hostIdentifier)"
    expect(
      sandbox.defaults("-host", host, "write", "org.lab", "repo", "Y"), 64,
      errors:
        "defaults: 'org.lab' names no domain, or the host no file: a host's identifier can't contain '.': imp.HOST\n"
        + "Next: defaults domains\n", in: sandbox)
    expect(sandbox.defaults("write", "linked", "free", "2"), in: sandbox)
    expect(sandbox.defaults("read", "org.lab.imp", "free"), output: "2\n", in: sandbox)
  }

  @Test func aWholeDomainIsAllOrNothing() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "org.lab.two", "{a = user; free = 1;}")
    try sandbox.apply(Self.policy)
    let before = try sandbox.contents(of: sandbox.configuration)
    let lines =
      "defaults: a is forced to 1 by \"Baseline\" (generation 1)\n"
      + "defaults: b is forced to [\"one\", \"two\"] by \"Baseline\" (generation 1)\ndefaults: nothing was written.\n"
    let explain = "Next: policyctl --root SANDBOX/root explain org.lab.two a\n"
    expect(
      sandbox.defaults("delete", "org.lab.two"), 77,
      errors: lines + "Next: defaults --root SANDBOX/root delete --skip-forced org.lab.two\n" + explain, in: sandbox)
    try sandbox.write("{a = other; b = (x); free = 2;}", to: "in.plist")
    expect(
      sandbox.defaults("import", "org.lab.two", "in.plist"), 77,
      errors: lines + "Next: defaults --root SANDBOX/root import --skip-forced org.lab.two in.plist\n" + explain,
      in: sandbox)
    expect(
      sandbox.defaults("write", "org.lab.two", "{a = other; b = x;}"), 77,
      errors: lines + "Next: defaults --root SANDBOX/root write --skip-forced org.lab.two '{a = other; b = x;}'\n"
        + explain, in: sandbox)
    #expect(try sandbox.contents(of: sandbox.configuration) == before)

    expect(
      sandbox.defaults("import", "--skip-forced", "org.lab.two", "in.plist"),
      errors: "defaults: note: 2 forced keys left as before: a, b\n", in: sandbox)
    expect(
      sandbox.defaults("export", "org.lab.two", "-"),
      output: Self.xml("\t<key>a</key>\n\t<string>user</string>\n\t<key>free</key>\n\t<string>2</string>\n"),
      in: sandbox)
    expect(
      sandbox.defaults("write", "org.lab.two", "{a = other; free = 3;}", "--skip-forced"),
      errors: "defaults: note: 1 forced key left as before: a\n", in: sandbox)
    expect(
      sandbox.defaults("export", "org.lab.two", "-"),
      output: Self.xml("\t<key>a</key>\n\t<string>user</string>\n\t<key>free</key>\n\t<string>3</string>\n"),
      in: sandbox)
    expect(
      sandbox.defaults("delete", "org.lab.two", "--skip-forced"),
      errors: "defaults: note: 1 forced key left as before: a\n", in: sandbox)
    expect(
      sandbox.defaults("read", "org.lab.two"),
      output: "{\n    a = 1;\n    b =     (\n        one,\n        two\n    );\n}\n", in: sandbox)
    // The user's own value under the forced one is back when the key is released.
    try sandbox.apply("forced: {org.lab.imp: {repo: X}}\n")
    expect(sandbox.defaults("read", "org.lab.two"), output: "{\n    a = user;\n}\n", in: sandbox)
  }

  static func xml(_ members: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
      + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n\(members)</dict>\n</plist>\n"
  }

  /// What is exported from a domain can be imported into it, although a key has been forced: nothing of it is touched.
  @Test func anExportCanComeBack() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "org.lab.imp", "{repo = user; free = 1;}")
    try sandbox.apply(Self.policy)
    expect(sandbox.defaults("export", "org.lab.imp", "backup.plist"), in: sandbox)
    expect(sandbox.defaults("import", "org.lab.imp", "backup.plist"), in: sandbox)
    expect(sandbox.defaults("export", "--managed", "org.lab.imp", "marked.plist"), in: sandbox)
    expect(
      sandbox.defaults("read", "./marked"),
      output: """
        {
            ManagedPreferencesForced =     {
                Generation = 1;
                Profiles =         {
                    repo =             (
                        "org.example.lab.base"
                    );
                };
                Values =         {
                    repo = X;
                };
            };
            free = 1;
            repo = user;
        }

        """, in: sandbox)
    expect(
      sandbox.defaults("import", "org.lab.copy", "marked.plist"),
      errors: "defaults: note: 1 value marked as forced in the file left out\n", in: sandbox)
    expect(sandbox.defaults("read", "org.lab.copy"), output: "{\n    free = 1;\n    repo = user;\n}\n", in: sandbox)
    // Where nothing but the policy has a value, there is nothing to export.
    expect(
      sandbox.defaults("export", "org.lab.two", "-"), 1,
      errors: "defaults: The domain org.lab.two does not exist; nothing was written; did you mean 'org.lab.imp'?\n"
        + "Next: defaults --root SANDBOX/root domains\n", in: sandbox)
  }

  /// What binds every application answers in every domain, and is refused there, but makes no domain of an unknown name.
  @Test func theGlobalDomainBindsEveryDomain() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    expect(sandbox.defaults("read", "org.lab.any", "locale"), output: "de\n", in: sandbox)
    expect(
      sandbox.defaults("write", "org.lab.any", "locale", "en"), 77,
      errors: "defaults: locale is forced to \"de\" by \"Baseline\" (generation 1); nothing was written.\n"
        + "Next: policyctl --root SANDBOX/root explain org.lab.any locale\n", in: sandbox)
    #expect(sandbox.defaults("write", "-g", "locale", "en").exitCode == 77)
    #expect(sandbox.defaults("read", "org.lab.any").exitCode == 1)
    try sandbox.write("{locale = en; x = 1;}", to: sandbox.configuration + "/org.lab.any.plist")
    expect(sandbox.defaults("read", "org.lab.any"), output: "{\n    locale = de;\n    x = 1;\n}\n", in: sandbox)
    expect(sandbox.defaults("domains"), output: "org.lab.any, org.lab.imp, org.lab.two\n", in: sandbox)
    // A domain may be emptied of its own keys; the one that is forced for all is touched, and refuses.
    #expect(sandbox.defaults("delete", "org.lab.any").exitCode == 77)
    expect(sandbox.defaults("delete", "org.lab.any", "x"), in: sandbox)
  }

  @Test func layersShowWhatIsMasked() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "org.lab.imp", "repo", "Y")
    try sandbox.apply(Self.policy)
    let result = sandbox.defaults("read", "--layers", "org.lab.imp", "repo")
    #expect(result.exitCode == 0 && result.errors == "")
    let lines = sandbox.plain(result.output).split(separator: "\n").map {
      $0.split(separator: " ").joined(separator: " ")
    }
    #expect(lines.first == "repo = \"X\" (string), forced by \"Baseline\" (org.example.lab.base), generation 1")
    #expect(lines.contains("● forced \"X\" SANDBOX/root/var/lib/managed-preferences/forced"))
    #expect(lines.contains("application \"Y\" masked SANDBOX/home/.config/org.lab.imp.plist"))
    let json = sandbox.defaults("read", "--layers", "org.lab.imp", "--format", "json")
    #expect(json.output.contains("\"value\": \"Y\",\n          \"type\": \"string\",\n          \"masked\": true"))
    #expect(sandbox.defaults("read", "--layers", "org.lab.imp", "nothing").exitCode == 1)
    #expect(sandbox.defaults("-currentHost", "read", "--layers", "org.lab.imp").exitCode == 64)
  }

  /// A policy that can't be read forces everything: nothing is written, and nothing is said to be free.
  @Test func aPolicyThatCannotBeReadLocks() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    sandbox.defaults("write", "org.lab.free", "k", "1")
    let before = try sandbox.contents(of: sandbox.configuration)
    let state = sandbox.root + "/var/lib/managed-preferences"
    for file in ["/forced", "/generations/0/forced", "/generations/1/forced"] {
      try sandbox.write("damaged", to: state + file)
    }
    let next = "Next: policyctl --root \(sandbox.root) status\n"
    try sandbox.write("{x = 1;}", to: "in.plist")
    for words in [
      ["write", "org.lab.free", "k", "2"], ["delete", "org.lab.free", "k"], ["delete", "org.lab.free"],
      ["rename", "org.lab.free", "k", "j"], ["import", "org.lab.free", "in.plist"],
      ["import", "--skip-forced", "org.lab.free", "in.plist"], ["write", "org.lab.free", "{x = 1;}"],
    ] {
      let result = sandbox.defaults(words)
      #expect(result.exitCode == 77, "\(words)")
      #expect(
        result.errors.hasSuffix(
          "defaults: the forced domain can't be read, so every key counts as forced; nothing was written.\n" + next))
    }
    for words in [["read", "org.lab.free", "k"], ["read"], ["read-type", "org.lab.free", "k"], ["find", "k"]] {
      let result = sandbox.defaults(words)
      #expect(result.exitCode == 69 && result.output == "", "\(words)")
      #expect(
        result.errors.hasSuffix(
          "defaults: the forced domain can't be read, so every key counts as forced and no value is known\n" + next))
    }
    #expect(try sandbox.contents(of: sandbox.configuration) == before)
    // What is the user's own can still be saved.
    #expect(sandbox.defaults("export", "org.lab.free", "saved.plist").exitCode == 0)
    // A file that is no domain's is not the policy's business.
    expect(sandbox.defaults("read", "./saved", "k"), output: "1\n", in: sandbox)
  }

  /// Each refused key is an event for auditors, without its value.
  @Test func aRefusalIsAnEvent() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    #expect(sandbox.defaults("write", "org.lab.imp", "repo", "Y").exitCode == 77)
    let spool = SpoolName(stem: SpoolOrigin(host: sandbox.hostIdentifier, root: sandbox.root).stem).file
    let events = try sandbox.read(sandbox.home + "/.local/state/managed-preferences/" + spool)
    #expect(events.split(separator: "\n").count == 1)
    #expect(
      events.contains("\"forced.write\"") && events.contains("\"repo\"") && events.contains("org.example.lab.base"))
    #expect(!events.contains("\"Y\"") && !events.contains("\"X\""))
  }

  /// `read` has a short way for plain questions (`PlainRead`); a flag behind the verb leads past it.
  @Test(arguments: ["repo", "a", "b", "real", "flag", "date", "text", "locale", "none", "-dash", ""])
  func theShortWayAnswersAsTheVerbDoes(_ key: String) throws {
    let sandbox = try Sandbox(
      policy: """
        forced:
          org.lab.imp: {repo: X}
          org.lab.two:
            a: 1
            b: [one, two]
            real: 2.50
            flag: false
            date: !!timestamp 2026-12-01T09:30:00Z
            text: "two\\nlines"
          NSGlobalDomain: {locale: de, a: 2}

        """)
    sandbox.defaults("write", "org.lab.two", "none", "free")
    for domain in ["org.lab.imp", "org.lab.two", "NSGlobalDomain", ".GlobalPreferences", "other", "a/b", ""] {
      let short = sandbox.defaults("read", domain, key)
      let long = sandbox.bare("read", "--root", sandbox.root, domain, key)
      expect(short, long.exitCode, output: long.output, errors: sandbox.plainErrors(long), in: sandbox)
    }
  }

  /// A key that the policy spells with one code point for `é` is forced in the spelling with two, and the other way round.
  @Test(arguments: [("caf\u{e9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{e9}")])
  func noSpellingGetsPast(_ forced: String, _ asked: String) throws {
    let sandbox = try Sandbox(policy: "forced: {org.lab.imp: {\(forced): locked}}\n")
    for key in [forced, asked] {
      let result = sandbox.defaults("write", "org.lab.imp", key, "x")
      #expect(result.exitCode == 77)
      expect(sandbox.defaults("read", "org.lab.imp", key), output: "locked\n", in: sandbox)
      let got = sandbox.execute([Sandbox.binary("policyctl"), "--root", sandbox.root, "get", "org.lab.imp", key])
      #expect(got.exitCode == 0 && got.output == "locked\n")
    }
    #expect(sandbox.defaults("write", "org.lab.imp", "{'\(asked)' = x;}").exitCode == 77)
  }
}
