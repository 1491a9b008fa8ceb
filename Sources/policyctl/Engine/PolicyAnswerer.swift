import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PreferencesCore
import PropertyList

/// The entries of a key with what became of each, for `explain`.
struct PolicyEvidence {
  var entries: [EntryView] = []
  var isWithheld = false
}

/// The policy that a question is put to: what is installed, a folder of policies, or a bundle.
struct PolicyAnswerer {
  /// `installed`, or the path.
  let source: String
  /// The host that answers are about; nil where nothing is installed.
  let hostName: String?
  let isAboutAnotherHost: Bool
  /// The installed forced domain can't be read: everything counts as forced.
  let isLocked: Bool
  /// No policy was asked: nothing is installed here.
  var isAbsent: Bool { asked == nil && !isLocked }
  /// Names of the question that may be slips of the keyboard.
  let notes: [String]
  /// nil for policies that are not installed.
  let generation: UInt64?
  let faults: [String]
  /// What is asked for values; nil where there is no policy.
  private let asked: Asked?
  private let installation: Installation
  private let circumstances: Circumstances

  /// A file with its conditions evaluated.
  private struct Asked {
    let file: ForcedDomain
    let truth: ConditionTruth

    /// - Parameter host: nil where the file's hosts are decided.
    init(_ file: ForcedDomain, host: HostIdentity?, _ circumstances: Circumstances) {
      self.file = file
      // What a running application asks, or what would be if.
      truth = file.truth(
        in: circumstances.isHere
          ? EvaluationContext(host: host, user: .current(), instant: circumstances.moment)
          : .whatIf(
            over: file, host: host, user: circumstances.user, groups: circumstances.groups,
            instant: circumstances.moment))
    }
  }

  init(_ call: Invocation, _ circumstances: Circumstances, installation: Installation) throws(CommandFailure) {
    self.installation = installation
    self.circumstances = circumstances
    if circumstances.policies != nil || circumstances.bundle != nil {
      let origin = try Payload.read(call, circumstances)
      let (payload, path) = (origin.payload, origin.path)
      let enrolled = try? HostEnrolment(of: installation).identity
      let host = circumstances.host.map(HostIdentity.init) ?? enrolled ?? HostIdentity(name: HostName.ofThisSystem())
      let names = KnownNames(payload: payload, mayLackGroups: false)
      notes = try names.check(circumstances, host: host, call)
      source = path
      hostName = host.name
      isAboutAnotherHost = circumstances.host != nil && enrolled?.name.lowercased() != host.name.lowercased()
      isLocked = false
      generation = nil
      faults = []
      asked = Asked(try Payload.narrow(payload, to: host, path: path).provenance, host: host, circumstances)
      return
    }
    source = "installed"
    let installed: ForcedDomain?
    let loader = ForcedDomainLoader(installation)
    switch loader.load() {
    case .notInstalled: (installed, isLocked, faults) = (nil, false, [])
    case .loaded(let file, let found): (installed, isLocked, faults) = (file, false, found.map(\.description))
    case .unavailable(let found): (installed, isLocked, faults) = (nil, true, found.map(\.description))
    }
    generation = installed?.generation
    hostName = circumstances.host ?? installed?.hostName
    isAboutAnotherHost = circumstances.host != nil && hostName?.lowercased() != installed?.hostName.lowercased()
    guard let installed else {
      asked = nil
      notes = []
      return
    }
    // The forced file has neither the inventory nor groups that concern nobody here.
    if !circumstances.namesSomething {
      notes = []
    } else if case .available(let provenance) = loader.loadProvenance(for: installed) {
      notes = try KnownNames(payload: provenance, mayLackGroups: false).check(circumstances, host: nil, call)
    } else {
      notes = try KnownNames(payload: installed, mayLackGroups: true).check(circumstances, host: nil, call)
    }
    if !isAboutAnotherHost {
      asked = Asked(installed, host: nil, circumstances)
      return
    }
    switch loader.loadProvenance(for: installed) {
    case .available(let provenance):
      asked = Asked(provenance, host: circumstances.host.map(HostIdentity.init), circumstances)
    case .withheld:
      throw CommandFailure(
        .notPermitted, "what other hosts get can be read by root and the group managed-preferences-audit only",
        next: call.again(privileged: true), call.again(adding: "--policies", "DIR"))
    case .unavailable(let fault): throw CommandFailure(.unavailable, fault.description)
    }
  }

  // MARK: Answers

  /// What the policy has for a key in one of its two layers.
  func candidates(_ layer: Layer, domain: String, key: String) -> [LayerCandidate] {
    guard let asked else { return [] }
    let section: PolicySection = layer == .forced ? .forced : .recommended
    return ForcedDomain.domains(binding: domain).map { name in
      LayerCandidate(
        layer: layer, domain: name, path: nil,
        value: asked.file.value(domain: name, key: key, section: section, under: asked.truth))
    }
  }

  /// Who forces a key of a domain, in rank order, each profile once.
  func forcedBy(domain: String, key: String) -> [ForcedByView] {
    guard let asked else { return [] }
    return asked.file.resolve(domain: domain, key: key, section: .forced, under: asked.truth).profiles.map {
      ForcedByView(profile: $0.id, title: $0.title, generation: generation)
    }
  }

  /// Every key that the policy mentions for a domain.
  func mentionedKeys(in domain: String) -> [String] {
    guard let asked else { return [] }
    return ForcedDomain.domains(binding: domain).flatMap { asked.file.keys(inDomain: $0) }
  }

  /// Every domain that the policy mentions.
  var domains: [String] { asked?.file.domains ?? [] }

  /// Whether a manifest calls a key of any of these domains secret.
  func isSecret(_ key: String, in domains: [String]) -> Bool { SecretKeys(of: asked?.file).contains(key, in: domains) }

  /// The profiles that let a key of a domain roam.
  func profiles(roaming key: String, of domain: String) -> [String] {
    asked.map { $0.file.profiles(roaming: key, of: domain, under: $0.truth) } ?? []
  }

  // MARK: Evidence

  /// Every entry of a key, with lines and reasons where this user may read them.
  func evidence(domain: String, key: String) -> PolicyEvidence {
    guard let asked else { return PolicyEvidence() }
    if asked.file.kind == .provenance { return PolicyEvidence(entries: entries(of: asked, domain: domain, key: key)) }
    switch ForcedDomainLoader(installation).loadProvenance(for: asked.file) {
    case .available(let provenance):
      let full = Asked(provenance, host: HostIdentity(name: asked.file.hostName), circumstances)
      return PolicyEvidence(entries: entries(of: full, domain: domain, key: key))
    case .withheld: break
    case .unavailable(let fault): Policyctl.warn("\(fault)")
    }
    return PolicyEvidence(entries: entries(of: asked, domain: domain, key: key), isWithheld: true)
  }

  private func entries(of asked: Asked, domain: String, key: String) -> [EntryView] {
    PolicySection.allCases.flatMap { section in
      var isSettled = false
      return ForcedDomain.domains(binding: domain).flatMap { name -> [EntryView] in
        let resolution = asked.file.resolve(domain: name, key: key, section: section, under: asked.truth)
        // What the domain itself forces hides what NSGlobalDomain forces.
        let isHidden = isSettled
        if resolution.value != nil { isSettled = true }
        return resolution.candidates.map { candidate in
          EntryView(candidate, domain: name, isHidden: isHidden, context: asked.truth.context)
        }
      }
    }
  }
}

extension EntryView {
  init(_ candidate: Candidate, domain: String, isHidden: Bool, context: EvaluationContext) {
    let entry = candidate.entry
    let provenance = entry.provenance
    self.init(
      domain: domain, profile: entry.profile.id, title: entry.profile.title, priority: entry.rank.priority,
      isOverride: entry.rank.isOverride, section: entry.section == .forced ? "forced" : "recommended",
      action: String(describing: entry.action), value: entry.value, file: provenance?.file, line: provenance?.line,
      column: provenance?.column, holds: candidate.holds, decides: candidate.decides && !isHidden,
      condition: ConditionText.text(entry.condition),
      whyNot: candidate.whyNot.map { ConditionText.whyNot($0, entry.condition, context) }
        ?? (candidate.isUndecided ? "can't be decided; counts as \(candidate.holds ? "holding" : "not holding")" : nil),
      reason: provenance?.reason, owner: provenance?.owner ?? entry.profile.owner, ticket: provenance?.ticket)
  }
}
