import ForcedDomain
import Testing

@testable import PolicyCompiler

@Suite struct HostEnrolmentTests {
  @Test func comesBackFromItsFile() throws {
    let enrolment = HostEnrolment(identity: HostIdentity(name: "lab-a-03.lab.example.org"), enrolledAt: 1_796_022_131)
    #expect(
      String(decoding: enrolment.bytes, as: UTF8.self) == """
        # Who this host is for policies. Written by policyctl enroll; the next apply or install follows a change.
        version: 1
        kind: Host
        name: lab-a-03.lab.example.org
        enrolled: 2026-11-30T07:02:11Z

        """)
    #expect(try HostEnrolment(parsing: enrolment.bytes) == enrolment)
  }

  @Test func readsWhatPeopleWrite() throws {
    let text =
      "---\r\n# ours\r\nkind: Host\r\n\r\nversion: 1  # the first\r\nname: \"PC-07\"\r\nenrolled: '2026-02-28T00:00:00Z'"
    let enrolment = try HostEnrolment(parsing: Array(text.utf8))
    #expect(enrolment.identity.name == "PC-07")
    #expect(enrolment.enrolledAt == 1_772_236_800)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let text: String
    let line: Int
    let why: String
    var testDescription: String { id }
  }

  static let good = "version: 1\nkind: Host\nname: a\nenrolled: 2026-01-01T00:00:00Z\n"
  static let rows: [Row] = [
    Row(id: "empty", text: "", line: 1, why: "the field 'version' is missing"),
    Row(
      id: "no name", text: "version: 1\nkind: Host\nenrolled: 2026-01-01T00:00:00Z", line: 1,
      why: "the field 'name' is missing"),
    Row(
      id: "unknown field", text: good + "nmae: b\n", line: 5,
      why: "there is no field 'nmae'; the fields are version, kind, name, enrolled"),
    Row(id: "twice", text: good + "name: b\n", line: 5, why: "'name' is given again, after line 3"),
    Row(
      id: "version 2", text: good.replacing("version: 1", with: "version: 2"), line: 1,
      why: "version '2' is unknown; this program reads version 1"),
    Row(id: "kind", text: good.replacing("Host", with: "Profile"), line: 2, why: "kind must be Host here"),
    Row(id: "no colon", text: "version 1\n", line: 1, why: "'field: value' is expected here"),
    Row(
      id: "empty value", text: good.replacing("name: a", with: "name:"), line: 3, why: "'field: value' is expected here"
    ),
    Row(
      id: "glob", text: good.replacing("name: a", with: "name: lab-*"), line: 3,
      why: "'lab-*' can't be a host's name: only letters, digits, hyphens and dots may stand in it"),
    Row(
      id: "escape", text: good.replacing("name: a", with: #"name: "a\n""#), line: 3,
      why: "this quoted text is not read here; write it plain"),
    Row(
      id: "30 February", text: good.replacing("01-01T", with: "02-30T"), line: 4,
      why: "'2026-02-30T00:00:00Z' is no moment such as 2026-11-30T07:00:00Z"),
    Row(
      id: "nul", text: good.replacing("name: a", with: "name: a\0b"), line: 3,
      why: "'a\0b' can't be a host's name: only letters, digits, hyphens and dots may stand in it"),
  ]

  @Test(arguments: rows) func malformed(row: Row) {
    #expect(throws: HostFileError(line: row.line, why: row.why)) { try HostEnrolment(parsing: Array(row.text.utf8)) }
  }

  @Test func notText() {
    #expect(throws: HostFileError(line: 1, why: "it is not UTF-8 text")) { try HostEnrolment(parsing: [0xFF, 0xFE]) }
  }

  @Test(arguments: ["lab-a-03", "PC_07.example.org", String(repeating: "a", count: 63), "1"])
  func goodNames(name: String) throws { try HostName.validate(name) }

  @Test(arguments: [
    "", "-a", "a-", "a..b", ".a", "a.", "a b", "lab[1-3]", "ä", "(none)", "../x", String(repeating: "a", count: 64),
  ])
  func badNames(name: String) { #expect(throws: HostNameError.self) { try HostName.validate(name) } }

  @Test(arguments: [
    ("", "''"), ("a/b-1.yaml", "a/b-1.yaml"), ("my policies", "'my policies'"), ("it's", #"'it'\''s'"#),
    ("$(x)", "'$(x)'"),
  ])
  func shellWords(word: String, quoted: String) { #expect(ShellText.quoted(word) == quoted) }
}
