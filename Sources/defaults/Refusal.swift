import AuditEvents
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore
import PropertyList

/// Changes to forced keys: a person who types a command expects an effect, so one that would have none is refused.
///
/// The law: where any key that a command would change is forced, or may be (a policy that can't be read), the command changes
/// nothing at all, names each such key with its profile and generation, and exits with 77. `--skip-forced` leaves those
/// keys as they are and changes the others. Each refused key is an audit event.
struct Refusal {
  let policy: Policy
  let reference: DomainReference
  let call: Invocation
  /// The domains that the change concerns: two, where a domain's file is a link to another's.
  private let domains: [String]

  /// nil for a file that is no domain's: nothing can be forced there, and no policy is read.
  init?(_ reference: DomainReference, _ call: Invocation) {
    if reference.name == nil { return nil }
    policy = Policy(call.installation())
    self.reference = reference
    self.call = call
    domains = reference.file.changedDomains(in: reference.locations)
  }

  /// Refuses to change any of these keys if one is forced.
  ///
  /// - Parameters:
  ///   - operation: for auditors: `set`, `remove` …
  ///   - mayBeSkipped: the verb knows `--skip-forced`.
  func check(_ keys: some Sequence<String>, operation: String, mayBeSkipped: Bool = false) throws(CommandFailure) {
    if policy.isLocked {
      throw CommandFailure(
        .notPermitted, "the forced domain can't be read, so every key counts as forced; nothing was written.",
        next: call.policyctl("status"))
    }
    let forced = forcedKeys(among: keys)
    guard !forced.isEmpty else { return }
    for key in forced {
      reference.locations.installation.auditSink(home: reference.locations.homeDirectory).send(
        .forcedWrite(
          of: key.key, inDomain: domain(inWhichIsForced: key.key), operation: operation, profiles: key.forcedBy))
    }
    var lines = forced.prefix(20).map(Self.sentence)
    if forced.count > 20 { lines.append("\(forced.count - 20) more keys are forced") }
    if lines.count == 1 { lines[0] += "; nothing was written." } else { lines.append("nothing was written.") }
    var failure = CommandFailure(
      .notPermitted, lines[0],
      next: (mayBeSkipped ? [call.again(adding: "--skip-forced")] : [])
        + [call.policyctl("explain", domain(inWhichIsForced: forced[0].key), forced[0].key)])
    failure.further = Array(lines.dropFirst())
    throw failure
  }

  /// The forced ones of these keys, sorted.
  func forcedKeys(among keys: some Sequence<String>) -> [Policy.ForcedKey] {
    Set(keys).sortedByBytes().compactMap { key in
      policy.forced(key, in: domain(inWhichIsForced: key))
    }
  }

  /// The first of the domains in which a key is forced; the one that the command names where it is free.
  private func domain(inWhichIsForced key: String) -> String {
    domains.first { policy.value(ofKey: key, in: $0) != nil } ?? reference.name ?? reference.word
  }

  /// All keys that are forced in the domains by their own names.
  var allForcedKeys: [String] { domains.flatMap { policy.values(in: $0).keys } }

  /// `AutoSaveInterval is forced to 30 by "Baseline" (generation 1)`.
  static func sentence(_ forced: Policy.ForcedKey) -> String {
    let titles = forced.forcedBy.map { "\"\(TerminalText.escape($0.title))\"" }
    let text = forced.value.displayText
    let value = text.unicodeScalars.count > 60 ? String(text.unicodeScalars.prefix(59)) + "…" : text
    return "\(TerminalText.escape(forced.key)) is forced to \(value) by \(titles.joined(separator: " and "))"
      + (forced.forcedBy.first.map { " (generation \($0.generation))" } ?? "")
  }
}
