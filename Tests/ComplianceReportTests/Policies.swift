import ComplianceReport
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PolicyLanguage
import PreferencesCore
import PropertyList
import Testing

/// Knows no names: answers are the same on every machine.
private struct Nobody: UserResolver {
  func userID(ofUser name: String) -> UInt32? { nil }
  func groupID(ofUnixGroup name: String) -> UInt32? { nil }
}

/// Policies as one host would have them installed, and their controls evaluated, all in memory.
struct Policies {
  static let now: Int64 = 1_764_590_400  // 2025-12-01T12:00:00Z

  private let whatIf: WhatIf

  /// - Parameter profiles: documents of one file.
  init(_ text: String, host: String = "lab-a-03") throws {
    let tree = PolicyTreeLoader.load(sources: [(path: "policy.yaml", bytes: Array(text.utf8))], now: Self.now)
    let compilation = PolicyCompiler.compile(tree)
    let mistakes = compilation.diagnostics.filter { $0.severity == .error }.map { "\($0.line): \($0.message)" }
    let payload = try #require(compilation.payload, "\(mistakes)")
    whatIf = try WhatIf(
      payload: ForcedDomain(bytes: payload, expecting: [.fleet]), host: HostIdentity(name: host), now: Self.now,
      users: Nobody(), accounts: .none)
  }

  func evaluation(
    user: String? = nil, groups: [String] = [], at instant: Int64 = now, preferences: UserPreferences? = nil,
    isLocked: Bool = false
  ) -> ControlEvaluation {
    let question = WhatIfQuestion(host: whatIf.host, user: user, groups: groups, instant: instant)
    let forced = whatIf.forced.truth(in: whatIf.context(user: user, groups: groups, instant: instant))
    return ControlEvaluation(
      provenance: whatIf.provenance, applicability: whatIf.provenance.truth(in: whatIf.context(question)),
      policy: isLocked ? nil : (whatIf.forced, forced), preferences: preferences)
  }

  /// Each control with its result and the problems of its findings: `T-1 fail: Timeout wrong-value`.
  static func results(_ controls: [ControlReport]) -> [String] {
    controls.map { control in
      let problems = control.findings.compactMap { finding in
        finding.problem.map { "\(finding.expectation.key) \($0.rawValue)" }
      }
      return "\(control.id) \(control.result.rawValue)"
        + (problems.isEmpty ? "" : ": " + problems.joined(separator: ", "))
    }
  }

  static func profile(_ id: String, priority: Int = 0, applies: String = "", _ body: String) -> String {
    "---\nversion: 1\nkind: Profile\nid: org.example.\(id)\ntitle: \(id)\npriority: \(priority)\n\(applies)\n\(body)\n"
  }

  static func control(_ id: String, _ expect: String) -> String {
    "  - {id: \(id), title: Title of \(id), expect: {\(expect)}}\n"
  }
}
