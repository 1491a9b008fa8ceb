import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// A sandbox whose commands are run by an ordinary user: who the tester is, or for root somebody without an account.
final class RunSandbox {
  let sandbox: Sandbox
  static let userID: UInt32 = geteuid() == 0 ? 12345 : geteuid()
  static let application = "org.example.Editor"

  var home: String { sandbox.home }
  var work: String { sandbox.work }
  var configuration: String { home + "/.config" }
  private var data: String { home + "/.local/share/managed-preferences" }
  func container(_ application: String = RunSandbox.application) -> String { data + "/containers/\(application)" }
  func containerHome(_ application: String = RunSandbox.application) -> String { container(application) + "/home" }
  func group(_ name: String) -> String { data + "/groups/\(name)" }

  static let policy = """
    version: 1
    kind: Profile
    id: org.example.lab.containers
    title: Contained applications
    forced: {org.example.Editor: {AutoSaveInterval: 30}}
    containers:
      org.example.Editor:
        groups: [group.org.example.suite]
        read: [org.example.Fonts, org.example.Viewer]
        files: ["~/Documents"]
      org.example.Viewer:
        groups: [group.org.example.suite]

    """

  init(policy: String = RunSandbox.policy) throws {
    sandbox = try Sandbox(named: "policyctl-tests")
    for folder in [sandbox.path, home, work] { chmod(folder, 0o755) }
    try #require(sandbox.run("init", "--host", "lab-a-03").exitCode == 0)
    try sandbox.write(policy, to: sandbox.root + "/etc/managed-preferences/policies/containers.yaml")
    let applied = sandbox.run("apply")
    try #require(applied.exitCode == 0, "\(applied.errors)")
    try Directory.create(configuration)
    try Directory.create(home + "/Documents")
    give()
  }

  /// Gives all that is in the home and in the work folder to the user.
  func give() {
    if geteuid() == 0 { _ = sandbox.execute(["chown", "-hR", "\(Self.userID):\(Self.userID)", home, work]) }
  }

  func write(_ text: String, to path: String) throws {
    try sandbox.write(text, to: path)
    give()
  }

  /// Words that run others as the user.
  static let asUser =
    geteuid() == 0 ? ["setpriv", "--reuid=\(userID)", "--regid=\(userID)", "--clear-groups", "--"] : []

  /// `policyctl run` without its command.
  func words(_ flags: [String] = [], app: String = application) -> [String] {
    Self.asUser + [Sandbox.binary, "--root", sandbox.root, "run", "--app", app] + flags + ["--"]
  }

  func run(
    _ command: [String], flags: [String] = [], app: String = application, environment: [String: String] = [:],
    input: [UInt8]? = nil
  ) -> Sandbox.Result {
    sandbox.execute(words(flags, app: app) + command, environment: environment, input: input)
  }

  /// A shell that runs contained.
  func shell(
    _ script: String, flags: [String] = [], app: String = application, environment: [String: String] = [:]
  ) -> Sandbox.Result {
    run(["sh", "-c", script], flags: flags, app: app, environment: environment)
  }

  /// A shell of the user outside, in which `$RUN` begins a contained command and `wait_for FILE` waits for a file; with job
  /// control, so that a command in the background has a process group of its own.
  func outside(_ script: String, environment: [String: String] = [:]) -> Sandbox.Result {
    let setUp = """
      set -m
      RUN='\(Sandbox.binary) --root \(sandbox.root) run --app \(Self.application)'
      wait_for() { i=0; while ! test -e "$1"; do i=$((i + 1)); test $i -lt 6000 || return 1; sleep 0.02; done; }

      """
    return sandbox.execute(Self.asUser + ["bash", "-c", setUp + script], environment: environment)
  }

  /// Every file of the user with what is in it, its permissions and when it was changed; without what a run may change.
  func snapshot(without left: [String] = []) throws -> [String: String] {
    var found: [String: String] = [:]
    func walk(_ folder: String) throws {
      for name in try Directory.names(in: folder) {
        let path = folder + "/" + name
        if left.contains(path) { continue }
        let metadata = try FileMetadata.of(path, followingLinks: false)
        var line = "\(metadata.mode) \(metadata.modificationNanoseconds) \(metadata.inode) "
        if metadata.isRegularFile { line += String(decoding: try WholeFile.read(path).bytes, as: UTF8.self) }
        if metadata.isSymbolicLink { line += SymbolicLink.target(of: path) ?? "" }
        found[path] = line
        if metadata.isDirectory { try walk(path) }
      }
    }
    try walk(home)
    try walk(sandbox.root)
    return found
  }

  /// What is changed by a run of the application at will.
  var ownPlaces: [String] {
    [containerHome(), container() + "/read", group("group.org.example.suite")]
  }
}

/// Whether programs can be contained here.
enum ContainedRuns {
  static let isAvailable: Bool = {
    guard let sandbox = try? RunSandbox() else { return false }
    let result = sandbox.run(["true"])
    if result.exitCode != 0 { print("SKIPPED: no program can be contained here: \(result.errors)") }
    return result.exitCode == 0
  }()

  static func has(_ programs: String...) -> Bool {
    for program in programs where access("/usr/bin/" + program, X_OK) != 0 {
      print("SKIPPED: \(program) is not installed")
      return false
    }
    return true
  }
}
