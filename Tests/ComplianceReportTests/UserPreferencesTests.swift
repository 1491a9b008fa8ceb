import AuditEvents
import CommandLineKit
import ComplianceReport
import ForcedDomain
import Glibc
import LinuxFiles
import PreferencesCore
import PropertyList
import Testing

/// A user's own layers in a report: read, shown, never evidence, and never touched.
@Suite struct UserPreferencesTests {
  /// A home directory that is gone after the test.
  final class Home {
    let path: String

    init() throws {
      var template = Array("/tmp/compliance-tests-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw Errno.current }
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? Directory.removeTree(path) }

    func write(_ values: [String: PropertyListValue], to file: String) throws {
      let file = FilePath.join(path, file)
      try Directory.createAll(FilePath.parent(of: file))
      try AtomicReplacement.write(try PropertyListCoding.encode(.dictionary(values), as: .xml), to: file, mode: 0o600)
    }

    /// As `policyctl report --user` opens another account's lists.
    var preferences: UserPreferences {
      UserPreferences { [path] domain in
        var configuration = SearchList.Configuration(
          domain: domain, homeDirectory: path, configurationDirectory: path + "/.config", arguments: [], languages: [],
          installation: Installation(root: path + "/no-installation"), sink: DiscardingAuditEventSink(),
          observes: false,
          userFacts: UserFacts(userID: 1001, groupIDs: [1001], name: "alice"))
        configuration.preparesContainer = false
        return configuration
      }
    }

    func names() throws -> [String] {
      func walk(_ directory: String) throws -> [String] {
        try Directory.names(in: directory).flatMap { name -> [String] in
          let file = directory + "/" + name
          return [file] + ((try FileMetadata.of(file, followingLinks: false)).isDirectory ? try walk(file) : [])
        }
      }
      return try walk(path)
    }
  }

  static let policy = Policies.profile(
    "a",
    "forced: {org.example.D: {motion: true}}\nrecommended: {org.example.D: {home: start}}\ncontrols:\n"
      + Policies.control("C", "org.example.D: {network: false}")
      + Policies.control("M", "org.example.D: {motion: true}")
      + Policies.control("H", "org.example.D: {home: start}"))

  /// The value that the user has set is right, and no evidence: nothing forces it.
  @Test func aRightValueThatTheUserSetFails() throws {
    let home = try Home()
    try home.write(["network": .boolean(false), "motion": .boolean(false)], to: ".config/org.example.D.plist")
    try home.write(["home": .string("mine")], to: ".config/.GlobalPreferences.plist")
    let before = try home.names()
    let preferences = home.preferences
    let controls = try Policies(Self.policy).evaluation(preferences: preferences).controls()
    #expect(
      Policies.results(controls) == ["C fail: network not-forced", "M pass", "H fail: home not-forced"])
    let network = controls[0].findings[0]
    #expect(network.value == .boolean(false))
    #expect(network.layer == "application")
    #expect(network.path == home.path + "/.config/org.example.D.plist")
    #expect(network.message == "the value is right, but not forced: the user can change it")
    let motion = controls[1].findings[0]
    #expect(motion.value == .boolean(true) && motion.layer == "forced" && motion.isForced)
    let page = controls[2].findings[0]
    #expect(page.value == .string("mine") && page.layer == "global" && page.foundIn == "NSGlobalDomain")
    #expect(page.message == "the value is wrong, and not forced")
    #expect(preferences.faults == [])
    #expect(try home.names() == before)
  }

  /// F04, bob: a home that is not there gives policy-only answers, and is not made.
  @Test func aUserWithoutAHomeGetsThePolicyAlone() throws {
    let home = try Home()
    try Directory.remove(home.path)
    let controls = try Policies(Self.policy).evaluation(preferences: home.preferences).controls()
    #expect(
      Policies.results(controls) == ["C fail: network not-forced", "M pass", "H fail: home not-forced"])
    #expect(controls[2].findings[0].layer == "recommended")
    #expect((try? FileMetadata.of(home.path)) == nil)
  }

  /// A domain that lives in a container is read there.
  @Test func aDomainInAContainerIsReadWhereItLives() throws {
    let home = try Home()
    try home.write(["network": .boolean(true)], to: ".config/org.example.D.plist")
    let container = ".local/share/managed-preferences/containers/org.example.D"
    try home.write(["network": .boolean(false)], to: container + "/home/.config/org.example.D.plist")
    let finding = try Policies(Self.policy).evaluation(preferences: home.preferences).controls()[0].findings[0]
    #expect(finding.value == .boolean(false))
    #expect(finding.path == "\(home.path)/\(container)/home/.config/org.example.D.plist")
  }

  @Test func aDamagedFileIsSaid() throws {
    let home = try Home()
    try Directory.createAll(home.path + "/.config")
    let file = home.path + "/.config/org.example.D.plist"
    try AtomicReplacement.write(Array("<plist".utf8), to: file, mode: 0o600)
    let preferences = home.preferences
    let controls = try Policies(Self.policy).evaluation(preferences: preferences).controls()
    #expect(Policies.results(controls) == ["C fail: network not-forced", "M pass", "H fail: home not-forced"])
    let message = controls[0].findings[0].message ?? ""
    #expect(message.hasPrefix("nothing forces it, and what the user has can't be read: \(file): "), "\(message)")
    #expect(preferences.faults.count == 1)
  }

  /// The language refuses a control that would tell a secret; a file that has one all the same tells nothing.
  @Test func aSecretIsNeverShown() throws {
    let home = try Home()
    try home.write(["licence": .string("hunter2")], to: ".config/org.example.D.plist")
    let expectation: [String: PropertyListValue] = [
      "domain": .string("org.example.D"), "key": .string("licence"), "is": .string("swordfish"),
    ]
    let control: [String: PropertyListValue] = [
      "id": .string("C"), "title": .string("Licensed"), "severity": .string("low"), "profile": .string("a"),
      "condition": .integer(0), "expect": .array([.dictionary(expectation)]),
    ]
    var writer = ForcedDomainWriter(kind: .provenance)
    writer.setAnnex(
      .dictionary([
        "controls": .array([.dictionary(control), .string("damaged")]),
        "secrets": .dictionary(["org.example.D": .array([.string("licence")])]),
      ]))
    let file = try ForcedDomain(
      bytes: try writer.finish(FileStamp(serial: 1, sourceDigest: [], horizon: 0..<1)), expecting: [.provenance])
    let truth = file.truth(in: EvaluationContext(user: UserFacts(), instant: 0))
    let evaluation = ControlEvaluation(
      provenance: file, applicability: truth, policy: (file, truth), preferences: home.preferences)
    let finding = evaluation.controls()[0].findings[0]
    #expect(finding.valueText == "(secret)" && finding.expectedText == "(secret)")
    #expect(evaluation.damagedEntries == 1)
    let report = HostReport(
      host: "h", user: "u", userID: nil, generation: 1, serial: 1, sourceDigest: [], source: "installed", instant: 0,
      made: 0, sources: SourcesState(state: "match", text: "match"), controls: evaluation.controls())
    for form in Form.allCases {
      let text = form.text(of: report)
      #expect(!text.contains("hunter2") && !text.contains("swordfish"), "\(form)")
    }
  }
}

/// The forms of a host's report, as texts.
enum Form: CaseIterable {
  case text, json, csv, junit, html

  func text(of report: HostReport) -> String {
    let bytes: [UInt8] =
      switch self {
      case .text: Array(ReportText(.plain) { "policyctl explain \($0) \($1)" }.text(report).utf8)
      case .json: ReportJSON.document(report).bytes
      case .csv: ReportCSV.document([report])
      case .junit: ReportJUnit.document([report])
      case .html: ReportHTML.document([report])
      }
    return String(decoding: bytes, as: UTF8.self)
  }
}
