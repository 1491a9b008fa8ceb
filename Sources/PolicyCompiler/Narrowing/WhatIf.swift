public import ForcedDomain
import LinuxFiles

/// A question to policies: where, for whom, when.
public struct WhatIfQuestion: Sendable, Hashable {
  public var host: HostIdentity
  /// nil: nobody in particular, a person without a name.
  public var user: String?
  /// Groups of the inventory that the user counts as a member of.
  public var groups: [String]
  /// Unix seconds.
  public var instant: Int64

  public init(host: HostIdentity, user: String? = nil, groups: [String] = [], instant: Int64) {
    self.host = host
    self.user = user
    self.groups = groups
    self.instant = instant
  }
}

/// Which user names a what-if knows the ids of.
public struct AccountDirectory: Sendable {
  /// The user's id and all groups; nil for a name that is not known here.
  let facts: @Sendable (_ name: String) -> (userID: UInt32, groupIDs: [UInt32])?

  /// The accounts of this machine. A name service that does not answer knows nobody.
  public static let system = AccountDirectory { name in
    guard let account = try? UserDatabase.user(named: name) else { return nil }
    return (account.userID, UserDatabase.groupIDs(of: account))
  }

  /// Nobody but root, who has the same id everywhere: answers that are the same on every machine.
  public static let none = AccountDirectory { $0 == "root" ? (0, [0]) : nil }

  public init(_ facts: @escaping @Sendable (_ name: String) -> (userID: UInt32, groupIDs: [UInt32])?) {
    self.facts = facts
  }
}

/// Policies as one host would have them installed, for questions about any user and any time.
///
/// A tree or a bundle goes through exactly what an installation goes through: narrowing, then the reader. The answers are
/// therefore those that applications would get.
public struct WhatIf: Sendable {
  /// What applications would read; hosts are decided.
  public let forced: ForcedDomain
  /// The same with every losing entry and all origins, for explanations; hosts are undecided.
  public let provenance: ForcedDomain
  public let host: HostIdentity
  public let statistics: NarrowingStatistics
  private let windows = SymbolicWindows()
  private let accounts: AccountDirectory

  /// Narrows a payload in memory.
  ///
  /// - Parameters:
  ///   - now: Unix seconds; windows are expanded as an installation at this time would. Questions about other times are
  ///     answered from the windows as they are written.
  ///   - users: gives names their ids.
  public init(
    payload: ForcedDomain, host: HostIdentity, now: Int64, users: some UserResolver,
    accounts: AccountDirectory = .system
  ) throws(NarrowingError) {
    let stamp = FileStamp(
      serial: payload.serial, sourceDigest: payload.sourceDigest, horizon: WindowExpansion.horizon(at: now))
    let files = try Narrowing.narrow(payload, to: host, users: users, stamp: stamp)
    do throws(ForcedDomainError) {
      forced = try ForcedDomain(bytes: files.forced, expecting: [.forced])
      provenance = try ForcedDomain(bytes: files.provenance, expecting: [.provenance])
    } catch {
      throw .domain(error)
    }
    statistics = files.statistics
    self.host = host
    self.accounts = accounts
  }

  /// The context in which `forced` answers a question.
  public func context(user: String?, groups: [String], instant: Int64) -> EvaluationContext {
    EvaluationContext(
      user: UserFacts.whatIf(user: user, groups: groups, in: forced, accounts: accounts), instant: instant,
      symbolicWindows: windows.evaluate)
  }

  /// The context in which `provenance` answers a question; it may be about another host.
  public func context(_ question: WhatIfQuestion) -> EvaluationContext {
    var context = context(user: question.user, groups: question.groups, instant: question.instant)
    context.host = question.host
    return context
  }
}

extension EvaluationContext {
  /// The context of a what-if over an installed file.
  ///
  /// - Parameters:
  ///   - host: for the provenance file, the host to ask about; nil for the forced file, whose hosts are decided.
  ///   - user: nil for who runs this process, unless groups are named.
  public static func whatIf(
    over file: ForcedDomain, host: HostIdentity?, user: String?, groups: [String], instant: Int64,
    accounts: AccountDirectory = .system
  ) -> EvaluationContext {
    let facts =
      user == nil && groups.isEmpty
      ? UserFacts.current() : UserFacts.whatIf(user: user, groups: groups, in: file, accounts: accounts)
    return EvaluationContext(
      host: host, user: facts, instant: instant, symbolicWindows: SymbolicWindows().evaluate)
  }
}

extension UserFacts {
  /// Rule 8: a user whom this machine knows has the kernel's ids; one whom it does not know counts as a person with the
  /// groups of the inventory that list the name. Named groups come on top.
  static func whatIf(
    user: String?, groups: [String], in file: ForcedDomain, accounts: AccountDirectory
  ) -> UserFacts {
    guard let user else { return UserFacts(inventoryGroups: groups) }
    if let known = accounts.facts(user) {
      return UserFacts(userID: known.userID, groupIDs: known.groupIDs, name: user, inventoryGroups: groups)
    }
    let listing = file.userGroups.filter { $0.names.contains(user) && !groups.contains($0.name) }.map(\.name)
    return UserFacts(name: user, inventoryGroups: groups + listing)
  }
}
