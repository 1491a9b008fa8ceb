import LinuxFiles
import Testing

@testable import CommandLineKit

@Suite struct TextTests {
  @Test(arguments: [
    ("explian", ["explain"]), ("expalin", ["explain"]), ("EXPLAIN", ["explain"]), ("gen", ["generations", "get"]),
    ("xyzzy", []), ("", []), ("chek", ["check"]), ("statuses", ["status"]),
    ("check", []),
  ])
  func suggests(_ typed: String, _ expected: [String]) {
    let known = ["init", "check", "explain", "generations", "get", "status"]
    #expect(Suggestion.nearest(to: typed, among: known) == expected)
  }

  @Test(arguments: [
    ("abc", 3), ("", 0), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("…", 1), ("●", 1), ("🎓", 2), ("ａ", 2), ("–", 1),
  ])
  func measures(_ text: String, _ columns: Int) { #expect(DisplayWidth.columns(text) == columns) }

  @Test(arguments: [
    ("plain text", "plain text"), ("a\nb\tc", "a\\nb\\tc"), ("\u{1b}[2J", "\\u{1b}[2J"),
    ("a\u{202e}b", "a\\u{202e}b"), ("\u{2066}x", "\\u{2066}x"), ("Übung – ok", "Übung – ok"), ("\u{9b}", "\\u{9b}"),
    ("\u{200b}", "\\u{200b}"),
  ])
  func escapes(_ text: String, _ expected: String) { #expect(TerminalText.escape(text) == expected) }

  @Test func tablesAlignByDisplayWidth() {
    var table = TextTable([.right, .left, .left], indent: 2)
    table.add(["rank", "profile", "holds"])
    table.add(["100", "日本", "no"])
    table.add(["-5", TextTable.Cell("org.example", .error), ""])
    #expect(
      table.text(.plain)
        == "  rank  profile      holds\n"
        + "   100  日本         no\n"
        + "    -5  org.example\n")
    #expect(
      table.text(Palette(isEnabled: true)).contains("    -5  \u{1b}[31morg.example\u{1b}[0m\n"))
  }

  @Test func textFlowsInEightyColumns() {
    let eighty = String(repeating: "a", count: 70)
    #expect(TextFlow.lines("short", first: "gap  ", hang: 5) == "gap  short\n")
    #expect(TextFlow.lines("\(eighty) bbbb cc", first: "gap  ", hang: 5) == "gap  \(eighty) bbbb\n     cc\n")
    // What is painted takes the columns of its text, and wide letters take two.
    #expect(
      TextFlow.lines("\(eighty) 日本 c", first: "\u{1b}[33mgap\u{1b}[0m  ", columns: 5, hang: 2)
        == "\u{1b}[33mgap\u{1b}[0m  \(eighty) 日本\n  c\n")
    // A word is never broken; spaces within a line stay.
    let long = String(repeating: "x", count: 100)
    #expect(TextFlow.lines("a  b \(long) c", hang: 1) == "a  b\n \(long)\n c\n")
    #expect(TextFlow.lines("", first: "x ", hang: 2) == "x \n")
  }

  @Test func everyLineOfAFailureIsEscaped() {
    var failure = CommandFailure(.badInput, "no \u{1b}[2J\nhere", next: "ls '\u{9b}'")
    failure.further = ["nor \u{202e}there"]
    #expect(
      failure.text(command: "policyctl")
        == "policyctl: no \\u{1b}[2J\\nhere\npolicyctl: nor \\u{202e}there\nNext: ls '\\u{9b}'\n")
  }

  @Test func failuresSayWhatToDoNext() {
    let failure = CommandFailure(.badInput, "the bundle is not signed", next: "policyctl key list")
    #expect(failure.text(command: "policyctl") == "policyctl: the bundle is not signed\nNext: policyctl key list\n")
    #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 64, 65, 66, 69, 73, 74, 77])
  }

  @Test(arguments: [
    (["policyctl", "apply", "a/b.yaml"], "policyctl apply a/b.yaml"), (["a b", "it's", ""], "'a b' 'it'\\''s' ''"),
    (["lab-a-*"], "'lab-a-*'"),
  ])
  func quotesForAShell(_ words: [String], _ expected: String) { #expect(ShellWord.join(words) == expected) }

  @Test func quotesWhatCouldActOnATerminal() {
    #expect(ShellWord.quote("a\u{1b}'\n\u{202e}\\é") == #"$'a\x1b\'\n\xe2\x80\xae\\é'"#)
  }

  @Test func progressWaitsASecondAndDrawsSeldom() {
    var progress = ProgressLine("Running tests", isShown: true, now: 100)
    #expect(progress.line(1, of: 10, now: 100.9) == nil)
    #expect(progress.line(2, of: 10, now: 101) == "Running tests: 2 of 10, 4 s left")
    #expect(progress.line(3, of: 10, now: 101.1) == nil)
    #expect(progress.line(10, of: 10, now: 105) == "Running tests: 10 of 10")
    #expect(ProgressLine.duration(61) == "1 min 1 s")
  }
}
