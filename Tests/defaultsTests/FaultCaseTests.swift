import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

/// Faults that products of this kind have had, played through the built command; each function names its case.
@Suite struct FaultCaseTests {
  static let title = "Séance nº 4 — 漢字 🧪"

  /// I01: one string is its bytes and a new line, in every locale.
  @Test(arguments: ["C", "POSIX", "C.UTF-8", "xx_XX.ISO-8859-1"]) func textIsPrintedAsItIs(_ locale: String) throws {
    let sandbox = try Sandbox()
    let environment = ["LC_ALL": locale, "LANG": locale]
    for value in [Self.title, "two\nlines\n", "  spaced ", "\u{1b}[31m", ""] {
      expect(
        sandbox.defaults(["write", "org.lab.t", "title", "-string", value], environment: environment), in: sandbox)
      expect(
        sandbox.defaults(["read", "org.lab.t", "title"], environment: environment), output: value + "\n", in: sandbox)
      // In a container it is quoted so that it reads back.
      let all = sandbox.defaults(["read", "org.lab.t"], environment: environment)
      let decoded = try PropertyListCoding.decode(Array(all.output.utf8), as: .openStep)
      #expect(decoded == .dictionary(["title": .string(value)]))
    }
    sandbox.defaults("write", "org.lab.t", "title", Self.title)
    expect(
      sandbox.defaults(["read", "org.lab.t"], environment: environment),
      output: "{\n    title = \"\(Self.title)\";\n}\n", in: sandbox)
    #expect(sandbox.defaults("read", "org.lab.t", "other").exitCode == 1)
  }

  /// I02: export and import keep every type; what `read` shortens is not taken back.
  @Test func copiesAreLossless() throws {
    let sandbox = try Sandbox()
    let data = String(repeating: "0a0bf1", count: 1667).prefix(10_000)
    for value in [
      ["data", "-data", String(data)], ["true", "-bool", "true"], ["one", "-int", "1"], ["real", "-float", "1.5"],
      ["text", "-string", "1"], ["date", "-date", "2026-11-30T07:00:00.25Z"], ["two", "-float", "2"],
      ["map", "<dict><key>deep</key><array><true/><integer>1</integer><real>1</real></array></dict>"],
    ] { expect(sandbox.defaults(["write", "org.lab.t"] + value), in: sandbox) }
    func contents(_ domain: String) throws -> PropertyListValue {
      try PropertyListCoding.decode(WholeFile.read(sandbox.configuration + "/\(domain).plist").bytes)
    }
    let all = try contents("org.lab.t")
    #expect(all.dictionaryValue?["map"]?.dictionaryValue?["deep"] == .array([.boolean(true), .integer(1), .real(1)]))

    let dump = sandbox.defaults("read", "org.lab.t")
    #expect(dump.output.contains("    data = {length = 5000, bytes = 0x0a0bf10a 0bf10a0b f10a0bf1 0a0bf10a ... "))
    for (input, file, shown) in [(nil, "dump", "dump"), (Array(dump.output.utf8), "-", "standard input")] {
      try sandbox.write(dump.output, to: "dump")
      expect(
        sandbox.defaults(["import", "org.lab.u", file], input: input), 65,
        errors: "defaults: \(shown) is what 'defaults read' prints, which shortens data and has no types; "
          + "it can't be imported\nNext: defaults export DOMAIN FILE\n", in: sandbox)
    }
    #expect((try? FileMetadata.of(sandbox.configuration + "/org.lab.u.plist")) == nil)

    expect(sandbox.defaults("export", "org.lab.t", "copy.plist"), in: sandbox)
    #expect(try sandbox.read("copy.plist").hasPrefix("bplist00"))
    expect(sandbox.defaults("import", "org.lab.binary", "copy.plist"), in: sandbox)
    let xml = sandbox.defaults("export", "org.lab.t", "-")
    #expect(xml.output.hasPrefix("<?xml"))
    expect(sandbox.defaults(["import", "org.lab.xml", "-"], input: Array(xml.output.utf8)), in: sandbox)
    #expect(try contents("org.lab.binary") == all)
    #expect(try contents("org.lab.xml") == all)
  }

  /// I02: what a form can't hold is refused, not dropped.
  @Test func anExportThatWouldLoseSomethingFails() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "org.lab.t", "bell", "-string", "\u{7}")
    let result = sandbox.defaults("export", "org.lab.t", "-")
    #expect(result.exitCode == 65 && result.output == "")
    #expect(result.errors.hasSuffix("Next: defaults --root \(sandbox.root) export org.lab.t FILE\n"))
    expect(sandbox.defaults("export", "org.lab.t", "f"), in: sandbox)
    expect(sandbox.defaults("import", "org.lab.u", "f"), in: sandbox)
    expect(sandbox.defaults("read", "org.lab.u", "bell"), output: "\u{7}\n", in: sandbox)
    symlink("f", sandbox.work + "/link")
    #expect(sandbox.defaults("export", "org.lab.t", "link").exitCode == 73)
  }

  /// I02: keys of an import join those that are there.
  @Test func importKeepsOtherKeys() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "d", "{a = 1; b = 2;}")
    expect(sandbox.defaults(["import", "d", "-"], input: Array("{b = 3; c = 4;}".utf8)), in: sandbox)
    expect(sandbox.defaults("read", "d"), output: "{\n    a = 1;\n    b = 3;\n    c = 4;\n}\n", in: sandbox)
    for (text, errors) in [
      ("(a, b)", "the property list of standard input is no dictionary; nothing was written"),
      ("", "standard input is no property list: 1:1: there is no value"),
      ("{a = ", "standard input is no property list: 1:6: the input ends inside a property list"),
    ] {
      expect(
        sandbox.defaults(["import", "d", "-"], input: Array(text.utf8)), 65, errors: "defaults: \(errors)\n",
        in: sandbox)
    }
    #expect(sandbox.defaults("import", "d", "missing").exitCode == 66)
  }

  /// I04: the types of elements are honoured, and a flag is never an element.
  @Test func elementsHaveTypes() throws {
    let sandbox = try Sandbox()
    func stored(_ key: String) throws -> PropertyListValue? {
      try PropertyListCoding.decode(WholeFile.read(sandbox.configuration + "/d.plist").bytes).dictionaryValue?[key]
    }
    expect(sandbox.defaults("write", "d", "list", "-array", "-string", "a", "-int", "3"), in: sandbox)
    #expect(try stored("list") == .array([.string("a"), .integer(3)]))
    expect(sandbox.defaults("write", "d", "m", "-dict", "k", "-bool", "true"), in: sandbox)
    #expect(try stored("m") == .dictionary(["k": .boolean(true)]))
    expect(sandbox.defaults("write", "d", "list", "-array"), in: sandbox)
    #expect(try stored("list") == .array([]))
    expect(sandbox.defaults("write", "d", "list", "-array-add", "b"), in: sandbox)
    expect(sandbox.defaults("write", "d", "new", "-array-add", "b"), in: sandbox)
    #expect(try stored("list") == .array([.string("b")]))
    #expect(try stored("new") == .array([.string("b")]))
    expect(sandbox.defaults("write", "d", "dashes", "-array", "--", "-string", "-int"), in: sandbox)
    #expect(try stored("dashes") == .array([.string("-string"), .string("-int")]))
    let before = try sandbox.contents(of: sandbox.configuration)
    #expect(sandbox.defaults("write", "d", "m", "-array-add", "b").exitCode == 65)
    #expect(sandbox.defaults("write", "d", "list", "-array", "a", "-string").exitCode == 64)
    #expect(try sandbox.contents(of: sandbox.configuration) == before)
  }

  /// I05: see `ForcedTests`; here the four commands of the case, one after the other.
  @Test func aManagedKeyIsNamedWithItsProfile() throws {
    let sandbox = try Sandbox(policy: "forced: {org.lab.imp: {repo: X}}\n")
    try sandbox.write("{repo = Z; other = 1;}", to: "in.plist")
    for words in [
      ["write", "org.lab.imp", "repo", "Y"], ["delete", "org.lab.imp", "repo"], ["delete", "org.lab.imp"],
      ["import", "org.lab.imp", "in.plist"],
    ] {
      let result = sandbox.defaults(words)
      #expect(result.exitCode == 77)
      #expect(
        result.errors.hasPrefix(
          "defaults: repo is forced to \"X\" by \"Baseline\" (generation 1); nothing was written.\n"))
    }
    #expect((try? FileMetadata.of(sandbox.configuration + "/org.lab.imp.plist")) == nil)
    expect(sandbox.defaults("read", "org.lab.imp"), output: "{\n    repo = X;\n}\n", in: sandbox)
  }

  /// L02: a value for this host goes on being read, and the one who writes another is told.
  @Test func aNearerValueIsTold() throws {
    let sandbox = try Sandbox()
    let note =
      "defaults: note: applications go on reading another value of k, from a file that comes first: "
      + "SANDBOX/home/.config/ByHost/org.lab.t.HOST.plist\n"
      + "Next: defaults --root SANDBOX/root -currentHost delete org.lab.t k\n"
    expect(sandbox.defaults("-currentHost", "write", "org.lab.t", "k", "-int", "1"), in: sandbox)
    expect(sandbox.defaults("write", "org.lab.t", "k", "-int", "2"), errors: note, in: sandbox)
    expect(sandbox.defaults("read", "org.lab.t", "k"), output: "1\n", in: sandbox)
    expect(sandbox.defaults("delete", "org.lab.t", "k"), errors: note, in: sandbox)
    expect(sandbox.defaults(["import", "org.lab.t", "-"], input: Array("{k = 2;}".utf8)), errors: note, in: sandbox)
    expect(sandbox.defaults("-currentHost", "delete", "org.lab.t", "k"), in: sandbox)
    expect(sandbox.defaults("read", "org.lab.t", "k"), output: "2\n", in: sandbox)
  }

  /// Y03: `1.10` as it was declared: text keeps its zero, a number does not.
  @Test func numbersAndTextsOfAPolicyDiffer() throws {
    let sandbox = try Sandbox(policy: "forced: {org.lab.t: {minVersion: 1.10, channel: '1.10'}}\n")
    expect(sandbox.defaults("read", "org.lab.t", "minVersion"), output: "1.1\n", in: sandbox)
    expect(sandbox.defaults("read-type", "org.lab.t", "minVersion"), output: "Type is float\n", in: sandbox)
    expect(sandbox.defaults("read", "org.lab.t", "channel"), output: "1.10\n", in: sandbox)
    expect(sandbox.defaults("read-type", "org.lab.t", "channel"), output: "Type is string\n", in: sandbox)
  }

  /// D14: root in somebody else's home writes nothing, and says who could.
  @Test(.enabled(if: geteuid() == 0, "needs root, which is who the case is about"))
  func rootLeavesAnothersHomeAlone() throws {
    let sandbox = try Sandbox()
    let home = sandbox.path + "/alice"
    try Directory.create(home)
    chown(home, 12345, 12345)
    let environment = ["HOME": home]
    let result = sandbox.defaults(["write", "d", "k", "1"], environment: environment)
    #expect(result.exitCode == 77)
    #expect(
      sandbox.plain(result.errors)
        == "defaults: cannot write as root in another user's directory SANDBOX/alice: Operation not permitted; "
        + "nothing was written\nNext: sudo -u '#12345' defaults --root SANDBOX/root write d k 1\n")
    #expect(try Directory.names(in: home).isEmpty)
    // Her own file keeps its owner and mode, and stays as it is.
    try sandbox.write("{k = hers;}", to: home + "/.config/d.plist")
    for path in ["/.config", "/.config/d.plist"] { chown(home + path, 12345, 12345) }
    chmod(home + "/.config/d.plist", 0o600)
    let before = try FileMetadata.of(home + "/.config/d.plist")
    for words in [
      ["write", "d", "k", "1"], ["delete", "d"], ["-currentHost", "write", "d", "k", "1"], ["write", "-g", "k", "1"],
    ] {
      #expect(sandbox.defaults(words, environment: environment).exitCode == 77)
    }
    #expect(try FileMetadata.of(home + "/.config/d.plist") == before)
    #expect(try Directory.names(in: home + "/.config") == ["d.plist"])
    #expect(sandbox.defaults(["read", "d", "k"], environment: environment).output == "hers\n")
    // As alice, the write works.
    let alice = sandbox.execute(
      [
        "setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", Sandbox.binary("defaults"), "write", "d", "k",
        "new",
      ],
      environment: environment)
    #expect(alice.exitCode == 0, "\(alice.errors)")
    #expect(try FileMetadata.of(home + "/.config/d.plist").userID == 12345)
    #expect(try FileMetadata.of(home + "/.config/d.plist").permissions == 0o600)
  }
}
