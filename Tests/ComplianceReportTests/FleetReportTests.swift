import CommandLineKit
import PropertyList
import Testing

@testable import ComplianceReport

/// The reports of many hosts joined: newest first, missing counted, unknown left out, damaged files named.
@Suite struct FleetReportTests {
  static func report(
    _ host: String, user: String = "alice", generation: Int = 1, made: String? = "2026-12-01T08:00:00Z",
    _ results: [(String, String)], verdict: String? = nil
  ) -> String {
    let controls = results.map { id, result in
      "{\"id\": \"\(id)\", \"title\": \"Title of \(id)\", \"severity\": \"high\", \"result\": \"\(result)\", \"findings\": "
        + "[{\"domain\": \"org.example.D\", \"key\": \"k\", \"expected\": {\"max\": [1]}, \"value\": null, \"layer\": null, "
        + "\"forced\": false, \"forcedBy\": [], \"message\": \"it is not \\u0022forced\\u0022\"}]}"
    }
    return
      "{\"host\": \"\(host)\", \"user\": \"\(user)\", \"generation\": \(generation), \"percentage\": 100.0, \"controls\": ["
      + controls.joined(separator: ", ") + "]" + (made.map { ", \"made\": \"\($0)\"" } ?? "")
      + (verdict.map { ", \"verdict\": \"\($0)\"" } ?? "") + "}\n"
  }

  static func fleet(_ files: [(String, String)], expecting expected: ExpectedHosts? = nil) -> FleetReport {
    FleetReport(
      files.map { CollectedFile(name: $0.0, contents: .bytes(Array($0.1.utf8))) }, expecting: expected,
      made: 1_796_040_000)
  }

  static func hosts(_ names: String..., open: [String] = [], doubled: [String] = []) -> ExpectedHosts {
    ExpectedHosts(names: names, openPatterns: open, doubled: doubled) { names.contains($0) }
  }

  static let collection = [
    ("a-old.json", report("LAB-1", generation: 1, made: "2026-12-01T08:00:00Z", [("C", "fail"), ("D", "pass")])),
    ("a-new.json", report("lab-1", generation: 2, made: "2026-12-02T08:00:00Z", [("C", "pass"), ("D", "pass")])),
    ("b.json", report("lab-2", [("C", "fail"), ("E", "exempt")])),
    ("c.json", "{\"host\": \"lab-3\", \"user\": \"x\", \"generation\": null, \"percentage\": null, \"controls\": ["),
    ("d.json", report("stranger", [("C", "fail")])),
    ("e.json", report("lab-2", user: "bob", [("C", "error")])),
  ]

  @Test func theTextTellsWhatFailsAndWhoIsMissing() {
    let fleet = Self.fleet(
      Self.collection, expecting: Self.hosts("lab-1", "lab-2", "lab-3", "lab-4", open: ["lab-x*"], doubled: ["lab-1"]))
    #expect(
      FleetText(.plain).text(fleet) == """
        fail: 2 of 4 hosts reported: 66.6 % (2 pass, 1 fail, 1 exempt, 1 error)

        failed  C (high): Title of C
                on 2 of 3: lab-2 alice, lab-2 bob
                org.example.D k: it is not "forced"

        missing  2: lab-3, lab-4
        unreadable  1: c.json (the document ends too early (byte 84))
        unknown  1: stranger (d.json)
        replaced by newer  1: a-old.json (by a-new.json)
        note  The inventory lists 'lab-x*', which names no hosts one by one: who is missing of those is not known.
        note  The inventory lists 'lab-1' more than once; it counts as one host.

        host   user   verdict  percentage  sources  generation  controls
        lab-2  alice  fail          0.0 %                    1  1 fail, 1 exempt
        lab-2  bob    error           n/a                    1  1 error

        """)
  }

  @Test func theJSONHasEveryHostAndControl() {
    let fleet = Self.fleet(Array(Self.collection[1...2]), expecting: Self.hosts("lab-1", "lab-2"))
    #expect(
      String(decoding: FleetJSON.document(fleet).bytes, as: UTF8.self) == """
        {
          "verdict": "fail",
          "percentage": 66.66666666666667,
          "counts": {
            "pass": 2,
            "fail": 1,
            "exempt": 1,
            "not-applicable": 0,
            "error": 0
          },
          "expected": 2,
          "reported": 2,
          "missing": [],
          "unknown": [],
          "unreadable": [],
          "replaced": [],
          "hosts": [
            {
              "host": "lab-1",
              "user": "alice",
              "generation": 2,
              "percentage": 100.0,
              "counts": {
                "pass": 2,
                "fail": 0,
                "exempt": 0,
                "not-applicable": 0,
                "error": 0
              },
              "verdict": "pass",
              "sources": "",
              "made": "2026-12-02T08:00:00Z",
              "file": "a-new.json"
            },
            {
              "host": "lab-2",
              "user": "alice",
              "generation": 1,
              "percentage": 0.0,
              "counts": {
                "pass": 0,
                "fail": 1,
                "exempt": 1,
                "not-applicable": 0,
                "error": 0
              },
              "verdict": "fail",
              "sources": "",
              "made": "2026-12-01T08:00:00Z",
              "file": "b.json"
            }
          ],
          "controls": [
            {
              "id": "C",
              "title": "Title of C",
              "severity": "high",
              "counts": {
                "pass": 1,
                "fail": 1,
                "exempt": 0,
                "not-applicable": 0,
                "error": 0
              },
              "findings": [
                {
                  "host": "lab-2",
                  "user": "alice",
                  "message": "org.example.D k: it is not \\"forced\\""
                }
              ]
            },
            {
              "id": "D",
              "title": "Title of D",
              "severity": "high",
              "counts": {
                "pass": 1,
                "fail": 0,
                "exempt": 0,
                "not-applicable": 0,
                "error": 0
              },
              "findings": []
            },
            {
              "id": "E",
              "title": "Title of E",
              "severity": "high",
              "counts": {
                "pass": 0,
                "fail": 0,
                "exempt": 1,
                "not-applicable": 0,
                "error": 0
              },
              "findings": []
            }
          ],
          "made": "2026-11-30T12:00:00Z",
          "notes": []
        }
        """)
  }

  @Test func theOtherFormsNameWhatIsNotThere() {
    let fleet = Self.fleet(Array(Self.collection[2...4]), expecting: Self.hosts("lab-2", "lab-4"))
    #expect(
      String(decoding: FleetCSV.document(fleet), as: UTF8.self) == """
        host,user,generation,sources,made,control,title,severity,result,message\r
        lab-2,alice,1,,2026-12-01T08:00:00Z,C,Title of C,high,fail,"org.example.D k: it is not ""forced\"""\r
        lab-2,alice,1,,2026-12-01T08:00:00Z,E,Title of E,high,exempt,\r
        lab-4,,,,,,,,missing,no report\r
        stranger,,,,,,,,unknown,not in the inventory: d.json\r
        ,,,,,,c.json,,unreadable,the document ends too early (byte 84)\r

        """)
    #expect(
      String(decoding: FleetJUnit.document(fleet), as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="policyctl report" tests="4" failures="1" errors="2" skipped="1">
          <testsuite name="lab-2: alice" hostname="lab-2" timestamp="2026-12-01T08:00:00Z" tests="2" failures="1" errors="0" skipped="1">
            <testcase classname="policyctl" name="C: Title of C"><failure message="org.example.D k: it is not &quot;forced&quot;">org.example.D k: it is not &quot;forced&quot;</failure></testcase>
            <testcase classname="policyctl" name="E: Title of E"><skipped message="exempt"/></testcase>
          </testsuite>
          <testsuite name="missing" hostname="" tests="2" failures="0" errors="2" skipped="0">
            <testcase classname="policyctl" name="host lab-4"><error message="the inventory lists it, and it sent no report">the inventory lists it, and it sent no report</error></testcase>
            <testcase classname="policyctl" name="file c.json"><error message="the document ends too early (byte 84)">the document ends too early (byte 84)</error></testcase>
          </testsuite>
        </testsuites>

        """)
  }

  /// H04: one row for a host however its name is spelt.
  @Test func spellingMakesNoSecondHost() {
    let fleet = Self.fleet(
      [
        ("1.json", Self.report("PC-07", made: "2026-12-01T08:00:00Z", [("C", "pass")])),
        ("2.json", Self.report("pc-07", made: "2026-12-01T09:00:00Z", [("C", "pass")])),
        ("3.json", Self.report("Pc-08.example.org", [("C", "pass")])),
      ], expecting: ExpectedHosts(names: ["pc-07", "pc-08"], openPatterns: []) { $0.hasPrefix("pc-0") })
    #expect(fleet.rows.map(\.host) == ["pc-07", "pc-08.example.org"])
    #expect(fleet.missing == [])
    #expect(fleet.replaced.map(\.file) == ["1.json"])
    #expect(fleet.verdict == .pass)
  }

  @Test func theNewestIsByTheStatedMoment() {
    let fleet = Self.fleet([
      ("1.json", Self.report("a", generation: 9, made: nil, [("C", "fail")])),
      ("2.json", Self.report("a", generation: 2, made: "2026-12-03T08:00:00Z", [("C", "pass")])),
      ("3.json", Self.report("a", generation: 3, made: "2026-12-02T08:00:00Z", [("C", "fail")])),
    ])
    #expect(fleet.rows.map(\.file) == ["2.json"])
    #expect(fleet.replaced.map(\.file) == ["1.json", "3.json"])
    #expect(fleet.histories.map { $0.points.map(\.generation) } == [[3, 2]])
  }

  struct Verdicts: Sendable, CustomTestStringConvertible {
    let files: [(String, String)]
    let expected: [String]
    let verdict: Verdict
    var testDescription: String { "\(files.map(\.0)) \(expected) \(verdict)" }
  }

  static let verdicts = [
    Verdicts(files: [("pass", report("a", [("C", "pass")]))], expected: ["a"], verdict: .pass),
    Verdicts(files: [("missing", report("a", [("C", "pass")]))], expected: ["a", "b"], verdict: .incomplete),
    Verdicts(files: [("unknown", report("z", [("C", "fail")]))], expected: [], verdict: .nothingChecked),
    Verdicts(files: [("damaged", "{")], expected: [], verdict: .incomplete),
    // What a report says of itself makes it worse, never better.
    Verdicts(
      files: [("refused update", report("a", [("C", "pass")], verdict: "fail"))], expected: ["a"], verdict: .fail),
    Verdicts(files: [("boast", report("a", [("C", "fail")], verdict: "pass"))], expected: ["a"], verdict: .fail),
    Verdicts(files: [("empty boast", report("a", [], verdict: "pass"))], expected: ["a"], verdict: .nothingChecked),
  ]

  @Test(arguments: verdicts) func aFleetPassesOnlyWhereAllArePresentAndPass(_ row: Verdicts) {
    let expected = ExpectedHosts(names: row.expected, openPatterns: []) { row.expected.contains($0) }
    #expect(Self.fleet(row.files, expecting: expected).verdict == row.verdict)
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    let text: String
    let why: String
    var testDescription: String { text }
  }

  static let damages = [
    Damage(text: "", why: "the document ends too early (byte 0)"),
    Damage(text: "[]", why: "'{' is expected (byte 0)"),
    Damage(text: "{}", why: "it has no controls: it is no report (byte 2)"),
    Damage(
      text: "{\"host\": \"a\", \"user\": \"b\", \"generation\": 1}",
      why: "it has no controls: it is no report (byte 43)"),
    Damage(text: "{\"host\": \"a\", \"host\": \"b\"}", why: "the member 'host' stands twice (byte 21)"),
    Damage(text: "{\"controls\": []}", why: "it names no host (byte 16)"),
    Damage(text: "{\"host\": 1}", why: "a text is expected (byte 9)"),
    Damage(text: "{\"host\": \"a\", \"controls\": []} x", why: "there is something behind the document (byte 30)"),
    Damage(text: "{\"x\": [1, {]}, \"host\": \"a\"}", why: "brackets don't match (byte 11)"),
    Damage(text: "{\"x\": \"abc\\", why: "the document ends too early (byte 6)"),
    Damage(text: "{\"host\": \"a\\ud800\"}", why: "an escape is damaged (byte 18)"),
    Damage(
      text: "{\"host\": \"a\", \"controls\": [{\"id\": \"C\", \"result\": \"passed\"}]}",
      why: "a result is not known (byte 57)"),
    Damage(
      text: "{\"host\": \"a\", \"controls\": [{\"id\": \"C\"}]}", why: "a control has no id or no result (byte 38)"),
    Damage(
      text:
        "{\"host\": \"a\", \"controls\": [{\"id\": \"C\", \"result\": \"pass\"}, {\"id\": \"C\", \"result\": \"fail\"}]}",
      why: "a control stands twice (byte 89)"),
  ]

  @Test(arguments: damages) func aDamagedFileIsNamedWithItsPlace(_ row: Damage) {
    let fleet = Self.fleet([("x.json", row.text)])
    #expect(fleet.rows.isEmpty)
    #expect(fleet.unreadable.map { "\($0.name): \($0.why)" } == ["x.json: \(row.why)"])
  }

  @Test func aFileOfSeveralUsersCountsForEach() {
    let text =
      "{\"reports\": [" + Self.report("a", user: "x", [("C", "pass")]) + ","
      + Self.report("a", user: "y", [("C", "fail")]) + "]}"
    let fleet = Self.fleet([("a.json", text)])
    #expect(fleet.rows.map { "\($0.host) \($0.user) \($0.verdict)" } == ["a x pass", "a y fail"])
    #expect(fleet.hostCount == 1)
  }

  /// Whose name can't be a host's reports for none; a file is taken whole or not at all.
  @Test func aFileThatNamesNoHostCountsForNothing() {
    let files = [
      ("good.json", Self.report("lab-1", [("C", "pass")])), ("space.json", Self.report(" ", [("C", "fail")])),
      ("user.json", Self.report("lab-2", user: String(repeating: "u", count: 1025), [("C", "fail")])),
      (
        "two.json",
        "{\"reports\": [" + Self.report("lab-3", [("C", "fail")]) + "," + Self.report("<b>", [("C", "fail")]) + "]}"
      ),
    ]
    let fleet = FleetReport(
      files.map { CollectedFile(name: $0.0, contents: .bytes(Array($0.1.utf8))) }, expecting: nil, made: 0,
      isHostName: { $0.utf8.allSatisfy { $0 == 0x2D || 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 } })
    #expect(fleet.rows.map(\.host) == ["lab-1"])
    #expect(
      fleet.unreadable.map { "\($0.name): \($0.why)" } == [
        "space.json: it names a host that can't be one", "user.json: it names a user that can't be one",
        "two.json: it names a host that can't be one",
      ])
  }

  @Test func deepNestingIsRefusedNotFollowed() {
    let deep = String(repeating: "[", count: 100_000)
    let fleet = Self.fleet([("x.json", "{\"x\": \(deep)")])
    #expect(fleet.unreadable.map(\.why) == ["it is nested too deeply (byte 518)"])
  }
}
