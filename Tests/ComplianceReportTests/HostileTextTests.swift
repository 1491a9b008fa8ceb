import Foundation
import PropertyList
import Testing

@testable import ComplianceReport

/// Titles, keys, values, reasons and names that want to be more than text, in every form.
@Suite struct HostileTextTests {
  static let script = "<script>alert(1)</script>"
  static let formula = "=HYPERLINK(\"http://evil\")"
  static let control = "\u{1b}[31m\u{7}\u{0}\u{202e}\u{ffff}]]>&amp;'"

  static var report: HostReport {
    let expectation = Expectation(
      domain: "@SUM(1)", key: formula, conditions: [.init(comparison: .is, operand: .string(script))])
    let finding = ControlFinding(
      expectation: expectation, value: .integer(-5), layer: "application", isForced: false,
      forcedBy: [ReportedProfile(id: "+id", title: script)], foundIn: "d", path: "/p", isSecret: false,
      problem: .notForced, message: control)
    return HostReport(
      host: script, user: "-alice", userID: 1001, generation: 7, serial: 1, sourceDigest: [0xAB], source: "installed",
      instant: 0, made: 0, sources: SourcesState(state: "differ", text: script, mistakes: [control]),
      controls: [
        ControlReport(
          id: "C\"1", title: control + script, severity: "high", references: [script],
          profile: ReportedProfile(id: "p<q", title: "a\nb"), result: .fail, findings: [finding])
      ],
      idleExemptions: [
        IdleExemption(
          control: "=1", reason: script, owner: "+o", expires: PropertyListDate(unixTime: 0), why: "expired")
      ], faults: [script], notes: [control])
  }

  @Test(arguments: Form.allCases) func nothingHostileReachesAReader(_ form: Form) {
    let text = form.text(of: Self.report)
    #expect(
      !text.contains("\u{1b}") && !text.contains("\u{202e}") && !text.contains("\u{0}") && !text.contains("\u{7}"))
    if form == .html || form == .junit { #expect(!text.contains("<script")) }
    if form == .html {
      #expect(text.contains("Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\""))
    }
  }

  @Test func theSpreadsheetHasNoFormula() {
    #expect(
      Form.csv.text(of: Self.report) == """
        host,user,generation,sources,evaluated,control,title,severity,result,profile,domain,key,expected,value,layer,forced,forcedBy,problem,message,reason,owner,expires\r
        <script>alert(1)</script>,'-alice,7,differ,1970-01-01T00:00:00Z,,the update of the policy,,fail,,,,,,,,,,\\u{1b}[31m\\u{7}\\u{0}\\u{202e}\u{ffff}]]>&amp;',,,\r
        <script>alert(1)</script>,'-alice,7,differ,1970-01-01T00:00:00Z,"C""1",\\u{1b}[31m\\u{7}\\u{0}\\u{202e}\u{ffff}]]>&amp;'<script>alert(1)</script>,high,fail,p<q,'@SUM(1),"'=HYPERLINK(""http://evil"")\",\"""<script>alert(1)</script>\""",'-5,application,false,'+id,not-forced,\\u{1b}[31m\\u{7}\\u{0}\\u{202e}\u{ffff}]]>&amp;',,,\r

        """)
  }

  @Test func theXMLIsWellFormedWhateverItSays() throws {
    let text = Form.junit.text(of: Self.report)
    #expect(
      text == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="policyctl report" tests="2" failures="2" errors="0" skipped="0">
          <testsuite name="&lt;script&gt;alert(1)&lt;/script&gt;: -alice" hostname="&lt;script&gt;alert(1)&lt;/script&gt;" timestamp="1970-01-01T00:00:00Z" tests="2" failures="2" errors="0" skipped="0">
            <properties>
              <property name="generation" value="7"/>
              <property name="sourceDigest" value="ab"/>
              <property name="sources" value="&lt;script&gt;alert(1)&lt;/script&gt;"/>
              <property name="percentage" value="0.0 %"/>
            </properties>
            <testcase classname="policyctl" name="the sources can be applied"><failure message="\\u{1b}[31m\\u{7}\\u{0}\\u{202e}\\u{ffff}]]&gt;&amp;amp;&#39;">\\u{1b}[31m\\u{7}\\u{0}\\u{202e}\\u{ffff}]]&gt;&amp;amp;&#39;</failure></testcase>
            <testcase classname="p&lt;q" name="C&quot;1: \\u{1b}[31m\\u{7}\\u{0}\\u{202e}\\u{ffff}]]&gt;&amp;amp;&#39;&lt;script&gt;alert(1)&lt;/script&gt;"><failure message="@SUM(1) =HYPERLINK(&quot;http://evil&quot;): expected &quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;, is -5 (application); \\u{1b}[31m\\u{7}\\u{0}\\u{202e}\\u{ffff}]]&gt;&amp;amp;&#39;">@SUM(1) =HYPERLINK(&quot;http://evil&quot;): expected &quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;, is -5 (application); \\u{1b}[31m\\u{7}\\u{0}\\u{202e}\\u{ffff}]]&gt;&amp;amp;&#39;</failure></testcase>
          </testsuite>
        </testsuites>

        """)
  }
}
