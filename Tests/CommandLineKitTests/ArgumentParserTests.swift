import Testing

@testable import CommandLineKit

@Suite struct ArgumentParserTests {
  static let verb = Verb(
    "get", summary: "Print a value.", operands: [Operand("DOMAIN", .domain), Operand("KEY", .key, optional: true)],
    flags: [
      Flag("--host", value: "NAME", .host, "what if the host were NAME"),
      Flag("--group", value: "GROUP", .group, repeats: true, "a group"),
      Flag("--format", value: "FORM", .choice(["text", "json"]), "the form"),
      Flag("--serial", value: "N", .number, "the serial number"),
      Flag("--output", short: "-o", value: "FILE", .file, "where to"),
      Flag("--quiet", "say nothing"),
    ], example: "policyctl get NSGlobalDomain")
  static let shared = [
    Flag("--root", value: "DIR", .directory, "another root"), Flag("--help", short: "-h", "this text"),
  ]

  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let words: [String]
    let flags: [String]
    let operands: [String]
    var testDescription: String { id }
  }

  static let accepted = [
    Row(id: "operands only", words: ["a", "b"], flags: [], operands: ["a", "b"]),
    Row(id: "flag value", words: ["--host", "h", "a"], flags: ["--host=h"], operands: ["a"]),
    Row(id: "flag=value", words: ["a", "--host=h=i"], flags: ["--host=h=i"], operands: ["a"]),
    Row(id: "value with dash", words: ["a", "--host=-x"], flags: ["--host=-x"], operands: ["a"]),
    Row(id: "short flag", words: ["a", "-o", "f"], flags: ["--output=f"], operands: ["a"]),
    Row(id: "dash is a value", words: ["a", "-o", "-"], flags: ["--output=-"], operands: ["a"]),
    Row(
      id: "repeated", words: ["a", "--group", "g", "--group", "h"], flags: ["--group=g", "--group=h"], operands: ["a"]),
    Row(id: "switch", words: ["--quiet", "a"], flags: ["--quiet="], operands: ["a"]),
    Row(id: "shared flag", words: ["a", "--root", "/tmp"], flags: ["--root=/tmp"], operands: ["a"]),
    Row(id: "double dash", words: ["--", "-a", "--host"], flags: [], operands: ["-a", "--host"]),
    Row(id: "help needs no operand", words: ["-h"], flags: ["--help="], operands: []),
    Row(
      id: "number", words: ["a", "--serial", "18446744073709551615"], flags: ["--serial=18446744073709551615"],
      operands: ["a"]),
  ]

  @Test(arguments: accepted) func accepts(_ row: Row) throws {
    let parsed = try ArgumentParser.parse(row.words, verb: Self.verb, shared: Self.shared)
    #expect(parsed.flags.map { "\($0.name)=\($0.value)" } == row.flags)
    #expect(parsed.operands == row.operands)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let id: String
    let words: [String]
    let text: String
    var testDescription: String { id }
  }

  static let refused = [
    Refused(
      id: "unknown flag", words: ["a", "--hots", "h"],
      text: "policyctl get: unknown flag '--hots'; did you mean '--host'?\nNext: policyctl get --help\n"),
    Refused(
      id: "no abbreviation", words: ["a", "--ho", "h"],
      text: "policyctl get: unknown flag '--ho'; did you mean '--host'?\nNext: policyctl get --help\n"),
    Refused(
      id: "missing value", words: ["a", "--host"],
      text: "policyctl get: --host needs a value: --host NAME\nNext: policyctl get --help\n"),
    Refused(
      id: "a flag is no value", words: ["a", "--host", "--quiet"],
      text: "policyctl get: --host needs a value: --host NAME\nNext: policyctl get --help\n"),
    Refused(
      id: "empty value", words: ["a", "--host="],
      text: "policyctl get: --host needs a value: --host NAME\nNext: policyctl get --help\n"),
    Refused(
      id: "twice", words: ["a", "--host", "h", "--host", "i"],
      text: "policyctl get: --host is given twice\nNext: policyctl get --help\n"),
    Refused(
      id: "switch with value", words: ["a", "--quiet=yes"],
      text: "policyctl get: --quiet takes no value\nNext: policyctl get --help\n"),
    Refused(
      id: "choice", words: ["a", "--format", "jsn"],
      text: "policyctl get: --format is text or json, not 'jsn'; did you mean 'json'?\nNext: policyctl get --help\n"),
    Refused(
      id: "number", words: ["a", "--serial", "+1"],
      text: "policyctl get: --serial is a whole number from 0 to 18446744073709551615, not '+1'\n"
        + "Next: policyctl get --help\n"),
    Refused(
      id: "too few", words: ["--quiet"], text: "policyctl get: DOMAIN is missing\nNext: policyctl get --help\n"),
    Refused(id: "empty operand", words: [""], text: "policyctl get: DOMAIN is empty\nNext: policyctl get --help\n"),
    Refused(
      id: "too many", words: ["a", "b", "c\u{1b}[31m"],
      text: "policyctl get: 'c\\u{1b}[31m' is one word too many\nNext: policyctl get --help\n"),
  ]

  @Test(arguments: refused) func refuses(_ row: Refused) {
    let error = #expect(throws: UsageError.self) {
      try ArgumentParser.parse(row.words, verb: Self.verb, shared: Self.shared)
    }
    #expect(error.map { CommandFailure($0, command: "policyctl").text(command: "policyctl") } == row.text)
  }

  @Test func errorsOfTheCommandPointToItsHelp() {
    #expect(
      CommandFailure(.unknownVerb("explian", suggestions: ["explain"]), command: "policyctl").text(command: "policyctl")
        == "policyctl: unknown verb 'explian'; did you mean 'explain'?\nNext: policyctl --help\n")
    #expect(
      CommandFailure(.missingVerb, command: "policyctl").text(command: "policyctl")
        == "policyctl: a verb is missing\nNext: policyctl --help\n")
  }

  @Test func helpEndsWithTheExample() {
    #expect(
      HelpText.text(for: Self.verb, command: "policyctl", shared: Self.shared) == """
        Print a value.

        usage: policyctl get DOMAIN [KEY] [flags]

          --host NAME        what if the host were NAME
          --group GROUP …    a group
          --format FORM      the form
          --serial N         the serial number
          -o, --output FILE  where to
          --quiet            say nothing
          --root DIR         another root

        example:
          policyctl get NSGlobalDomain

        """)
  }
}
