import Foundation
import PropertyList
import Testing

@testable import ComplianceReport

/// The pages: whole, and with what a reader needs who can't see them or has no scripts.
@Suite struct PageTests {
  static var report: HostReport {
    let forced = ControlFinding(
      expectation: Expectation(
        domain: "org.example.D", key: "k", conditions: [.init(comparison: .max, operand: .integer(60))]),
      value: .integer(30), layer: "forced", isForced: true,
      forcedBy: [ReportedProfile(id: "org.example.a", title: "Base")], foundIn: "org.example.D", isSecret: false)
    var free = forced
    (free.isForced, free.forcedBy, free.layer) = (false, [], "application")
    (free.problem, free.message) = (.notForced, "the value is right, but not forced: the user can change it")
    let profile = ReportedProfile(id: "org.example.a", title: "Base")
    return HostReport(
      host: "lab-a-03", user: "alice", userID: 1001, generation: 7, serial: 1, sourceDigest: [0xAB, 0xCD],
      source: "installed", instant: 1_796_040_000, made: 1_796_040_000,
      sources: SourcesState(state: "match", text: "the sources match the installed bundle"),
      controls: [
        ControlReport(
          id: "C-1", title: "One", severity: "low", references: [], profile: profile, result: .pass, findings: [forced]),
        ControlReport(
          id: "C-2", title: "Two", severity: "high", references: ["CIS 1", "CIS 2"], profile: profile, result: .fail,
          findings: [forced, free]),
        ControlReport(
          id: "C-3", title: "Three", severity: "high", references: [], profile: profile, result: .exempt,
          findings: [free],
          exemption: ReportedExemption(
            reason: "why", owner: "me", expires: PropertyListDate(unixTime: 1_800_000_000), profile: "org.example.a")),
        ControlReport(
          id: "C-4", title: "Four", severity: "high", references: [], profile: profile, result: .notApplicable,
          findings: [], reason: "its profile does not concern this host"),
      ])
  }

  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// What stands in `<main>`.
  static func main(_ bytes: [UInt8]) -> String {
    let text = text(bytes)
    guard let start = text.firstRange(ofBytes: "<main id=\"content\" tabindex=\"-1\">\n"),
      let end = text.firstRange(ofBytes: "</main>")
    else { return "no main" }
    return String(text[start.upperBound..<end.lowerBound])
  }

  @Test func thePageOfAHost() {
    #expect(
      Self.main(ReportHTML.document([Self.report])) == """
        <h1>Compliance of lab-a-03, for alice <span class="r fail">fail</span></h1>
        <p class="lead">50.0 %: 1 pass, 1 fail, 1 exempt, 1 not applicable.</p>
        <dl>
        <div><dt>Host</dt><dd>lab-a-03</dd></div>
        <div><dt>User</dt><dd>alice (1001)</dd></div>
        <div><dt>Generation</dt><dd>7</dd></div>
        <div><dt>Sources</dt><dd>the sources match the installed bundle</dd></div>
        <div><dt>Evaluated for</dt><dd>2026-11-30T12:00:00Z</dd></div>
        <div><dt>Digest of the sources</dt><dd>abcd</dd></div>
        </dl>
        <section aria-labelledby="bad">
        <h2 id="bad">What fails, and why</h2>
        <h3><span class="r fail">fail</span> C-2: Two</h3>
        <p class="why">Severity high, CIS 1, CIS 2; asked by Base (org.example.a)</p>
        <ul>
        <li><code>org.example.D k</code>: expected <code>max 60</code>, is <code>30</code> (application); the value is right, but not forced: the user can change it</li>
        </ul>
        </section>
        <section aria-labelledby="exempt">
        <h2 id="exempt">Exemptions</h2>
        <div class="scroll" role="region" aria-label="Where a control is not asked" tabindex="0">
        <table>
        <caption><span>Where a control is not asked</span></caption>
        <thead><tr><th scope="col">Control</th><th scope="col">State</th><th scope="col">Reason</th><th scope="col">Owner</th><th scope="col">Expires</th></tr></thead>
        <tbody>
        <tr><th scope="row">C-3</th><td>holds</td><td>why</td><td>me</td><td><time>2027-01-15T08:00:00Z</time></td></tr>
        </tbody>
        </table>
        </div>
        </section>
        <section aria-labelledby="all">
        <h2 id="all">All controls, with the evidence</h2>
        <div class="scroll" role="region" aria-label="Every control with the value in effect, the layer that it comes from, and who forces it" tabindex="0">
        <table>
        <caption><span>Every control with the value in effect, the layer that it comes from, and who forces it</span></caption>
        <thead><tr><th scope="col">Control</th><th scope="col">Title</th><th scope="col">Result</th><th scope="col">Key</th><th scope="col">Expected</th><th scope="col">Value</th><th scope="col">Layer</th><th scope="col">Forced by</th></tr></thead>
        <tbody>
        <tr><th scope="row">C-1</th><td>One</td><td><span class="r pass">pass</span></td><td><code>org.example.D k</code></td><td><code>max 60</code></td><td><code>30</code></td><td>forced</td><td>Base (org.example.a)</td></tr>
        <tr><th scope="row" rowspan="2">C-2</th><td rowspan="2">Two</td><td rowspan="2"><span class="r fail">fail</span></td><td><code>org.example.D k</code></td><td><code>max 60</code></td><td><code>30</code></td><td>forced</td><td>Base (org.example.a)</td></tr>
        <tr><td><code>org.example.D k</code></td><td><code>max 60</code></td><td><code>30</code></td><td>application</td><td>—</td></tr>
        <tr><th scope="row">C-3</th><td>Three</td><td><span class="r exempt">exempt</span></td><td><code>org.example.D k</code></td><td><code>max 60</code></td><td><code>30</code></td><td>application</td><td>—</td></tr>
        <tr><th scope="row">C-4</th><td>Four</td><td><span class="r not-applicable">not applicable</span></td><td colspan="5"><span class="why">its profile does not concern this host</span></td></tr>
        </tbody>
        </table>
        </div>
        </section>

        """)
  }

  @Test func theCurveOfAHost() {
    func point(_ day: Int64, _ results: [ControlResult]) -> FleetReport.History.Point {
      FleetReport.History.Point(
        made: 1_796_040_000 + day * 86_400, generation: UInt64(day), counts: ResultCounts(results))
    }
    let history = FleetReport.History(
      host: "a<b", user: "alice",
      points: [
        point(0, [.pass, .fail]), point(1, [.pass, .pass]), point(2, [.exempt]), point(3, [.fail]), point(4, [.pass]),
      ])
    #expect(
      TimelinePlot.figure(history, number: 3) == """
        <figure>
        <figcaption>a&lt;b, for alice</figcaption>
        <svg viewBox="0 0 640 180" role="img" aria-labelledby="plot3">
        <title id="plot3">Percentage of a&lt;b, for alice over time: 50.0 % at first, 100.0 % at last</title>
        <line class="grid" x1="64" x2="628" y1="152" y2="152"/><text x="58" y="156" text-anchor="end">0 %</text>
        <line class="grid" x1="64" x2="628" y1="82" y2="82"/><text x="58" y="86" text-anchor="end">50 %</text>
        <line class="grid" x1="64" x2="628" y1="12" y2="12"/><text x="58" y="16" text-anchor="end">100 %</text>
        <text x="64" y="172">2026-11-30</text><text x="628" y="172" text-anchor="end">2026-12-04</text>
        <circle class="point" cx="64" cy="82" r="3.5"/><circle class="point" cx="205" cy="12" r="3.5"/><polyline class="curve" points="64,82 205,12"/><circle class="point" cx="487" cy="152" r="3.5"/><circle class="point" cx="628" cy="12" r="3.5"/><polyline class="curve" points="487,152 628,12"/>
        </svg>
        </figure>
        <div class="scroll" role="region" aria-label="Reports of a&lt;b, for alice" tabindex="0">
        <table>
        <caption><span>Reports of a&lt;b, for alice</span></caption>
        <thead><tr><th scope="col">Made</th><th scope="col" class="number">Percentage</th><th scope="col" class="number">Generation</th><th scope="col">Controls</th></tr></thead>
        <tbody>
        <tr><th scope="row">2026-11-30T12:00:00Z</th><td class="number">50.0 %</td><td class="number">0</td><td>1 pass, 1 fail</td></tr>
        <tr><th scope="row">2026-12-01T12:00:00Z</th><td class="number">100.0 %</td><td class="number">1</td><td>2 pass</td></tr>
        <tr><th scope="row">2026-12-02T12:00:00Z</th><td class="number">n/a</td><td class="number">2</td><td>1 exempt</td></tr>
        <tr><th scope="row">2026-12-03T12:00:00Z</th><td class="number">0.0 %</td><td class="number">3</td><td>1 fail</td></tr>
        <tr><th scope="row">2026-12-04T12:00:00Z</th><td class="number">100.0 %</td><td class="number">4</td><td>1 pass</td></tr>
        </tbody>
        </table>
        </div>

        """)
  }

  /// Landmarks, a language, a way past the head, scopes for every heading cell, no script and nothing from elsewhere.
  @Test func everyPageIsReadableWithoutEyesAndWithoutScripts() {
    let fleet = FleetReportTests.fleet(
      FleetReportTests.collection, expecting: FleetReportTests.hosts("lab-1", "lab-2", "lab-9"))
    for bytes in [
      ReportHTML.document([Self.report]), ReportHTML.document([Self.report, Self.report]), FleetHTML.document(fleet),
    ] {
      let page = Self.text(bytes)
      #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">\n"))
      for part in [
        "<main id=\"content\"", "<footer>", "<a class=\"skip\" href=\"#content\">", "<meta name=\"viewport\"",
        "@media (prefers-color-scheme: dark)", "@media print", "<h1>", "<caption>",
      ] { #expect(page.contains(bytesOf: part), "\(part)") }
      #expect(
        !page.contains(bytesOf: "<script") && !page.contains(bytesOf: "http://") && !page.contains(bytesOf: "https://"))
      #expect(page.occurrences(of: "<th") == page.occurrences(of: "<th scope=\"") + page.occurrences(of: "<thead"))
      #expect(page.occurrences(of: "<table") == page.occurrences(of: "role=\"region\" aria-label=\""))
      #expect(page.occurrences(of: "<h1>") == 1)
      var ids: Set<String> = []
      for part in page.split(separator: " id=\"").dropFirst() {
        let id = String(part.prefix { $0 != "\"" })
        #expect(ids.insert(id).inserted, "the id \(id) stands twice")
      }
    }
  }

  /// Colours have the contrast that WCAG 2.2 asks of text (4.5 : 1), each with each that it stands on, in light, dark and print.
  @Test func everyColourCanBeReadOnItsGround() throws {
    let page = Self.text(ReportHTML.document([Self.report]))
    func luminance(_ colour: Substring) throws -> Double {
      let parts = try [1, 3, 5].map { start in
        let value = try #require(Int(colour.dropFirst(start).prefix(2), radix: 16))
        let part = Double(value) / 255
        return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
      }
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
    let palettes = page.split(separator: ":root {").dropFirst().map { $0.prefix { $0 != "}" } }
    #expect(palettes.count == 3)
    for palette in palettes {
      var colours: [Substring: Double] = [:]
      for entry in palette.split(separator: ";") {
        let parts = entry.split(separator: ":").map { $0.drop { $0.isWhitespace } }
        if parts.count == 2, parts[1].hasPrefix("#") { colours[parts[0]] = try luminance(parts[1]) }
      }
      for (front, ground) in [
        ("ink", "paper"), ("faint", "paper"), ("link", "paper"), ("ink", "band"), ("faint", "band"),
        ("good", "good-band"),
        ("bad", "bad-band"), ("warn", "warn-band"),
      ] {
        let a = try #require(colours[Substring("--" + front)])
        let b = try #require(colours[Substring("--" + ground)])
        let ratio = (max(a, b) + 0.05) / (min(a, b) + 0.05)
        #expect(ratio >= 4.5, "\(front) on \(ground): \(ratio)")
      }
    }
  }

  /// Headings go down one level at a time, so that a reader can go by them.
  @Test func headingsFormATree() {
    let fleet = FleetReportTests.fleet(FleetReportTests.collection, expecting: FleetReportTests.hosts("lab-1", "lab-9"))
    for bytes in [
      ReportHTML.document([Self.report]), ReportHTML.document([Self.report, Self.report]), FleetHTML.document(fleet),
    ] {
      var last = 0
      for part in Self.text(bytes).split(separator: "<h").dropFirst() {
        guard let level = part.first?.wholeNumberValue else { continue }
        #expect(level <= last + 1, "h\(level) follows h\(last)")
        last = level
      }
      #expect(last > 1)
    }
  }

  @Test func aWideTableIsDividedSoThatItFitsOnPaper() {
    let controls = (0..<19).map { ("C\($0)", "pass") }
    let page = Self.text(
      FleetHTML.document(FleetReportTests.fleet([("a.json", FleetReportTests.report("a", controls))])))
    for part in ["controls 1 to 8 of 19", "controls 9 to 16 of 19", "controls 17 to 19 of 19"] {
      #expect(
        page.contains(bytesOf: "<caption><span>The result of each control on each host: \(part)</span></caption>"))
    }
  }

  /// A fleet of a thousand hosts makes a page that a browser can show.
  @Test func aLargeFleetLeavesItsCellsToOtherForms() {
    let controls = (0..<30).map { ("C\($0)", $0 == 3 ? "fail" : "pass") }
    let fleet = FleetReportTests.fleet(
      (0..<700).map { ("\($0).json", FleetReportTests.report("host-\($0)", controls)) })
    let page = Self.text(FleetHTML.document(fleet))
    #expect(page.contains(bytesOf: "30 controls on 700 hosts and users are too many cells for a page."))
    #expect(page.contains(bytesOf: "and 688 more"))
    #expect(page.utf8.count < 500_000)
  }
}

extension String {
  fileprivate func occurrences(of text: String) -> Int {
    split(separator: text, omittingEmptySubsequences: false).count - 1
  }
}
