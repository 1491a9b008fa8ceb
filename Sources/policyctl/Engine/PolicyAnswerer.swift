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
  /// The host that the entries were asked about.
  var hostName: String?
}

/// The policy that a question is put to: what is installed, a folder of policies, or a bundle.
struct PolicyAnswerer {
  /// `installed`, or the path.
  let source: String
  /// The host that answers are about; nil where nothing is installed.
  let hostName: String?
  let isAboutAnotherHost: Bool
  /// The policy is not the one that this process's search list has in force.
  let isHypothetical: Bool
  /// The installed forced domain can't be read.
  let isLocked: Bool
  let generation: UInt64?
  /// What values are asked of: narrowed, or with hosts that the context decides.
  private let answering: Asked?
  private let installation: Installation
  private let circumstances: Circumstances

  /// A file with its conditions evaluated.
  private struct Asked {
    let file: ForcedDomain
    let truth: ConditionTruth

    init(_ file: ForcedDomain, _ context: EvaluationContext) {
      self.file = file
      truth = file.truth(in: context)
    }
  }

  init(
    _ call: Invocation, _ circumstances: Circumstances, installation: Installation, list: SearchList
  ) throws(CommandFailure) {
    self.installation = installation
    self.circumstances = circumstances
    if circumstances.policies != nil || circumstances.bundle != nil {
      let (payload, path) = try Payload.read(call, circumstances)
      let installed = try? HostEnrolment(of: installation).identity
      let host =
        circumstances.host.map(HostIdentity.init) ?? installed ?? HostIdentity(name: HostName.ofThisSystem())
      let whatIf = try Payload.narrow(payload, to: host, path: path)
      source = path
      hostName = host.name
      // Where nothing is enrolled, the question can't be about another host than this one unless it says so.
      isAboutAnotherHost = circumstances.host != nil && installed?.name != circumstances.host
      isHypothetical = true
      isLocked = false
      generation = nil
      answering = Asked(
        whatIf.provenance,
        .whatIf(
          over: whatIf.provenance, host: host, user: circumstances.user, groups: circumstances.groups,
          instant: circumstances.instant ?? WallClock.unixSeconds()))
      return
    }
    source = "installed"
    isLocked = list.isForcedDomainUnavailable
    generation = list.generation
    if circumstances.isPlain {
      hostName = nil
      isAboutAnotherHost = false
      isHypothetical = false
      answering = nil
      return
    }
    isHypothetical = true
    let installed = Self.installedFile(installation)
    hostName = circumstances.host ?? installed?.hostName
    isAboutAnotherHost =
      circumstances.host != nil && circumstances.host?.lowercased() != installed?.hostName.lowercased()
    guard let installed else {
      answering = nil
      return
    }
    let file: ForcedDomain
    if isAboutAnotherHost {
      switch ForcedDomainLoader(installation).loadProvenance(for: installed) {
      case .available(let provenance): file = provenance
      case .withheld:
        throw CommandFailure(
          .notPermitted,
          "what other hosts get can be read by root and the group managed-preferences-audit only",
          next: call.again(privileged: true), call.again(adding: "--policies", "DIR"))
      case .unavailable(let fault): throw CommandFailure(.unavailable, fault.description)
      }
    } else {
      file = installed
    }
    answering = Asked(
      file,
      .whatIf(
        over: file, host: isAboutAnotherHost ? circumstances.host.map(HostIdentity.init) : nil,
        user: circumstances.user, groups: circumstances.groups,
        instant: circumstances.instant ?? WallClock.unixSeconds()))
  }

  private static func installedFile(_ installation: Installation) -> ForcedDomain? {
    if case .loaded(let file, _) = ForcedDomainLoader(installation).load() { file } else { nil }
  }

  // MARK: Answers

  /// The domains whose entries concern a domain, in the order of layer 1.
  static func concerned(by domain: String) -> [String] {
    domain == GlobalDomain.name ? [domain] : [domain, GlobalDomain.name]
  }

  /// What the policy has for a key: forced first, then recommended.
  func candidates(domain: String, key: String) -> [LayerCandidate] {
    guard let answering else { return [] }
    return [(PolicySection.forced, Layer.forced), (.recommended, .recommended)].flatMap { section, layer in
      Self.concerned(by: domain).map { name in
        LayerCandidate(
          layer: layer, domain: name, path: nil,
          value: answering.file.value(domain: name, key: key, section: section, under: answering.truth))
      }
    }
  }

  /// Who forces a key of a domain, in rank order, each profile once.
  func forcedBy(domain: String, key: String) -> [ForcedByView] {
    guard let answering else { return [] }
    var profiles: [ForcedByView] = []
    let contributors =
      answering.file.resolve(domain: domain, key: key, section: .forced, under: answering.truth).contributors
    for entry in contributors {
      let view = ForcedByView(profile: entry.profile.id, title: entry.profile.title, generation: generation)
      if !profiles.contains(view) { profiles.append(view) }
    }
    return profiles
  }

  /// The keys that may have a value in a hypothetical policy.
  func keys(in domain: String) -> [String] {
    guard let answering else { return [] }
    return Self.concerned(by: domain).flatMap { answering.file.keys(inDomain: $0) }
  }

  /// Every key that the policy mentions for a domain, for "did you mean".
  func mentionedKeys(in domain: String) -> [String] {
    guard let file = answering?.file ?? Self.installedFile(installation) else { return [] }
    return Self.concerned(by: domain).flatMap { file.keys(inDomain: $0) }
  }

  /// Every domain that the policy mentions, for "did you mean".
  var domains: [String] { (answering?.file ?? Self.installedFile(installation))?.domains ?? [] }

  /// Whether a manifest calls a key of any of these domains secret.
  func isSecret(_ key: String, in domains: Set<String>) -> Bool {
    Secrets(of: answering?.file ?? Self.installedFile(installation)).contains(key, in: domains)
  }

  // MARK: Evidence

  /// Every entry of a key, with lines and reasons where this user may read them.
  func evidence(domain: String, key: String) throws(CommandFailure) -> PolicyEvidence {
    guard source == "installed" else {
      return answering.map { PolicyEvidence(entries: entries(of: $0, domain: domain, key: key)) } ?? PolicyEvidence()
    }
    guard let installed = Self.installedFile(installation) else { return PolicyEvidence() }
    let instant = circumstances.instant ?? WallClock.unixSeconds()
    func ask(_ file: ForcedDomain, host: HostIdentity?) -> [EntryView] {
      let context = EvaluationContext.whatIf(
        over: file, host: host, user: circumstances.user, groups: circumstances.groups, instant: instant)
      return entries(of: Asked(file, context), domain: domain, key: key)
    }
    switch ForcedDomainLoader(installation).loadProvenance(for: installed) {
    case .available(let provenance):
      let host = hostName ?? provenance.hostName
      return PolicyEvidence(entries: ask(provenance, host: HostIdentity(name: host)), hostName: host)
    case .withheld:
      return PolicyEvidence(entries: ask(installed, host: nil), isWithheld: true, hostName: installed.hostName)
    case .unavailable(let fault):
      StandardStreams.writeError("\(Policyctl.name): warning: \(fault)\n")
      return PolicyEvidence(entries: ask(installed, host: nil), isWithheld: true, hostName: installed.hostName)
    }
  }

  private func entries(of asked: Asked, domain: String, key: String) -> [EntryView] {
    PolicySection.allCases.flatMap { section in
      var isSettled = false
      return Self.concerned(by: domain).flatMap { name -> [EntryView] in
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

/// Which keys are never printed.
struct Secrets {
  private let annex: [String: PropertyListValue]

  /// - Parameter file: nil where there is no policy: nothing is known to be secret.
  init(of file: ForcedDomain?) { annex = file?.annex?.dictionaryValue?["secrets"]?.dictionaryValue ?? [:] }

  func contains(_ key: String, in domains: some Sequence<String>) -> Bool {
    domains.contains { annex[$0]?.stringArrayValue?.contains(key) ?? false }
  }
}
