import AuditEvents
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore
import PropertyList

/// What the installed policy forces for the user who runs this command, now.
///
/// Every question goes to `ForcedDomain`, the law of one key; which domains' entries bind which domain is
/// `ForcedDomain.domains(binding:)`. A policy that can't be read forces everything.
final class Policy {
  /// A forced key, and who forces it.
  struct ForcedKey {
    let key: String
    let value: PropertyListValue
    let forcedBy: [ForcedBy]
  }

  private enum State {
    case nothing
    case loaded(ForcedDomain, ConditionTruth)
    /// Installed, and nothing readable is there.
    case locked
  }

  let installation: Installation
  /// Loaded when it is first asked: a file by its path needs no policy. What is wrong with it is said once.
  private lazy var state: State = load()

  init(_ installation: Installation) { self.installation = installation }

  private func load() -> State {
    switch ForcedDomainLoader(installation).load() {
    case .notInstalled: return .nothing
    case .loaded(let file, let faults):
      report(faults)
      return .loaded(file, file.truth(in: .current()))
    case .unavailable(let faults):
      report(faults)
      return .locked
    }
  }

  private func report(_ faults: [DomainFault]) {
    for fault in faults { Defaults.note("warning: \(TerminalText.escape("\(fault)"))") }
  }

  private var inForce: (file: ForcedDomain, truth: ConditionTruth)? {
    if case .loaded(let file, let truth) = state { (file, truth) } else { nil }
  }

  var isLocked: Bool {
    if case .locked = state { true } else { false }
  }

  /// The failure of a question that can't be answered, since everything counts as forced; nil when it can.
  func lock(_ call: Invocation) -> CommandFailure? {
    guard isLocked else { return nil }
    return CommandFailure(
      .unavailable, "the forced domain can't be read, so every key counts as forced and no value is known",
      next: call.policyctl("status"))
  }

  /// What a domain's key is forced to; nil where it is free.
  func value(ofKey key: String, in domain: String) -> PropertyListValue? {
    guard let (file, truth) = inForce else { return nil }
    for name in ForcedDomain.domains(binding: domain) {
      if let value = file.value(domain: name, key: key, section: .forced, under: truth) { return value }
    }
    return nil
  }

  /// The same with the profiles that force it, in rank order.
  func forced(_ key: String, in domain: String) -> ForcedKey? {
    guard let (file, truth) = inForce else { return nil }
    for name in ForcedDomain.domains(binding: domain) {
      let resolution = file.resolve(domain: name, key: key, section: .forced, under: truth)
      guard let value = resolution.value else { continue }
      let profiles = resolution.profiles.map {
        ForcedBy(profile: $0.id, title: $0.title, generation: file.generation)
      }
      return ForcedKey(key: key, value: value, forcedBy: profiles)
    }
    return nil
  }

  /// The keys that are forced in a domain of this very name, with their values; and those of `others` that are forced for
  /// every application.
  func values(
    in domain: String, alsoFor others: some Sequence<String> = EmptyCollection()
  ) -> [String: PropertyListValue] {
    var values = ownValues(in: domain)
    for key in others where values[key] == nil { values[key] = value(ofKey: key, in: domain) }
    return values
  }

  private func ownValues(in domain: String) -> [String: PropertyListValue] {
    guard let (file, truth) = inForce else { return [:] }
    var values: [String: PropertyListValue] = [:]
    file.forEachResolvedKey(inDomain: domain, section: .forced, under: truth) { key, value in
      values[String(decoding: key, as: UTF8.self)] = value.value
    }
    return values
  }

  /// The keys of an application that roam; none while the policy can't be read.
  func roamingKeys(of domain: String) -> Set<String> {
    guard let (file, truth) = inForce else { return [] }
    return file.roamingKeys(of: domain, under: truth)
  }

  /// The domains in which something is forced.
  var domains: [String] {
    guard let file = inForce?.file else { return [] }
    return file.domains.filter { !ownValues(in: $0).isEmpty }
  }

  var generation: UInt64? { inForce?.file.generation }
}
