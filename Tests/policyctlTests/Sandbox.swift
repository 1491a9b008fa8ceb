import CommandSandbox
import LinuxFiles
import Testing

extension Sandbox {
  /// - Parameter applied: runs `init`, takes the sample into use and applies it.
  convenience init(applied: Bool = false) throws {
    try self.init(named: "policyctl-tests")
    if applied {
      try #require(run("init", "--host", "lab-a-03").exitCode == 0)
      let policies = root + "/etc/managed-preferences/policies"
      try Directory.rename(policies + "/example.yaml.sample", to: policies + "/example.yaml")
      let result = run("apply")
      try #require(result.exitCode == 0, "\(result.errors)")
    }
  }

  static let binary = Sandbox.binary("policyctl")

  /// Runs `policyctl --root ROOT …` in the work folder.
  @discardableResult
  func run(_ words: String...) -> Result { execute([Self.binary, "--root", root] + words) }

  /// Every file below the root with its bytes, without the audit log and its anchor: what a refusal leaves as it was.
  func contentsBesideAudit() throws -> [String: [UInt8]] {
    try contents(of: root).filter { !Self.isAudit($0.key) }
  }

  static func isAudit(_ path: String) -> Bool {
    path.contains("/var/log/managed-preferences/") || path.hasSuffix("/audit-anchor")
  }

  /// Runs `policyctl …` without a root.
  func runBare(_ words: [String], environment: [String: String] = [:]) -> Result {
    execute([Self.binary] + words, environment: environment)
  }
}
