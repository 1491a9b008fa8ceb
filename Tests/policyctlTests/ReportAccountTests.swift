import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// F04 whole: reports run by root for accounts of this test alone, which a mount namespace puts into the user database.
@Suite(.enabled(if: MountedAccounts.isAvailable)) struct ReportAccountTests {
  static let policy = """
    version: 1
    kind: Inventory
    unknownHosts: allow
    users: {groups: {pupils: {names: [alice, bob]}}}
    ---
    version: 1
    kind: Profile
    id: org.example.pupils
    title: Pupils
    applies: {users: {groups: [pupils]}}
    forced:
      org.example.D: {locked: true}
    recommended:
      org.example.D: {theme: light}
    controls:
      - {id: L, title: Locked, expect: {org.example.D: {locked: true}}}
      - {id: T, title: Themed, expect: {org.example.D: {theme: light}}}

    """

  private func plist(_ theme: String) -> String {
    "<plist version=\"1.0\"><dict><key>theme</key><string>\(theme)</string></dict></plist>"
  }

  private func findings(_ report: JSON) -> [String] {
    report["controls"].elements.map { control in
      let finding = control["findings"].elements.first
      return
        "\(control["id"].text) \(control["result"].text) \(finding?["value"].text ?? "") \(finding?["layer"].text ?? "")"
    }
  }

  @Test func eachUserGetsTheirOwnAnswer() throws {
    let sandbox = try Sandbox()
    try sandbox.write(Self.policy, to: "policies/a.yaml")
    let accounts = try MountedAccounts(
      sandbox, ["alice": (71001, sandbox.path + "/alice"), "bob": (71002, sandbox.path + "/bob")])
    #expect(accounts.run(["init", "--host", "lab-a-03"]).exitCode == 0)
    let applied = accounts.run(["apply", "policies"])
    #expect(applied.exitCode == 0, "\(applied.errors)")
    try sandbox.write(plist("roots"), to: sandbox.home + "/.config/org.example.D.plist")
    try sandbox.write(plist("alices"), to: sandbox.path + "/alice/.config/org.example.D.plist")
    for name in ["", "/.config", "/.config/org.example.D.plist"] { chown(sandbox.path + "/alice" + name, 71001, 71001) }
    func state() throws -> [String] {
      let listing = sandbox.execute(["find", sandbox.path + "/alice", "-printf", "%P %u %m %T@\\n"])
      return listing.output.split(separator: "\n").map(String.init).sorted()
    }
    let before = try state()
    let alice = try JSON(accounts.run(["report", "--user", "alice", "--format", "json"]).output)
    #expect(findings(alice) == ["L pass true forced", "T fail alices application"])
    #expect(alice["user"].text == "alice" && alice["userID"].text == "71001")
    #expect(
      alice["controls"].elements[1]["findings"].elements[0]["path"].text
        == sandbox.path + "/alice/.config/org.example.D.plist")
    let bob = try JSON(accounts.run(["report", "--user", "71002", "--format", "json"]).output)
    #expect(findings(bob) == ["L pass true forced", "T fail light recommended"])
    #expect(
      bob["notes"].elements.map(\.text) == [
        "bob has no home directory (\(sandbox.path)/bob): there are no preferences, policy alone answers."
      ])
    #expect((try? FileMetadata.of(sandbox.path + "/bob")) == nil)
    // Root is no pupil.
    let root = try JSON(accounts.run(["report", "--format", "json"]).output)
    #expect(findings(root) == ["L not-applicable  ", "T not-applicable  "])
    #expect(root["verdict"].text == "nothing-checked")
    let all = try JSON(accounts.run(["report", "--all-users", "--format", "json"]).output)["reports"].elements
    try #require(all.count >= 2)
    #expect(all.suffix(2).map { $0["user"].text } == ["alice", "bob"])
    #expect(findings(all[all.count - 2]) == findings(alice))
    #expect(try state() == before)
    // Root reads with her rights: a link to what she can't read gives nothing away.
    #expect(sandbox.execute(["chmod", "-R", "go=", sandbox.home]).exitCode == 0)
    let link = sandbox.path + "/alice/.config/org.example.D.plist"
    try Directory.removeFile(link)
    symlink(sandbox.home + "/.config/org.example.D.plist", link)
    let linked = try JSON(accounts.run(["report", "--user", "alice", "--format", "json"]).output)
    #expect(findings(linked) == ["L pass true forced", "T fail light recommended"])
    #expect(linked["faults"].elements.map(\.text).contains { $0.hasPrefix(link) && $0.hasSuffix("Permission denied") })
    // An account that is gone since is an error, not the person that a what-if would imagine.
    let gone = try JSON(sandbox.run("report", "--user", "alice", "--format", "json").output)
    #expect(findings(gone) == ["L error null null", "T error null null"])
  }
}

/// Accounts that exist for the commands of one test.
struct MountedAccounts {
  let sandbox: Sandbox
  private let file: String

  /// Whether this process may mount something for its own children.
  static let isAvailable: Bool = {
    let sandbox = try? Sandbox()
    let probe = sandbox?.execute(["unshare", "-m", "mount", "--bind", "/etc/passwd", "/etc/passwd"])
    let isAvailable = geteuid() == 0 && probe?.exitCode == 0
    if !isAvailable { print("SKIPPED: this user can't mount, so reports for accounts of a test can't be made") }
    return isAvailable
  }()

  init(_ sandbox: Sandbox, _ accounts: [String: (id: UInt32, home: String)]) throws {
    self.sandbox = sandbox
    file = sandbox.path + "/passwd"
    var text = try sandbox.read("/etc/passwd")
    for (name, account) in accounts.sorted(by: { $0.key < $1.key }) {
      text += "\(name):x:\(account.id):\(account.id)::\(account.home):/bin/sh\n"
    }
    try sandbox.write(text, to: file)
  }

  func run(_ words: [String]) -> Sandbox.Result {
    sandbox.execute(
      [
        "unshare", "-m", "sh", "-c", "mount --bind \"$0\" /etc/passwd && exec \"$@\"", file, Sandbox.binary, "--root",
        sandbox.root,
      ] + words)
  }
}
