public import ForcedDomain
import PreferencesCore
import PropertyList

/// The controls of one policy, evaluated for one user at one moment on one host.
///
/// The rules, in the order in which they are asked of a control:
///
/// 1. It is **not applicable** where its profile's conditions do not hold. A condition that can't be decided counts as
///    holding: the control is asked.
/// 2. What can't be read makes it an **error**.
/// 3. It is **exempt** while an exemption of it holds. One that has expired, or whose condition can't be decided, does not
///    hold. Whether the control would pass is not asked, and changes no count.
/// 4. It **passes** where each expected key has a value that meets the expectation *and* is forced. A value that is right
///    but that the user could change is no evidence, so it **fails**, as does every other value.
///
/// What a key's value is, and whether it is forced, is not decided here: the policy's part is the law of one key in
/// `ForcedDomain`, over the file that applications read; what the user has is asked of `SearchList`.
public struct ControlEvaluation {
  private let catalogue: ControlCatalogue
  private let applicability: (file: ForcedDomain, truth: ConditionTruth)
  private let policy: (file: ForcedDomain, truth: ConditionTruth)?
  private let preferences: UserPreferences?
  private let titles: [String: String]

  /// - Parameters:
  ///   - provenance: has the controls; its hosts may be undecided, so `applicability` names the host.
  ///   - applicability: the conditions of `provenance`.
  ///   - policy: what applications read, with its conditions; nil where that can't be read: all that is asked is an error.
  ///   - preferences: the user's own layers; nil for a question about policy alone.
  public init(
    provenance: ForcedDomain, applicability: ConditionTruth, policy: (file: ForcedDomain, truth: ConditionTruth)?,
    preferences: UserPreferences?
  ) {
    catalogue = ControlCatalogue(of: provenance)
    self.applicability = (provenance, applicability)
    self.policy = policy
    self.preferences = preferences
    titles = Dictionary(provenance.profiles.map { ($0.id, $0.title) }) { first, _ in first }
  }

  /// Controls and exemptions of the file that could not be read.
  public var damagedEntries: Int { catalogue.damagedEntries }

  /// The next Unix second at which a result may be another one; nil where none will.
  public var nextEdge: Int64? {
    let now = applicability.truth.context.instant
    let expiries = catalogue.exemptions.map { Int64($0.expires.unixTime.rounded(.up)) }.filter { $0 > now }
    return ([applicability.truth.nextEdge, policy?.truth.nextEdge].compactMap { $0 } + expiries).min()
  }

  /// Every control of the policy, in the order of its sources.
  ///
  /// - Parameter failure: why nothing can be asked for this user, such as an account that is gone; nil where it can.
  public func controls(unless failure: String? = nil) -> [ControlReport] {
    let exemptions = Dictionary(grouping: catalogue.exemptions.filter(holds), by: \.control)
    return catalogue.controls.map { control in
      var report = ControlReport(
        id: control.id, title: control.title, severity: control.severity, references: control.references,
        profile: ReportedProfile(id: control.profile, title: titles[control.profile] ?? control.profile),
        result: .notApplicable, findings: [])
      if !applicability.truth.holds(control.condition, for: .replace) {
        let why = reason(control.condition)
        // Who is not known may be concerned by everything that concerns this host.
        if failure == nil || why == .host {
          report.reason = Self.text(why)
          return report
        }
      }
      if let failure = failure ?? (policy == nil ? "the forced domain can't be read" : nil) {
        report.result = .error
        report.findings = control.expectations.map { .unreadable($0, isSecret($0), failure) }
        return report
      }
      report.findings = control.expectations.map(finding)
      if let exemption = exemptions[control.id]?.max(by: { $0.expires < $1.expires }) {
        report.result = .exempt
        report.exemption = ReportedExemption(
          reason: exemption.reason, owner: exemption.owner, expires: exemption.expires, profile: exemption.profile)
      } else if report.findings.contains(where: { $0.problem == .unreadable }) {
        report.result = .error
      } else {
        report.result = report.findings.allSatisfy { $0.problem == nil } ? .pass : .fail
      }
      return report
    }
  }

  /// Exemptions that concern this host and user and are not applied: whoever counts on one must hear of it.
  public func idleExemptions() -> [IdleExemption] {
    let known = Set(catalogue.controls.map(\.id))
    return catalogue.exemptions.compactMap { exemption in
      let isExpired = Double(applicability.truth.context.instant) >= exemption.expires.unixTime
      guard isExpired || !known.contains(exemption.control) else { return nil }
      let why = reason(exemption.condition)
      if why == .host || why == .user { return nil }
      return IdleExemption(
        control: exemption.control, reason: exemption.reason, owner: exemption.owner, expires: exemption.expires,
        why: known.contains(exemption.control) ? "expired" : "no such control")
    }
  }

  private func holds(_ exemption: ControlCatalogue.Exemption) -> Bool {
    // As an exemption frees keys, so it is asked as a release is: in doubt it does not hold.
    applicability.truth.holds(exemption.condition, for: .release)
      && Double(applicability.truth.context.instant) < exemption.expires.unixTime
  }

  private func reason(_ condition: Int) -> ConditionReason? {
    applicability.file.reason(ofCondition: condition, under: applicability.truth)
  }

  private static func text(_ reason: ConditionReason?) -> String {
    switch reason {
    case .host?: "its profile does not concern this host"
    case .user?: "its profile does not concern this user"
    case .window?: "its profile does not hold at this time"
    case .expired?, nil: "its profile does not hold"
    }
  }

  private func isSecret(_ expectation: Expectation) -> Bool {
    catalogue.secrets.contains(expectation.key, in: ForcedDomain.domains(binding: expectation.domain))
  }

  /// One key: the forced value where there is one, else what the layers below have, in the order of the one table.
  private func finding(_ expectation: Expectation) -> ControlFinding {
    guard let policy else { return .unreadable(expectation, isSecret(expectation), "the forced domain can't be read") }
    let (domain, key) = (expectation.domain, expectation.key)
    var finding = ControlFinding(
      expectation: expectation, isForced: false, forcedBy: [], isSecret: isSecret(expectation))
    for name in ForcedDomain.domains(binding: domain) {
      let resolution = policy.file.resolve(domain: name, key: key, section: .forced, under: policy.truth)
      guard let value = resolution.value else { continue }
      finding.value = value
      finding.layer = Layer.forced.rawValue
      finding.isForced = true
      finding.forcedBy = resolution.profiles.map { ReportedProfile(id: $0.id, title: $0.title) }
      finding.foundIn = name
      return finding.judged()
    }
    var below = preferences?.considered(domain: domain, key: key) ?? []
    for name in ForcedDomain.domains(binding: domain) {
      let value = policy.file.value(domain: name, key: key, section: .recommended, under: policy.truth)
      below.append(.init(layer: .recommended, domain: name, path: nil, value: value))
    }
    let inOrder = Layer.allCases.flatMap { layer in below.filter { $0.layer == layer } }
    if let winner = inOrder.first(where: { $0.value != nil }) {
      finding.value = winner.value
      finding.layer = winner.layer.rawValue
      finding.foundIn = winner.domain.isEmpty ? nil : winner.domain
      finding.path = winner.path
    }
    finding = finding.judged()
    if let fault = preferences?.faults(ofDomain: domain).first(where: { $0.kind == .unreadable || $0.kind == .damaged })
    {
      // That nothing forces the key is certain; what the user has is not.
      finding.message = "nothing forces it, and what the user has can't be read: \(fault)"
    }
    return finding
  }
}

extension ControlFinding {
  static func unreadable(_ expectation: Expectation, _ isSecret: Bool, _ why: String) -> ControlFinding {
    ControlFinding(
      expectation: expectation, isForced: false, forcedBy: [], isSecret: isSecret, problem: .unreadable, message: why)
  }

  /// The finding with what is wrong.
  fileprivate func judged() -> ControlFinding {
    var finding = self
    let isRight = expectation.holds(for: value)
    if !isForced {
      finding.problem = .notForced
      if value == nil {
        finding.message = "it has no value, and nothing forces it"
      } else if isRight {
        finding.message = "the value is right, but not forced: the user can change it"
      } else {
        finding.message = "the value is wrong, and not forced"
      }
    } else if !isRight, let value {
      let isUsable = expectation.accepts(value.type)
      finding.problem = isUsable ? .wrongValue : .unusable
      finding.message =
        isUsable
        ? "it is forced to another value"
        : "it is forced but unusable: \(value.type.withArticle), where \(expectation.typeText) is expected"
    }
    return finding
  }
}

extension Expectation {
  /// The type that a value needs, for a message: `an array`.
  fileprivate var typeText: String {
    guard let first = conditions.first else { return "another type" }
    switch first.comparison {
    case .is: return first.operand.type.withArticle
    case .min, .max: return first.operand.type == .date ? "a date" : "a number"
    case .oneOf:
      return first.operand.arrayValue?.first.map(\.type.withArticle) ?? "another type"
    case .contains: return "an array or a text"
    }
  }
}

extension PropertyListType {
  fileprivate var withArticle: String {
    switch self {
    case .integer, .array: "an \(self)"
    case .data: "data"
    default: "a \(self)"
    }
  }
}
