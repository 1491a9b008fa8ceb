import AuditEvents
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PreferencesCore
import PropertyList

/// What `get` and `explain` ask: a domain, and in whose place, where and when.
///
/// There is one resolver. Policy is asked through `ForcedDomain` (the law of one key), the user's files through
/// `SearchList` (the order of layers); nothing here decides between entries or layers, it only puts the question and
/// shows the evidence.
struct Question {
  let domain: String
  let home: String
  /// Sentences that limit the answer.
  let notes: [String]
  private let faults: [String]
  private let policy: PolicyAnswerer
  /// The asking user's own layers; nil where the question is about somebody or somewhere else.
  private let list: SearchList?
  private let context: ContextView

  init(_ call: Invocation, domain: String) throws(CommandFailure) {
    if let fault = DomainName.fault(in: domain) {
      throw CommandFailure(.usage, "'\(TerminalText.escape(domain))' is no domain: \(fault)")
    }
    let circumstances = try Circumstances(call)
    let installation = call.installation()
    self.domain = domain
    home = UserLocations.homeDirectory()

    var configuration = SearchList.Configuration(
      domain: domain, arguments: [], installation: installation, sink: DiscardingAuditEventSink(), observes: false)
    if let instant = circumstances.instant { configuration.clock = { instant } }
    let list: SearchList
    do throws(DomainNameFault) {
      list = try SearchList(configuration: configuration)
    } catch {
      throw CommandFailure(.usage, "'\(TerminalText.escape(domain))' is no domain: \(error)")
    }
    faults = list.faults.map(\.description)
    policy = try PolicyAnswerer(call, circumstances, installation: installation, list: list)
    let isAboutOthers = circumstances.isAboutAnotherUser || policy.isAboutAnotherHost
    self.list = isAboutOthers ? nil : list
    notes =
      isAboutOthers ? ["This is about another user or host: the files of the user who asks are left out."] : []
    context = ContextView(
      host: policy.hostName, user: circumstances.user ?? Circumstances.currentUserName(),
      groups: circumstances.groups, instant: circumstances.instant ?? WallClock.unixSeconds(),
      application: circumstances.application ?? domain, generation: policy.generation, source: policy.source)
  }

  /// The answer for one key.
  func answer(_ key: String) -> AnswerView { view(of: key, candidates: candidates(of: key)) }

  /// The answers for all keys that have a value, sorted by key.
  func answers() -> [AnswerView] {
    var keys = Set(policy.keys(in: domain))
    if let list { keys.formUnion(list.dictionaryRepresentation().keys) }
    return keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map(answer).filter { $0.value != nil }
  }

  /// The answer with everything that was considered.
  func explanation(_ key: String) throws(CommandFailure) -> ExplanationView {
    let candidates = candidates(of: key)
    let evidence = policy.isLocked ? PolicyEvidence() : try policy.evidence(domain: domain, key: key)
    var context = context
    context.host = context.host ?? evidence.hostName
    var answer = view(of: key, candidates: candidates)
    answer.isSecret = policy.isSecret(key, in: [domain, GlobalDomain.name])
    return ExplanationView(
      domain: domain, answer: answer, context: context, entries: evidence.entries,
      layers: candidates.filter { $0.layer != .forced && $0.layer != .recommended && $0.layer != .argument }.map {
        LayerView(layer: $0.layer.rawValue, path: $0.path, value: $0.value)
      }, isProvenanceWithheld: evidence.isWithheld, notes: notes)
  }

  /// What is wrong with the stores that were asked, on standard error: the answer stands nevertheless.
  func reportFaults() {
    for fault in faults { StandardStreams.writeError("\(Policyctl.name): warning: \(TerminalText.escape(fault))\n") }
  }

  /// The failure of a question that can't be answered, since everything counts as forced; nil when it can.
  var lock: CommandFailure? {
    guard policy.isLocked else { return nil }
    return CommandFailure(
      .unavailable,
      "the forced domain can't be read, so every key counts as forced and only registered defaults answer",
      next: "policyctl status")
  }

  /// What standard error says about a key, or a domain, without a value.
  func missingText(key: String?) -> String {
    let shown = TerminalText.escape(domain)
    guard let key else {
      let suggestions = Suggestion.nearest(to: domain, among: policy.domains)
      return "\(Policyctl.name): \(shown) has no values\(UsageError.didYouMean(suggestions))\n"
    }
    let known = Set(policy.mentionedKeys(in: domain)).union(answers().map(\.key)).subtracting([key])
    var suggestions = Suggestion.nearest(to: key, among: known)
    var text = "\(Policyctl.name): \(shown) has no value for '\(TerminalText.escape(key))'"
    if suggestions.isEmpty, known.isEmpty {
      suggestions = Suggestion.nearest(to: domain, among: policy.domains)
      if !suggestions.isEmpty { text = "\(Policyctl.name): nothing is known of the domain '\(shown)'" }
    }
    return text + "\(UsageError.didYouMean(suggestions))\n"
  }

  // MARK: The walk

  /// Everything that is asked, in the order of the layers' one table.
  private func candidates(of key: String) -> [LayerCandidate] {
    if let list, !policy.isHypothetical {
      return list.resolution(of: key).considered.map {
        LayerCandidate(layer: $0.layer, domain: $0.domain, path: $0.path, value: $0.value)
      }
    }
    // Nothing may be answered from below a policy that can't be read.
    if policy.isLocked { return [] }
    // A policy that is not what this process has in force stands in its place; the other layers are as they are.
    let own = list?.resolution(of: key).considered.filter { $0.layer != .forced && $0.layer != .recommended } ?? []
    let all =
      policy.candidates(domain: domain, key: key)
      + own.map { LayerCandidate(layer: $0.layer, domain: $0.domain, path: $0.path, value: $0.value) }
    return Layer.allCases.flatMap { layer in all.filter { $0.layer == layer } }
  }

  private func view(of key: String, candidates: [LayerCandidate]) -> AnswerView {
    let winner = candidates.first { $0.value != nil }
    let isForced = winner?.layer == .forced || policy.isLocked
    return AnswerView(
      key: key, value: winner?.value, layer: winner?.layer.rawValue, isForced: isForced,
      forcedBy: winner?.layer == .forced ? forcedBy(key, in: winner?.domain ?? domain) : [],
      path: winner?.layer == .forced || winner?.layer == .recommended ? nil : winner?.path,
      isSecret: !isForced && candidates.contains { $0.value != nil }
        && policy.isSecret(key, in: Set(candidates.map(\.domain) + [domain])))
  }

  private func forcedBy(_ key: String, in domain: String) -> [ForcedByView] {
    if let list, !policy.isHypothetical {
      return list.forcedBy(key).map {
        ForcedByView(profile: $0.profile, title: $0.title, generation: $0.generation)
      }
    }
    return policy.forcedBy(domain: domain, key: key)
  }
}

/// One store and what it has for a key.
struct LayerCandidate {
  var layer: Layer
  var domain: String
  var path: String?
  var value: PropertyListValue?
}

/// The flags of a what-if, read.
struct Circumstances {
  let host: String?
  let user: String?
  let groups: [String]
  let instant: Int64?
  let application: String?
  let policies: String?
  let bundle: String?

  init(_ call: Invocation) throws(CommandFailure) {
    host = call.arguments.value("--host")
    user = call.arguments.value("--user")
    groups = call.arguments.values("--group")
    application = call.arguments.value("--app")
    policies = call.arguments.value("--policies")
    bundle = call.arguments.value("--bundle")
    if policies != nil, bundle != nil {
      throw call.usage(.excludedFlags(verb: call.verb.name, "--policies", "--bundle"))
    }
    instant = try call.arguments.value("--at").map { text throws(CommandFailure) in
      try InstantArgument.parse(text, verb: call.verb.name)
    }
    if let host {
      do throws(HostNameError) { try HostName.validate(host) } catch {
        throw CommandFailure(.usage, error.description)
      }
    }
    isAboutAnotherUser =
      if let user {
        ((try? UserDatabase.user(named: user)) ?? nil)?.userID != ProcessIdentity.realUserID
      } else {
        !groups.isEmpty
      }
  }

  let isAboutAnotherUser: Bool

  /// Nothing but the installed state, here, now, for this user.
  var isPlain: Bool {
    host == nil && user == nil && groups.isEmpty && instant == nil && policies == nil && bundle == nil
  }

  /// The name of who runs this process, else the number.
  static func currentUserName() -> String {
    let id = ProcessIdentity.realUserID
    return ((try? UserDatabase.user(id: id)) ?? nil)?.name ?? String(id)
  }
}
