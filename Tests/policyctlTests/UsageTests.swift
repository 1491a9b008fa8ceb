import CommandLineKit
import CommandSandbox
import Testing

/// Command lines that are wrong, and the help that they point to.
@Suite struct UsageTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let words: [String]
    let errors: String
    var testDescription: String { words.joined(separator: " ") }
  }

  static let rows = [
    Row(words: [], errors: "policyctl: a verb is missing\nNext: policyctl --help\n"),
    Row(
      words: ["explian"], errors: "policyctl: unknown verb 'explian'; did you mean 'explain'?\nNext: policyctl --help\n"
    ),
    Row(words: ["frobnicate"], errors: "policyctl: unknown verb 'frobnicate'\nNext: policyctl --help\n"),
    Row(
      words: ["key", "generat"],
      errors: "policyctl: unknown verb 'key generat'; did you mean 'key generate'?\nNext: policyctl --help\n"),
    Row(
      words: ["get", "--hsot", "x", "D"],
      errors: "policyctl get: unknown flag '--hsot'; did you mean '--host'?\nNext: policyctl get --help\n"),
    Row(words: ["explain", "D"], errors: "policyctl explain: KEY is missing\nNext: policyctl explain --help\n"),
    Row(
      words: ["get", "D", "--at", "yesterday"],
      errors: "policyctl get: --at 'yesterday' is not a time; write 2026-12-01, '2026-12-01 09:30' or "
        + "2026-12-01T09:30:00+01:00\nNext: policyctl get --help\n"),
    Row(
      words: ["get", "D", "--at", "2026-10-25 02:30"],
      errors: "policyctl get: --at '2026-10-25 02:30' exists twice in this time zone; write "
        + "2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00\nNext: policyctl get --help\n"),
    Row(
      words: ["get", "D", "--at", "2026-03-29 02:30"],
      errors: "policyctl get: --at '2026-03-29 02:30' does not exist in this time zone; write 2026-12-01, "
        + "'2026-12-01 09:30' or 2026-12-01T09:30:00+01:00\nNext: policyctl get --help\n"),
    Row(
      words: ["get", "D", "--policies", "a", "--bundle", "b"],
      errors: "policyctl get: --policies and --bundle exclude each other\nNext: policyctl get --help\n"),
    Row(words: ["compile", "x"], errors: "policyctl compile: -o FILE is missing\nNext: policyctl compile --help\n"),
    Row(words: ["enroll"], errors: "policyctl enroll: --host NAME is missing\nNext: policyctl enroll --help\n"),
    Row(words: ["--wat"], errors: "policyctl: unknown flag '--wat'\nNext: policyctl --help\n"),
    Row(words: ["--root"], errors: "policyctl: --root needs a value: --root DIR\nNext: policyctl --help\n"),
  ]

  @Test(arguments: rows) func usageErrorsExitWith64AndPointToHelp(_ row: Row) throws {
    let result = try Sandbox().runBare(row.words)
    #expect(result.exitCode == 64)
    #expect(result.output == "")
    #expect(result.errors == row.errors)
  }

  static let verbs = [
    "init", "enroll", "check", "compile", "install", "apply", "refresh", "status", "generations", "get", "explain",
    "test", "key generate", "key trust", "key list", "schema", "containers", "containers show", "containers reset",
    "containers remove",
    "audit show", "audit verify", "audit head", "audit export", "audit acknowledge", "audit set-aside", "audit prune",
    "audit erase",
    "uninstall", "run", "report",
  ]

  @Test(arguments: verbs + ["", "key", "audit"]) func helpFitsAScreenAndEndsWithAnExample(_ verb: String) throws {
    let words = verb.split(separator: " ").map(String.init)
    let result = try Sandbox().runBare(words + ["--help"])
    #expect(result.exitCode == 0)
    #expect(result.errors == "")
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count <= (verb.isEmpty ? 40 : 24))
    for line in lines { #expect(DisplayWidth.columns(line) <= 85, "\(line)") }
    #expect(lines.first?.hasSuffix(".") == true)
    #expect(lines[lines.count - 2] == "example:")
    #expect(lines.last?.contains("policyctl \(verb)") == true)
  }

  @Test func theOverviewNamesEveryVerb() throws {
    let result = try Sandbox().runBare(["--help"])
    for verb in Self.verbs { #expect(result.output.contains("  " + verb.split(separator: " ")[0]), "\(verb)") }
  }

  @Test func theVersionIsOneLine() throws {
    #expect(try Sandbox().runBare(["--version"]).output == "policyctl 0.1\n")
  }

  @Test func theSchemaIsJSON() throws {
    let result = try Sandbox().runBare(["schema"])
    #expect(result.exitCode == 0)
    #expect(try JSON(result.output)["$schema"].text.hasPrefix("https://json-schema.org/"))
  }

  @Test func nothingIsColouredInAPipe() throws {
    let sandbox = try Sandbox(applied: true)
    for words in [["status"], ["explain", "org.example.Editor", "AutoSaveInterval"], ["get", "org.example.Editor"]] {
      let result = sandbox.runBare(["--root", sandbox.root] + words)
      #expect(!result.output.contains("\u{1b}"))
    }
  }
}
