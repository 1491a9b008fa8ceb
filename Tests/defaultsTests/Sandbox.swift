import CommandSandbox
import LinuxFiles
import PreferencesCore
import Testing

extension Sandbox {
  /// - Parameter policy: what a profile called Baseline holds after its title, installed below the sandbox's root; nil for
  ///   a machine where nothing is installed.
  convenience init(policy: String? = nil) throws {
    try self.init(named: "defaults-tests")
    if let policy { try apply(policy) }
  }

  /// The policy on a host of its own.
  func apply(_ policy: String) throws {
    try write(
      "version: 1\nkind: Profile\nid: org.example.lab.base\ntitle: Baseline\npriority: 10\n" + policy,
      to: "policies/base.yaml")
    let policyctl = [Sandbox.binary("policyctl"), "--root", root]
    if (try? FileMetadata.of(root + "/var/lib/managed-preferences/generation")) == nil {
      try #require(execute(policyctl + ["init", "--host", "lab-a-03"]).exitCode == 0)
    }
    let applied = execute(policyctl + ["apply", "policies", "--allow-empty"])
    try #require(applied.exitCode == 0, "\(applied.errors)")
  }

  /// Runs `defaults --root ROOT …` in the work folder.
  @discardableResult
  func defaults(_ words: String...) -> Result { defaults(words) }

  @discardableResult
  func defaults(_ words: [String], environment: [String: String] = [:], input: [UInt8]? = nil) -> Result {
    execute([Sandbox.binary("defaults"), "--root", root] + words, environment: environment, input: input)
  }

  /// Runs `defaults …` without a root.
  func bare(_ words: String...) -> Result { execute([Sandbox.binary("defaults")] + words) }

  /// A folder of commands that has `defaults` on the sandbox's root, for texts that name no root.
  func commands() throws -> String {
    try writeProgram("exec '\(Sandbox.binary("defaults"))' --root '\(root)' \"$@\"", to: "bin/defaults")
    return work + "/bin"
  }

  var configuration: String { home + "/.config" }
  var hostIdentifier: String { HostIdentifier.current() }

  /// This sandbox's errors without what only this machine has: its folder, its host's identifier.
  func plainErrors(_ result: Result) -> String {
    var text = plain(result.errors)
    while let range = text.firstRange(of: hostIdentifier) { text.replaceSubrange(range, with: "HOST") }
    return text
  }
}

/// Compares everything that a command left, with one failure that shows all of it.
func expect(
  _ result: Sandbox.Result, _ exitCode: Int32 = 0, output: String = "", errors: String = "", in sandbox: Sandbox,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(result.exitCode == exitCode, sourceLocation: sourceLocation)
  #expect(result.output == output, sourceLocation: sourceLocation)
  #expect(sandbox.plainErrors(result) == errors, sourceLocation: sourceLocation)
}
