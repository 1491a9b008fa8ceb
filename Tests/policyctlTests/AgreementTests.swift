import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// After `apply` of the tree in `Policies`, whoever asks hears the same: `get`, `explain` and the example application,
/// on a host with and without an override, for a student and a teacher, inside and outside an exam, root or not.
@Suite struct AgreementTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let host: String
    let person: Person
    let inExam: Bool
    /// What `org.example.MapViewer MapType` has to be, nil for not forced.
    let mapType: String?
    /// What `org.mozilla.firefox AllowNetwork` has to be, nil for no value.
    let network: String?

    var testDescription: String { "\(host), \(person), \(inExam ? "in an exam" : "no exam")" }
  }

  /// Numbers in place of accounts: `setpriv` needs none, and a reader goes by the kernel's facts.
  enum Person: Sendable {
    case student, teacher, root

    /// The groups `users` and `staff` of the inventory have these ids on every Debian.
    var prefix: [String] {
      switch self {
      case .student: ["setpriv", "--reuid", "20001", "--regid", "20001", "--groups", "100"]
      case .teacher: ["setpriv", "--reuid", "20002", "--regid", "20002", "--groups", "50,100"]
      case .root: []
      }
    }
  }

  static let rows: [Row] = [
    Row(host: "lab-a-03", person: .student, inExam: false, mapType: "Standard", network: nil),
    Row(host: "lab-a-03", person: .student, inExam: true, mapType: "Standard", network: "false"),
    Row(host: "lab-a-03", person: .teacher, inExam: false, mapType: nil, network: nil),
    Row(host: "lab-a-03", person: .teacher, inExam: true, mapType: nil, network: nil),
    Row(host: "lab-a-03", person: .root, inExam: true, mapType: "Standard", network: nil),
    Row(host: "lab-a-07", person: .student, inExam: false, mapType: "Hybrid", network: nil),
    Row(host: "lab-a-07", person: .student, inExam: true, mapType: "Standard", network: "false"),
    Row(host: "lab-a-07", person: .teacher, inExam: true, mapType: nil, network: nil),
    Row(host: "lab-a-07", person: .root, inExam: true, mapType: "Hybrid", network: nil),
  ]

  static let policies = FilePath.parent(of: FilePath.parent(of: FilePath.parent(of: #filePath))) + "/Policies"

  @Test(.enabled(if: geteuid() == 0, "other users can only be played by root"), arguments: rows)
  func everyoneWhoAsksHearsTheSame(_ row: Row) throws {
    let sandbox = try Sandbox()
    try installed(sandbox, row)
    let domains = ["org.mozilla.firefox", "org.libreoffice.Office", "org.gnome.TextEditor", "org.example.MapViewer"]
    for domain in domains {
      let listing = try JSON(ask(sandbox, row, ["get", domain, "--format", "json"]).output)["values"]
      for key in listing.names {
        let explained = try JSON(ask(sandbox, row, ["explain", domain, key, "--format", "json"]).output)
        for field in ["value", "type", "layer", "forced"] {
          #expect(explained[field].canonical == listing[key][field].canonical, "\(domain) \(key) \(field)")
        }
        #expect(explained["forcedBy"].canonical == listing[key]["forcedBy"].canonical)
        let decides = explained["entries"].elements.filter { $0["decides"].text == "true" }
        #expect(
          decides.isEmpty == (listing[key]["forced"].text == "false" && listing[key]["layer"].text != "recommended"))
      }
    }
    let network = ask(sandbox, row, ["get", "org.mozilla.firefox", "AllowNetwork"])
    #expect(network.output == row.network.map { $0 + "\n" } ?? "")
    #expect(network.exitCode == (row.network == nil ? 1 : 0))
    try theApplicationAgrees(sandbox, row)
  }

  /// The user's choice first, then what the application shows: the forced value with its lock, or the choice.
  private func theApplicationAgrees(_ sandbox: Sandbox, _ row: Row) throws {
    let viewer = sandbox.work + "/MapViewer"
    let environment = ["MANAGED_PREFERENCES_ROOT": sandbox.root]
    let chosen = sandbox.execute(row.person.prefix + [viewer, "--choose", "Satellite"], environment: environment)
    let shown = sandbox.execute(row.person.prefix + [viewer, "--show"], environment: environment)
    let get = ask(sandbox, row, ["get", "org.example.MapViewer", "MapType"])
    let selected = "[ \(row.mapType ?? "Satellite") ]"
    #expect(shown.output.contains(selected), "\(shown.output)\(shown.errors)")
    #expect(shown.output.contains("locked by") == (row.mapType != nil))
    #expect(chosen.exitCode == (row.mapType == nil ? 0 : 77), "\(chosen.output)\(chosen.errors)")
    #expect(get.output == (row.mapType ?? "Satellite") + "\n")
  }

  /// `Policies` as it is, the exam's days apart: today, or long ago.
  private func installed(_ sandbox: Sandbox, _ row: Row) throws {
    let tree = sandbox.work + "/policies"
    #expect(sandbox.execute(["cp", "-r", Self.policies, tree]).exitCode == 0)
    var exam = try sandbox.read(tree + "/profiles/exam.yaml")
    let start = try #require(exam.firstRange(of: "    - days:"))
    let end = try #require(exam.firstRange(of: "forced:\n  org.mozilla"))
    let allDay = """
          - {from: "00:00", to: "12:00", timezone: Europe/Berlin}
          - {from: "12:00", to: "00:00", timezone: Europe/Berlin}

      """
    let longAgo = """
          - {from: "09:00", to: "11:30", timezone: Europe/Berlin, between: [2020-12-01, 2020-12-18]}

      """
    exam.replaceSubrange(start.lowerBound..<end.lowerBound, with: row.inExam ? allDay : longAgo)
    try sandbox.write(exam, to: tree + "/profiles/exam.yaml")
    let initialised = sandbox.run("init", "--host", row.host)
    try #require(initialised.exitCode == 0, "\(initialised.errors)")
    let applied = sandbox.run("apply", tree)
    try #require(applied.exitCode == 0, "\(applied.errors)")
    // The programs where an unprivileged user may run them, and a home of that user's own.
    for program in ["policyctl", "MapViewer"] {
      let built = FilePath.parent(of: Sandbox.binary) + "/" + program
      #expect(sandbox.execute(["cp", built, sandbox.work + "/" + program]).exitCode == 0)
    }
    if row.person != .root {
      let owner: uid_t = row.person == .student ? 20001 : 20002
      chown(sandbox.home, owner, owner)
    }
  }

  private func ask(_ sandbox: Sandbox, _ row: Row, _ words: [String]) -> Sandbox.Result {
    sandbox.execute(row.person.prefix + [sandbox.work + "/policyctl", "--root", sandbox.root] + words)
  }
}
