import CommandLineKit
import CommandSandbox
import LinuxFiles
import Testing

/// Command lines that are wrong, the help that they point to, and what the program is linked with.
@Suite struct UsageTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let words: [String]
    let errors: String
    var testDescription: String { words.joined(separator: " ") }
  }

  static let rows = [
    Row(words: [], errors: "defaults: a verb is missing\nNext: defaults --help\n"),
    Row(words: ["raed"], errors: "defaults: unknown verb 'raed'; did you mean 'read'?\nNext: defaults --help\n"),
    Row(
      words: ["remove"],
      errors: "defaults: unknown verb 'remove'; did you mean 'delete'?\nNext: defaults --help\n"),
    Row(
      words: ["delete", "d", "-g"],
      errors: "defaults delete: -globalDomain stands in the place of DOMAIN, and another word is there already\n"
        + "Next: defaults delete --help\n"),
    Row(
      words: ["read", "d", "-app", "x"],
      errors: "defaults read: -app stands in the place of DOMAIN, and another word is there already\n"
        + "Next: defaults read --help\n"),
    Row(
      words: ["read", "--format", "json", "-g", "k", "x"],
      errors: "defaults read: 'x' is one word too many\nNext: defaults read --help\n"),
    Row(
      words: ["-curentHost", "read"],
      errors: "defaults: unknown flag '-curentHost'; did you mean '-currentHost'?\nNext: defaults --help\n"),
    Row(words: ["-host"], errors: "defaults: -host needs a value: -host ID\nNext: defaults --help\n"),
    Row(
      words: ["read", "d", "k", "x"], errors: "defaults read: 'x' is one word too many\nNext: defaults read --help\n"),
    Row(
      words: ["read", "-g", "k", "x"], errors: "defaults read: 'x' is one word too many\nNext: defaults read --help\n"),
    Row(words: ["read", "--layers"], errors: "defaults read: DOMAIN is missing\nNext: defaults read --help\n"),
    Row(words: ["read-type", "d"], errors: "defaults read-type: KEY is missing\nNext: defaults read-type --help\n"),
    Row(words: ["read-type", "-g"], errors: "defaults read-type: KEY is missing\nNext: defaults read-type --help\n"),
    Row(words: ["rename", "d", "a"], errors: "defaults rename: NEW is missing\nNext: defaults rename --help\n"),
    Row(words: ["rename", "d", "a", ""], errors: "defaults rename: NEW is empty\nNext: defaults rename --help\n"),
    Row(words: ["delete", "d", ""], errors: "defaults delete: KEY is empty\nNext: defaults delete --help\n"),
    Row(words: ["delete"], errors: "defaults delete: DOMAIN is missing\nNext: defaults delete --help\n"),
    Row(words: ["find"], errors: "defaults find: WORD is missing\nNext: defaults find --help\n"),
    Row(words: ["import", "d"], errors: "defaults import: FILE is missing\nNext: defaults import --help\n"),
    Row(
      words: ["export", "-app"],
      errors: "defaults export: -app needs a value: -app NAME\nNext: defaults export --help\n"),
    Row(
      words: ["read", "d", "--format", "xml"],
      errors: "defaults read: --format is text or json, not 'xml'\nNext: defaults read --help\n"),
    Row(
      words: ["read", ".x"],
      errors: "defaults: '.x' names no domain, or the host no file: a domain's name can't begin with '.': .x\n"
        + "Next: defaults domains\n"),
  ]

  @Test(arguments: rows) func usageErrorsExitWith64AndPointToHelp(_ row: Row) throws {
    let sandbox = try Sandbox()
    expect(sandbox.execute([Sandbox.binary("defaults")] + row.words), 64, errors: row.errors, in: sandbox)
  }

  static let verbs = ["read", "read-type", "write", "rename", "delete", "domains", "find", "import", "export"]

  @Test(arguments: verbs + [""]) func helpFitsAScreenAndEndsWithAnExample(_ verb: String) throws {
    let sandbox = try Sandbox()
    let result = sandbox.bare(verb.isEmpty ? "help" : "help", verb)
    let words = verb.isEmpty ? ["--help"] : [verb, "--help"]
    let other = sandbox.execute([Sandbox.binary("defaults")] + words)
    if !verb.isEmpty { #expect(result.output == other.output) }
    #expect(other.exitCode == 0 && other.errors == "")
    let lines = other.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count <= (verb.isEmpty ? 30 : 24))
    for line in lines { #expect(DisplayWidth.columns(line) <= 90, "\(line)") }
    #expect(lines.first?.hasSuffix(".") == true)
    #expect(lines[lines.count - 2] == "example:")
    #expect(lines.last?.contains("defaults \(verb.isEmpty ? "read" : verb)") == true)
  }

  @Test func theOverviewNamesEveryVerb() throws {
    let sandbox = try Sandbox()
    let overview = sandbox.bare("help").output
    #expect(overview == sandbox.bare("--help").output)
    for verb in Self.verbs { #expect(overview.contains("\n  \(verb) "), "\(verb)") }
    expect(sandbox.bare("--version"), output: "defaults 0.1\n", in: sandbox)
  }

  /// The examples work as typed, in an order in which each finds what it needs.
  @Test func everyExampleOfHelpWorksAsTyped() throws {
    let sandbox = try Sandbox(policy: "forced: {org.example.Editor: {AutoSaveInterval: 30}}\n")
    let commands = try sandbox.commands()
    sandbox.defaults("write", "-g", "x", "1")
    for verb in ["write", "read", "read-type", "find", "domains", "export", "import", "rename", "write", "delete"] {
      let help = sandbox.bare(verb, "--help").output
      let example = try #require(help.split(separator: "\n").last).drop { $0 == " " }
      let result = sandbox.execute(
        ["sh", "-c", String(example)], environment: ["PATH": commands + ":/usr/bin:/bin"])
      #expect(result.exitCode == 0, "\(example): \(result.errors)")
    }
  }

  /// What loading costs: no Foundation, no libcrypto, no libyaml in a command that is run in loops. SQLite is loaded where a key
  /// roams.
  @Test func theProgramIsLinkedWithLittle() throws {
    let needed = try Sandbox().execute(["ldd", Sandbox.binary("defaults")]).output
    for library in ["libFoundation", "libcrypto", "libyaml", "libsqlite", "libpq", "lib_Foundation"] {
      #expect(needed.firstRange(of: library) == nil, "\(library)")
    }
    #expect(needed.firstRange(of: "libc.so") != nil)
  }

  /// A read starts no thread and opens what it needs.
  @Test(.enabled(if: Strace.isAvailable)) func aReadIsShort() throws {
    let sandbox = try Sandbox(policy: "forced: {org.lab.t: {forced: 1}}\n")
    sandbox.defaults("write", "org.lab.t", "k", "1")
    let trace = sandbox.work + "/trace"
    let result = sandbox.execute(
      [
        "strace", "-f", "-o", trace, "-e", "trace=openat,clone,clone3", Sandbox.binary("defaults"), "--root",
        sandbox.root,
      ]
        + ["read", "org.lab.t", "k"])
    #expect(result.output == "1\n")
    let calls = try sandbox.read("trace").split(separator: "\n")
    #expect(calls.filter { $0.contains("clone(") || $0.contains("clone3(") } == [])
    let opened = calls.filter { !$0.contains("ENOENT") }
    let own = opened.filter { $0.contains(sandbox.path) || $0.contains("machine-id") || $0.contains(", \"forced\"") }
    #expect(own.count <= 8, "\(own.joined(separator: "\n"))")
  }
}

/// Whether a process may be watched here.
enum Strace {
  static let isAvailable: Bool = {
    guard let sandbox = try? Sandbox() else { return false }
    let isAvailable = sandbox.execute(["strace", "-o", "/dev/null", "true"]).exitCode == 0
    if !isAvailable { print("SKIPPED: no strace here, so what a read opens can't be counted") }
    return isAvailable
  }()
}
