import PolicyLanguage
import PropertyList
import Testing

/// What the decoder makes of the documentation's own examples.
@Suite struct ModelTests {
  let tree: PolicyTree
  let exam: Profile

  init() throws {
    tree = try CaseTests.load("complete-tree")
    exam = try #require(tree.profiles.first { $0.id.value == "org.example.lab.exam" })
  }

  private func place<Value>(_ located: Located<Value>) -> String {
    "\(located.position.line):\(located.position.column)+\(located.position.length)"
  }

  @Test func sourcesAreSortedByRelativePath() {
    #expect(tree.sources.map(\.relativePath) == ["containers.yaml", "exam.yaml", "inventory.yml"])
    #expect(tree.diagnostics == [])
    #expect(tree.sources[exam.source].relativePath == "exam.yaml")
  }

  @Test func headAndScope() throws {
    #expect(exam.title.value == "Exam mode")
    #expect(place(exam.title) == "4:8+9")
    #expect(exam.owner?.value == "lab-admins")
    #expect(exam.priority.value == 100)
    let hosts = try #require(exam.applies.hosts)
    #expect(hosts.include.groups.map(\.value) == ["lab-a", "lab-b"])
    #expect(hosts.include.names.map(\.value) == ["lab-c-01", "lab-d-*"])
    #expect(hosts.except?.names.map(\.value) == ["lab-a-17"])
    let users = try #require(exam.applies.users)
    #expect(users.include.groups.map(\.value) == ["students"])
    #expect(users.except?.groups.map(\.value) == ["teachers"])
    let window = try #require(exam.applies.windows.first)
    #expect(window.days == 0b001_1111)
    #expect(window.fromMinute == 540)
    #expect(window.toMinute == 690)
    #expect(window.timeZone.value == "Europe/Berlin")
    #expect(window.firstDay == 20788)
    #expect(window.lastDay == 20805)
  }

  private func settings(_ domains: [DomainSettings], _ tree: NodeTree) -> [String: PropertyListValue] {
    var result: [String: PropertyListValue] = [:]
    for domain in domains {
      for setting in domain.settings {
        result["\(domain.domain.value) \(tree.string(setting.key))"] = tree.value(setting.value)
      }
    }
    return result
  }

  @Test func sections() throws {
    #expect(
      settings(exam.forced, exam.tree) == [
        "org.example.Browser AllowNetwork": .boolean(false),
        "org.example.Browser HomePage": .string("https://exam.example.org/"),
        "NSGlobalDomain AppleLanguages": .array([.string("en")]),
      ])
    #expect(settings(exam.recommended, exam.tree) == ["org.example.Editor Theme": .string("light")])
    #expect(exam.release.map { "\($0.domain.value) \($0.keys.map(\.value))" } == ["org.example.Editor [\"FontSize\"]"])
    let setting = exam.forced[0].settings[0]
    #expect(exam.tree.position(setting.value) == SourcePosition(line: 24, column: 19, length: 5))
  }

  @Test func overrideControlsAndExemptions() throws {
    let override = try #require(exam.overrides.first)
    #expect(override.reason.value == "projector machine")
    #expect(override.ticket?.value == "LAB-142")
    #expect(override.expires?.value == PropertyListDate(unixTime: 1_798_153_199))
    #expect(settings(override.forced, exam.tree).count == 1)
    let control = try #require(exam.controls.first)
    #expect(control.references == ["NIST-800-53r5 CM-6", "CIS 2.3.1"])
    #expect(control.severity == .high)
    let lines = control.expectations.map { expectation in
      "\(expectation.key.value) \(expectation.conditions.map { "\($0.comparison.rawValue) \($0.value)" })"
    }
    #expect(lines.count == 2)
    #expect(control.expectations[0].conditions[0].comparison == .is)
    #expect(control.expectations[0].conditions[0].value == .boolean(false))
    #expect(control.expectations[1].conditions[0].comparison == .max)
    #expect(control.expectations[1].conditions[0].value == .integer(60))
    let exemption = try #require(exam.exemptions.first)
    #expect(exemption.control.value == "LAB-1.1")
    #expect(exemption.scope.hosts?.include.names.map(\.value) == ["lab-a-22"])
    #expect(exemption.expires.value == PropertyListDate(unixTime: 1_801_350_000))
  }

  @Test func containers() throws {
    let profile = try #require(tree.profiles.first { $0.id.value == "org.example.lab.containers" })
    let grant = try #require(profile.containers.first)
    #expect(grant.domain.value == "org.example.Editor")
    #expect(grant.groups.map(\.value) == ["group.org.example.suite"])
    #expect(grant.read.map(\.value) == ["org.example.Fonts"])
    #expect(grant.files.map(\.value) == ["~/Documents"])
    #expect(profile.priority.value == 0)
    #expect(profile.applies.isUnlimited)
    let roaming = try #require(profile.roaming.first)
    #expect(roaming.domain.value == "org.example.Editor")
    #expect(roaming.keys.map(\.value) == ["Theme", "FontSize"])
  }

  @Test func inventoryManifestAndTests() throws {
    let inventory = try #require(tree.inventory)
    #expect(inventory.unknownHosts == .refuse)
    #expect(inventory.hostGroups.map(\.name.value) == ["lab-a", "lab-b", "labs"])
    #expect(inventory.hostGroups[2].groups.map(\.value) == ["lab-a", "lab-b"])
    #expect(inventory.userGroups[1].names.map(\.value) == ["miller"])
    #expect(inventory.userGroups[1].unixGroups.map(\.value) == ["staff"])
    let manifest = try #require(tree.manifest(of: "org.example.Editor"))
    let interval = try #require(manifest.key(named: "AutoSaveInterval"))
    #expect(interval.type == .integer)
    #expect(interval.range?.low == .integer(5))
    #expect(interval.range?.high == .integer(600))
    #expect(interval.defaultValue == .integer(60))
    #expect(interval.unit == "seconds")
    #expect(manifest.key(named: "Theme")?.enumeration == [.string("light"), .string("dark")])
    #expect(manifest.key(named: "AllowedApps")?.merge == .union)
    #expect(manifest.key(named: "LicenceKey")?.isSecret == true)
    #expect(manifest.key(named: "OldKey")?.deprecated == "use Theme")
    #expect(manifest.key(named: "Nothing") == nil)
    let test = try #require(tree.tests.first)
    #expect(test.given.host?.value == "lab-a-03")
    #expect(test.given.at?.value == PropertyListDate(unixTime: 1_796_113_800))
    #expect(
      test.expectations.map { "\($0.kind) \($0.domain.value) \($0.key.value) \($0.value.map { "\($0.type)" } ?? "-")" }
        == [
          "forced org.example.Browser AllowNetwork boolean", "notForced org.example.Editor Theme -",
          "value org.example.Editor Theme string",
        ])
  }

  /// Where the manifest says string, plain numbers are the text that was written (Y03).
  @Test func textIsKeptUnderString() throws {
    let tree = try CaseTests.load("Y03-trailing-zero-under-string")
    let values = settings(tree.profiles[0].forced, tree.profiles[0].tree)
    #expect(values["org.example.App minVersion"] == .string("1.10"))
    #expect(values["org.example.App room"] == .string("0101"))
    #expect(values["org.example.App flag"] == .string("true"))
    #expect(values["org.example.App big"] == .string("77000000000000000000000000000001"))
    #expect(values["org.example.App list"] == .array([.string("1.10"), .string("2"), .string("x")]))
  }

  /// Quotes inside quotes belong to the value (P11), and so does everything in a key (Y02).
  @Test func valuesAreTakenAsWritten() throws {
    let quotes = try CaseTests.load("P11-quotes-are-kept").profiles[0]
    #expect(
      settings(quotes.forced, quotes.tree) == [
        "org.example.App greeting": .string("'Welcome'"), "org.example.App delay": .string("300"),
        "org.example.App list": .string("['a','b']"),
      ])
    let keys = try CaseTests.load("Y02-keys-keep-their-spelling").profiles[0]
    let values = settings(keys.forced, keys.tree)
    #expect(
      values["org.example.App printQuotaBySite"]
        == .dictionary(["SE": .integer(40), "NO": .integer(25), "DK": .integer(30)]))
    #expect(
      Set(values.keys.map { $0.dropFirst("org.example.App ".count).description })
        == ["printQuotaBySite", "on", "404", "1.10", "true"])
  }

  @Test(arguments: [
    (ControlExpectation.Operator.is, PropertyListValue.integer(1), PropertyListValue.real(1), false),
    (.min, .integer(5), .integer(5), true), (.min, .integer(5), .real(4.9), false),
    (.max, .real(0.5), .integer(1), false),
    (.max, .integer(60), .string("5"), false), (.oneOf, .array([.string("a")]), .string("a"), true),
    (.oneOf, .array([.string("a")]), .string("b"), false), (.contains, .string("b"), .array([.string("b")]), true),
    (.contains, .string("b"), .string("abc"), true),
    (.contains, .string("k"), .dictionary(["k": .boolean(true)]), true),
    (.contains, .integer(1), .string("1"), false),
  ])
  func operators(
    comparison: ControlExpectation.Operator, operand: PropertyListValue, effective: PropertyListValue, holds: Bool
  ) throws {
    let control = try #require(exam.controls.first)
    var condition = control.expectations[0].conditions[0]
    condition = .init(comparison: comparison, operand: condition.operand, value: operand)
    #expect(condition.holds(for: effective) == holds)
    #expect(!condition.holds(for: nil))
  }
}
