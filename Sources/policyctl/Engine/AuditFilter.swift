import AuditLog
import CommandLineKit
import LinuxFiles
import PropertyList

/// Which records a question is about.
struct AuditFilter {
  private let kinds: [String]
  private let user: UInt32?
  private let domain: String?
  /// Unix seconds.
  private let since: Double?
  private let until: Double?

  static let flags = [
    Flag("--kind", value: "KIND", .text, repeats: true, "of that kind, or that family (policy)"),
    Flag("--user", value: "NAME", .user, "about the user NAME, or the user id"),
    Flag("--domain", value: "DOMAIN", .domain, "about that domain"),
    Flag("--since", value: "TIME", .instant, "of TIME or later"),
    Flag("--until", value: "TIME", .instant, "before TIME; of a day, to its end"),
  ]

  /// The kinds that records have, and their families.
  static let known = Set(
    RecordFields.kinds + RecordFields.kinds.compactMap { $0.split(separator: ".").first.map(String.init) })

  init(_ call: Invocation) throws(CommandFailure) {
    kinds = call.arguments.values("--kind")
    for kind in kinds where !Self.known.contains(kind) {
      var failure = CommandFailure(
        .usage,
        "--kind '\(TerminalText.escape(kind))' is no kind of record, and no family"
          + UsageError.didYouMean(Suggestion.nearest(to: kind, among: Self.known)),
        next: "\(Policyctl.name) \(call.verb.name) --help")
      failure.verb = call.verb.name
      throw failure
    }
    domain = call.arguments.value("--domain")
    since = try InstantArgument("--since", of: call)?.begin
    until = try InstantArgument("--until", of: call)?.end
    user = try Self.user(call)
  }

  /// The user id of `--user`, which is a name or a number.
  static func user(_ call: Invocation) throws(CommandFailure) -> UInt32? {
    guard let name = call.arguments.value("--user") else { return nil }
    do throws(Errno) {
      if let account = try UserDatabase.user(named: name) { return account.userID }
    } catch {
      throw CommandFailure(.unavailable, "the users of this machine can't be looked up: \(error)")
    }
    // Who was removed from the machine is still in the log.
    if let number = UInt32(name) { return number }
    throw CommandFailure(
      .noInput, "there is no user '\(TerminalText.escape(name))'; of a removed one, give the user id")
  }

  func includes(_ record: StoredRecord) -> Bool {
    if !kinds.isEmpty, !kinds.contains(where: { record.kind == $0 || record.kind.hasPrefix($0 + ".") }) { return false }
    if let user, record.userID != user { return false }
    if let domain, record.fields["domain"]?.stringValue != domain { return false }
    if let since, record.time.unixTime < since { return false }
    if let until, record.time.unixTime >= until { return false }
    return true
  }
}
