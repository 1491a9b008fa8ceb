import CommandSandbox
import LinuxFiles
import Testing

/// `write`, `rename` and `delete` where nothing is forced.
@Suite struct WriteTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let words: [String]
    let errors: String
    var testDescription: String { words.joined(separator: " ") }
  }

  static let rows = [
    Row(
      words: ["k", "-int", "junk"],
      errors:
        "-int is a whole number from -9223372036854775808 to 18446744073709551615, not 'junk'; nothing was written"),
    Row(
      words: ["k", "-int", "18446744073709551616"],
      errors: "-int is a whole number from -9223372036854775808 to 18446744073709551615, not '18446744073709551616'; "
        + "nothing was written"),
    Row(
      words: ["k", "-float", "1,5"],
      errors: "-float is a decimal number, inf, -inf or nan, not '1,5'; nothing was written"),
    Row(
      words: ["k", "-bool", "maybe"], errors: "-bool is true, false, yes, no, 1 or 0, not 'maybe'; nothing was written"),
    Row(
      words: ["k", "-date", "tomorrow"],
      errors: "-date is a date with its offset (2026-11-30T07:00:00Z or '2026-11-30 07:00:00 +0000'), not 'tomorrow'; "
        + "nothing was written"),
    Row(words: ["k", "-data", "0a0"], errors: "-data is pairs of hexadecimal digits, not '0a0'; nothing was written"),
    Row(words: ["k", "-int"], errors: "-int needs a value: -int VALUE"),
    Row(words: ["-bool", "true"], errors: "KEY is missing"),
    Row(
      words: ["k", "x", "-currentHost"],
      errors: "-currentHost is one word too many behind a value; it stands before the verb"),
    Row(
      words: ["k", "--root", "x"],
      errors: "--root can't stand where a value is expected; it stands before the verb"),
    Row(words: ["k", "--", "x", "-currentHost"], errors: "'-currentHost' is one word too many"),
    Row(words: ["k"], errors: "VALUE is missing"), Row(words: [], errors: "KEY is missing"),
    Row(words: ["k", "a", "b"], errors: "'b' is one word too many"),
    Row(words: ["k", "--", "a", "b"], errors: "'b' is one word too many"),
    Row(
      words: ["k", "-strnig", "x"],
      errors: "'-strnig' is no type of value; did you mean '-string'? (-- before a value that begins with a dash)"),
    Row(
      words: ["k", "-array", "a", "-x"],
      errors: "'-x' is no type of value (-- before a value that begins with a dash)"),
    Row(
      words: ["k", "-array", "a", "-dict", "b"],
      errors: "-dict can't stand within a container; write one inside as text: '(a, b)' or '{key = value;}'"),
    Row(words: ["k", "-dict", "a"], errors: "the key 'a' has no value"),
    Row(words: ["k", "-dict", "a", "1", "a", "2"], errors: "the key 'a' stands twice"),
    Row(words: ["k", "-dict", "-int", "1"], errors: "-int can't stand where a key is expected"),
    Row(
      words: ["k", "-array", "a", "<b>"],
      errors: "a value that begins with < is read as a property list, and this is none: "
        + "1:1: this is not data: its digits or its padding are wrong; write a string with -string"),
    Row(words: ["", "x"], errors: "KEY is empty"),
    Row(
      words: ["(a, b)"], errors: "the value of a whole domain is a dictionary: '{key = value; …}'; nothing was written"),
    Row(
      words: ["k", "x", "--skip-forced"], errors: "'--skip-forced' is one word too many"),
  ]

  @Test(arguments: rows) func whatCannotBeReadIsNotWritten(_ row: Row) throws {
    let sandbox = try Sandbox()
    let result = sandbox.defaults(["write", "org.lab.t"] + row.words)
    #expect(result.exitCode == 64)
    #expect(result.output == "")
    #expect(result.errors == "defaults write: \(row.errors)\nNext: defaults write --help\n")
    #expect((try? FileMetadata.of(sandbox.configuration)) == nil)
  }

  /// What only looks like a property list: the message says why it was taken for one, and how to write it as the text it is.
  @Test(arguments: [
    ("{bad", "{", "1:5: the input ends inside a dictionary; quote it for the shell, or write a string with -string"),
    ("<b>bold</b>", "<", "1:1: this is not data: its digits or its padding are wrong; write a string with -string"),
    (" \"open", "\"", "1:2: the input ends inside a string; write a string with -string"),
  ])
  func aTextThatBeginsLikeAPropertyList(_ text: String, _ sign: String, _ why: String) throws {
    let sandbox = try Sandbox()
    expect(
      sandbox.defaults("write", "d", "k", text), 64,
      errors: "defaults write: a value that begins with \(sign) is read as a property list, and this is none: \(why)\n"
        + "Next: defaults --root SANDBOX/root write d k -string '\(text)'\n", in: sandbox)
    expect(sandbox.defaults("write", "d", "k", "-string", text), in: sandbox)
    expect(sandbox.defaults("read", "d", "k"), output: text + "\n", in: sandbox)
  }

  @Test func elementsAreAddedToWhatIsThere() throws {
    let sandbox = try Sandbox()
    expect(sandbox.defaults("write", "d", "list", "-array-add", "a"), in: sandbox)
    expect(sandbox.defaults("write", "d", "list", "-array-add", "-int", "3", "(b)"), in: sandbox)
    expect(
      sandbox.defaults("read", "d", "list"), output: "(\n    a,\n    3,\n        (\n        b\n    )\n)\n", in: sandbox)
    expect(sandbox.defaults("write", "d", "map", "-dict-add", "a", "-int", "1"), in: sandbox)
    expect(sandbox.defaults("write", "d", "map", "-dict-add", "a", "-bool", "no", "-string", "b", "x"), in: sandbox)
    expect(sandbox.defaults("read", "d", "map"), output: "{\n    a = 0;\n    b = x;\n}\n", in: sandbox)
    let before = try sandbox.contents(of: sandbox.configuration)
    expect(
      sandbox.defaults("write", "d", "map", "-array-add", "x"), 65,
      errors:
        "defaults: Value for key map is not an array (it is of type dictionary); cannot append. Nothing was written\n"
        + "Next: defaults --root SANDBOX/root write d map -array x\n",
      in: sandbox)
    expect(
      sandbox.defaults("write", "d", "list", "-dict-add", "x", "y"), 65,
      errors: "defaults: Value for key list is not a dictionary (it is of type array); cannot add to it. "
        + "Nothing was written\nNext: defaults --root SANDBOX/root write d list -dict x y\n", in: sandbox)
    #expect(try sandbox.contents(of: sandbox.configuration) == before)
  }

  @Test func aWholeDomainIsReplaced() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "d", "old", "1")
    expect(sandbox.defaults("write", "d", "{new = 2;}"), in: sandbox)
    expect(sandbox.defaults("read", "d"), output: "{\n    new = 2;\n}\n", in: sandbox)
  }

  @Test func keysAreRenamedAndDeleted() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "d", "{a = 1; b = 2; c = 3;}")
    expect(sandbox.defaults("rename", "d", "a", "b"), in: sandbox)
    expect(sandbox.defaults("read", "d"), output: "{\n    b = 1;\n    c = 3;\n}\n", in: sandbox)
    expect(
      sandbox.defaults("rename", "d", "x", "y"), 1,
      errors: "defaults: Key x does not exist in domain d; nothing was written; did you mean 'b' or 'c'?\n"
        + "Next: defaults --root SANDBOX/root read d\n", in: sandbox)
    expect(sandbox.defaults("delete", "d", "b"), in: sandbox)
    expect(
      sandbox.defaults("delete", "d", "cc"), 1,
      errors: "defaults: The domain/default pair of (d, cc) does not exist; nothing was written; did you mean 'c'?\n"
        + "Next: defaults --root SANDBOX/root read d\n", in: sandbox)
    expect(sandbox.defaults("domains"), output: "d\n", in: sandbox)
    expect(sandbox.defaults("delete", "d"), in: sandbox)
    expect(sandbox.defaults("domains"), output: "\n", in: sandbox)
    expect(
      sandbox.defaults("read", "d"), 1,
      errors: "defaults: Domain d does not exist\nNext: defaults --root SANDBOX/root domains\n", in: sandbox)
    expect(
      sandbox.defaults("delete", "d"), 1,
      errors: "defaults: Domain (d) not found; nothing was written\nNext: defaults --root SANDBOX/root domains\n",
      in: sandbox)
  }

  /// 12 commands at once, each with a key of its own: every one that ended with 0 is there. One that has waited ten seconds
  /// for the others says so with 69, and is given once more.
  @Test func writersAtOnceLoseNothing() throws {
    let sandbox = try Sandbox()
    let script = """
      for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        until '\(Sandbox.binary("defaults"))' write org.lab.t key$n -int $n; do [ $? = 69 ] || exit 1; done & pids="$pids $!"
      done
      for pid in $pids; do wait $pid || exit 1; done
      """
    #expect(sandbox.execute(["sh", "-c", script]).exitCode == 0)
    for n in 1...12 { expect(sandbox.defaults("read", "org.lab.t", "key\(n)"), output: "\(n)\n", in: sandbox) }
  }

  /// A damaged file is kept aside, with its bytes, and told of.
  @Test func aDamagedFileIsKeptAside() throws {
    let sandbox = try Sandbox()
    let file = sandbox.configuration + "/d.plist"
    try sandbox.write("{ k = ", to: file)
    let result = sandbox.defaults("write", "d", "k", "x")
    #expect(result.exitCode == 0)
    #expect(result.errors.hasPrefix("defaults: warning: ") && result.errors.contains("kept as \(file).damaged-"))
    let aside = try #require(try Directory.names(in: sandbox.configuration).first { $0.hasPrefix("d.plist.damaged-") })
    #expect(try sandbox.read(sandbox.configuration + "/" + aside) == "{ k = ")
    expect(sandbox.defaults("read", "d", "k"), output: "x\n", in: sandbox)
  }

  @Test func aReadOnlyFileIsLeftAlone() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "d", "k", "x")
    // Root may write any file, so nothing of it may be replaced: a folder stands where the file should.
    let file = sandbox.configuration + "/e.plist"
    try Directory.create(file)
    let result = sandbox.defaults("write", "e", "k", "x")
    #expect(result.exitCode == 73)
    #expect(result.errors.contains("nothing was written\n"))
    #expect(try FileMetadata.of(file).isDirectory)
  }
}
