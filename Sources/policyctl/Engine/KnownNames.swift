import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PropertyList

/// The hosts, users and groups that policies know, so that a misspelt what-if does not get a plausible answer.
struct KnownNames {
  private let payload: ForcedDomain
  private let userGroups: Set<String>
  private let users: Set<String>
  private let hosts: Set<String>
  private let hasInventory: Bool
  /// The file has only the groups that decide something: others may exist.
  private let mayLackGroups: Bool

  /// - Parameter payload: a payload, a provenance file, or (with less knowledge) a forced file.
  init(payload: ForcedDomain, mayLackGroups: Bool) {
    self.payload = payload
    self.mayLackGroups = mayLackGroups
    let inventory = payload.annex?.dictionaryValue?["inventory"]?.dictionaryValue
    hasInventory = inventory != nil
    func members(_ kind: String, _ list: String) -> [String] {
      (inventory?[kind]?.dictionaryValue ?? [:]).values.flatMap { $0.dictionaryValue?[list]?.stringArrayValue ?? [] }
    }
    userGroups = Set(payload.userGroups.map(\.name)).union((inventory?["users"]?.dictionaryValue ?? [:]).keys)
    users = Set(payload.userGroups.flatMap(\.names) + payload.resolvedUsers.map(\.name) + members("users", "names"))
    hosts = Set(members("hosts", "names"))
  }

  /// Refuses groups that don't exist and hosts on which nothing may be installed.
  ///
  /// - Parameters:
  ///   - host: the host that policies outside of this installation are asked about.
  ///   - takesNumbers: whether a user may be named by the number of the account.
  /// - Returns: what is only unlikely, as notes.
  func check(
    _ question: Circumstances, host: HostIdentity?, takesNumbers: Bool = false, _ call: Invocation
  ) throws(CommandFailure) -> [String] {
    var notes: [String] = []
    for group in question.groups where !userGroups.contains(group) {
      if mayLackGroups {
        notes.append("No entry that concerns this host names the group '\(TerminalText.escape(group))'.")
        continue
      }
      let known = userGroups.sorted()
      throw CommandFailure(
        .usage,
        "'\(TerminalText.escape(group))' is no user group of the inventory"
          + UsageError.didYouMean(Suggestion.nearest(to: group, among: known))
          + (known.isEmpty ? "; it has none" : "; its groups: \(Self.list(known))"))
    }
    let asked = question.host.map(HostIdentity.init)
    if hasInventory, let asked = asked ?? host, HostAdmission(of: asked, in: payload) == .refused {
      let text =
        "host '\(TerminalText.escape(asked.name))' is not in the inventory, and the inventory refuses unknown hosts"
      // This machine may be where policies are written, and no host of theirs.
      if question.host == nil {
        notes.append("This is about \(text.dropFirst(5)): --host NAME asks about another.")
      } else {
        throw CommandFailure(
          .badInput,
          text + UsageError.didYouMean(Suggestion.nearest(to: asked.name, among: hosts.sorted()))
            + (hosts.isEmpty ? "" : "; it lists \(Self.list(hosts.sorted()))"))
      }
    }
    if let user = question.user, question.groups.isEmpty, !users.contains(user),
      ((try? UserDatabase.user(named: user)) ?? nil) == nil,
      !takesNumbers || UInt32(user).flatMap({ (try? UserDatabase.user(id: $0)) ?? nil }) == nil
    {
      let suggestions = Suggestion.nearest(to: user, among: users.sorted())
      notes.append(
        "No user '\(TerminalText.escape(user))' is known here; the answer is for a person in no group"
          + (suggestions.isEmpty ? "." : UsageError.didYouMean(suggestions)))
    }
    return notes
  }

  /// Names one after the other, at most eight.
  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(8).map { TerminalText.escape($0) }.joined(separator: ", ")
    return names.count > 8 ? shown + " and \(names.count - 8) more" : shown
  }
}
