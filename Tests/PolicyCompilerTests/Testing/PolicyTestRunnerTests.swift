import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PolicyLanguage
import Testing

@Suite struct PolicyTestRunnerTests {
  private static let policies = """
    version: 1
    kind: Profile
    id: org.example.base
    title: Baseline
    priority: 10
    forced:
      org.example.Browser: {HomePage: https://example.org/, Zoom: 1}
      NSGlobalDomain: {AppleLanguages: [en]}
    recommended:
      org.example.Editor: {Theme: light}
    ---
    version: 1
    kind: Profile
    id: org.example.exam
    title: Exam mode
    priority: 100
    applies:
      hosts: {groups: [lab-a]}
      users: {groups: [students], except: {groups: [teachers]}}
      during:
        - {days: [mon, tue], from: "09:00", to: "11:30", timezone: Europe/Berlin}
    forced:
      org.example.Browser: {AllowNetwork: false}

    """

  private static func run(_ cases: String) throws -> [PolicyTestResult] {
    let (compilation, tree) = PolicySources.compile([
      "a.yaml": policies, "inventory.yaml": PolicySources.inventory(),
      "tests.yaml": "version: 1\nkind: Tests\ncases:\n" + cases,
    ])
    let payload = try ForcedDomain(
      bytes: try #require(
        compilation.payload, "\(DiagnosticRenderer(sources: tree.sources).render(compilation.diagnostics))"),
      expecting: [.fleet])
    return try PolicyTestRunner.run(tree.tests, sources: tree.sources, payload: payload, now: PolicySources.now)
  }

  @Test func whatHolds() throws {
    let results = try Self.run(
      """
        - name: during an exam
          given: {host: lab-a-03, user: s1, groups: [students], at: "2026-12-01T09:30:00+01:00"}
          expect:
            forced: {org.example.Browser: {AllowNetwork: false, Zoom: 1, AppleLanguages: [en]}}
            notForced: {org.example.Editor: [Theme]}
            value: {org.example.Editor: {Theme: light}}
        - name: the last second, and the end
          given: {host: lab-a-03, groups: [students], at: "2026-12-01T11:29:59+01:00"}
          expect: {forced: {org.example.Browser: {AllowNetwork: false}}}
        - name: the end
          given: {host: lab-a-03, groups: [students], at: "2026-12-01T11:30:00+01:00"}
          expect: {notForced: {org.example.Browser: [AllowNetwork]}}
        - name: a teacher by name
          given: {host: lab-a-03, user: miller, groups: [students], at: "2026-12-01T09:30:00+01:00"}
          expect: {notForced: {org.example.Browser: [AllowNetwork]}}
        - name: another room
          given: {host: lab-b-03, groups: [students], at: "2026-12-01T09:30:00+01:00"}
          expect: {notForced: {org.example.Browser: [AllowNetwork]}}
        - name: beyond the horizon
          given: {host: lab-a-03, groups: [students], at: "2041-12-03T09:30:00+01:00"}
          expect: {forced: {org.example.Browser: {AllowNetwork: false}}}
        - name: nobody and nowhere in particular
          given: {}
          expect: {forced: {org.example.Browser: {Zoom: 1}}}

      """)
    #expect(results.map(\.name).count == 7)
    #expect(results.flatMap(\.failures).map(\.description) == [])
    #expect(results.map(\.hasPassed) == Array(repeating: true, count: 7))
    #expect(results[0].expectationCount == 5)
  }

  @Test func whatFails() throws {
    let results = try Self.run(
      """
        - name: wrong in every way
          given: {host: lab-b-03}
          expect:
            forced: {org.example.Browser: {AllowNetwork: false, Zoom: 1.0}}
            notForced: {org.example.Browser: [HomePage]}
            value: {org.example.Editor: {Theme: dark, FontSize: 12}, org.example.Browser: {HomePage: x}}

      """)
    #expect(results.map(\.hasPassed) == [false])
    #expect(
      results[0].failures.map { "\($0.path):\($0.position.line):\($0.position.column): \($0.description)" }.sorted()
        == [
          "tests.yaml:7:52: org.example.Browser AllowNetwork: expected forced false, but it is not forced",
          "tests.yaml:7:65: org.example.Browser Zoom: expected forced 1.0, but it is forced to 1 by \"Baseline\"",
          "tests.yaml:8:41: org.example.Browser HomePage: expected not forced, but it is forced to "
            + "\"https://example.org/\" by \"Baseline\"",
          "tests.yaml:9:43: org.example.Editor Theme: expected \"dark\", but it is recommended as \"light\" by "
            + "\"Baseline\"",
          "tests.yaml:9:59: org.example.Editor FontSize: expected 12, but it has no value",
          "tests.yaml:9:96: org.example.Browser HomePage: expected \"x\", but it is forced to "
            + "\"https://example.org/\" by \"Baseline\"",
        ])
  }

  /// The tree that ships with this package keeps its own promises.
  @Test func theShippedPoliciesPass() throws {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let tree = try PolicyTreeLoader.load(
      directory: "/\(root)/Policies", displayedAs: "Policies", now: PolicySources.now)
    let compilation = PolicyCompiler.compile(tree)
    let payload = try ForcedDomain(
      bytes: try #require(
        compilation.payload, "\(DiagnosticRenderer(sources: tree.sources).render(compilation.diagnostics))"),
      expecting: [.fleet])
    let results = try PolicyTestRunner.run(
      tree.tests, sources: tree.sources, payload: payload, now: PolicySources.now)
    #expect(results.count >= 8)
    #expect(results.flatMap { result in result.failures.map { "\(result.name): \($0)" } } == [])
  }
}
