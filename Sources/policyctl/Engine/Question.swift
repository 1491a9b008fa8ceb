import AuditEvents
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PreferencesCore
import PropertyList
import UbiquitousStore

/// What `get` and `explain` ask: a domain, and in whose place, where and when.
///
/// There is one resolver. Policy is asked through `ForcedDomain` (the law of one key), the user's files through
/// `SearchList`, in the order of the one table of layers; nothing here decides between entries, it only puts the question
/// and shows the evidence. Layers below a forced value are not asked unless they are to be shown.
final class Question {
  let domain: String
  /// Sentences that limit the answer.
  let notes: [String]
  private let policy: PolicyAnswerer
  private let circumstances: Circumstances
  /// The question is about the asking user, on this host.
  private let isAboutOneself: Bool
  private let installation: Installation
  /// The same question to `explain`, and the command for a host where nothing is installed.
  private let explainCommand: String
  private let initCommand: String

  init(_ call: Invocation, domain: String) throws(CommandFailure) {
    if let fault = DomainName.fault(in: domain) {
      throw CommandFailure(.usage, "'\(TerminalText.escape(domain))' is no domain: \(fault)")
    }
    self.domain = domain
    circumstances = try Circumstances(call)
    installation = call.installation()
    policy = try PolicyAnswerer(call, circumstances, installation: installation)
    isAboutOneself = !circumstances.isAboutAnotherUser && !policy.isAboutAnotherHost
    explainCommand = ShellWord.join(
      [Policyctl.name] + (call.root.map { ["--root", $0] } ?? []) + ["explain"] + call.wordsWithoutRoot)
    initCommand = call.command(privileged: true, "init")
    notes =
      (isAboutOneself ? [] : ["This is about another user or host: the files of the user who asks are left out."])
      + policy.notes
  }

  /// Whether the user's layers were asked for this answer: only then do their faults concern it.
  private var isListAsked = false

  /// The asking user's own layers; nil where the question is about somebody or somewhere else.
  private lazy var list: SearchList? = {
    guard isAboutOneself else { return nil }
    isListAsked = true
    var configuration = SearchList.Configuration(
      domain: domain, arguments: [], installation: installation, sink: DiscardingAuditEventSink(), observes: false)
    configuration.preparesContainer = false
    configuration.openRoamingLayer = RoamingSnapshot.open
    if let instant = circumstances.instant { configuration.clock = { instant } }
    // The name was checked: there is no other error.
    return try? SearchList(configuration: configuration)
  }()

  var home: String { UserLocations.homeDirectory() }

  /// The answer for one key.
  func answer(_ key: String) -> AnswerView {
    let forced = policy.candidates(.forced, domain: domain, key: key)
    return view(of: key, candidates: forced.contains { $0.value != nil } ? forced : candidates(of: key))
  }

  /// The answers for all keys that have a value, sorted by key; without those of the language domains, which are every
  /// application's.
  func answers() -> [AnswerView] {
    var keys = Set(policy.mentionedKeys(in: domain))
    if !policy.isLocked, let list { keys.formUnion(list.dictionaryRepresentation().keys) }
    return keys.sortedByBytes().map(answer)
      .filter { $0.value != nil && $0.layer != Layer.language.rawValue }
  }

  /// The answer with everything that was considered.
  func explanation(_ key: String) -> ExplanationView {
    let candidates = candidates(of: key)
    let evidence = policy.evidence(domain: domain, key: key)
    let context = ContextView(
      host: policy.hostName, user: circumstances.user ?? Circumstances.currentUserName(),
      groups: circumstances.groups, instant: circumstances.moment, application: circumstances.application ?? domain,
      generation: policy.generation, source: policy.source)
    var answer = view(of: key, candidates: candidates)
    answer.isSecret = policy.isSecret(key, in: [domain, GlobalDomain.name])
    return ExplanationView(
      domain: domain, answer: answer, context: context, entries: evidence.entries,
      layers: candidates.filter { $0.layer != .forced && $0.layer != .recommended && $0.layer != .argument }.map {
        LayerView(layer: $0.layer.rawValue, path: $0.path, value: $0.value)
      }, isProvenanceWithheld: evidence.isWithheld,
      roaming: policy.profiles(roaming: key, of: domain),
      notes: notes + (policy.isAbsent ? ["Nothing is installed here: there is no policy to ask."] : []))
  }

  /// Also what limits the answer.
  func reportFaultsAndLimits() {
    reportFaults()
    for note in notes { Policyctl.note(note) }
  }

  /// What is wrong with the stores that were asked for the answer, on standard error: it stands nevertheless.
  func reportFaults() {
    let stores = isListAsked ? list?.faults ?? [] : []
    let ofStores = stores.filter { $0.kind != .policyDamaged && $0.kind != .policyUnavailable }
    for fault in policy.faults + ofStores.map(\.description) {
      Policyctl.warn(fault)
    }
  }

  /// The failure of a question that can't be answered, since everything counts as forced; nil when it can.
  var lock: CommandFailure? {
    guard policy.isLocked else { return nil }
    return CommandFailure(
      .unavailable,
      "the forced domain can't be read, so every key counts as forced and only registered defaults answer",
      next: "policyctl status")
  }

  /// Says on standard error that a key, or a domain, has no value.
  func reportMissing(key: String?) {
    let mentioned = Set(policy.mentionedKeys(in: domain))
    var text: String
    var next: String?
    if let key {
      if mentioned.contains(key) {
        text = "\(domain) has no value for '\(key)' now: no entry of the policy for it holds"
        next = explainCommand
      } else {
        let known = mentioned.union(answers().map(\.key))
        let domains = known.isEmpty ? Suggestion.nearest(to: domain, among: policy.domains) : []
        text =
          domains.isEmpty
          ? "\(domain) has no value for '\(key)'" + UsageError.didYouMean(Suggestion.nearest(to: key, among: known))
          : "nothing is known of the domain '\(domain)'" + UsageError.didYouMean(domains)
      }
    } else if mentioned.isEmpty {
      text = "\(domain) has no values" + UsageError.didYouMean(Suggestion.nearest(to: domain, among: policy.domains))
    } else {
      text = "\(domain) has no values now: no entry of the policy for it holds"
    }
    if policy.isAbsent {
      text += "; nothing is installed here"
      next = initCommand
    }
    Policyctl.note(text, next: next.map { [$0] } ?? [])
  }

  // MARK: The walk

  /// Everything that is asked, in the order of the layers' one table.
  private func candidates(of key: String) -> [LayerCandidate] {
    // Nothing may be answered from below a policy that can't be read.
    if policy.isLocked { return [] }
    let policies =
      policy.candidates(.forced, domain: domain, key: key)
      + policy.candidates(.recommended, domain: domain, key: key)
    let own = (list?.resolution(of: key).considered ?? []).filter { $0.layer != .forced && $0.layer != .recommended }
    let all =
      policies + own.map { LayerCandidate(layer: $0.layer, domain: $0.domain, path: $0.path, value: $0.value) }
    return Layer.allCases.flatMap { layer in all.filter { $0.layer == layer } }
  }

  private func view(of key: String, candidates: [LayerCandidate]) -> AnswerView {
    let winner = candidates.first { $0.value != nil }
    let isForced = winner?.layer == .forced || policy.isLocked
    return AnswerView(
      key: key, value: winner?.value, layer: winner?.layer.rawValue, isForced: isForced,
      forcedBy: winner?.layer == .forced ? policy.forcedBy(domain: winner?.domain ?? domain, key: key) : [],
      path: winner?.path, isSecret: !isForced && winner != nil && policy.isSecret(key, in: [domain, GlobalDomain.name]))
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
    instant = try InstantArgument("--at", of: call)?.beginSecond
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

  /// A host, a user or a group is named, and may be misspelt.
  var namesSomething: Bool { host != nil || user != nil || !groups.isEmpty }

  /// This user, now: what a running application would ask.
  var isHere: Bool { user == nil && groups.isEmpty && instant == nil }

  /// The moment that the question is about, in Unix seconds: `--at`, else now.
  var moment: Int64 { instant ?? WallClock.unixSeconds() }

  /// The name of who runs this process, else the number.
  static func currentUserName() -> String {
    let id = ProcessIdentity.realUserID
    return ((try? UserDatabase.user(id: id)) ?? nil)?.name ?? String(id)
  }
}
