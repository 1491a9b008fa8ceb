import AuditEvents
import CommandLineKit
import ComplianceReport
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PreferencesCore

/// In whose place the controls are evaluated, and which of her files may be asked.
///
/// Never root's in the place of a user's: who asks for `alice` gets alice's facts and alice's files, or an error.
struct ReportSubject {
  /// As the report names her.
  let name: String
  let userID: UInt32?
  let notes: [String]
  /// Why nothing can be evaluated for this user; nil where it can.
  let failure: String?
  private let kind: Kind

  private enum Kind {
    case caller
    case account(UserAccount)
    /// Whom this machine does not know; in a question about other circumstances, a person.
    case stranger
    /// Nobody in particular.
    case someone
  }

  /// Who runs this process.
  static func caller() -> ReportSubject {
    ReportSubject(
      name: Circumstances.currentUserName(), userID: ProcessIdentity.realUserID, notes: [], failure: nil,
      kind: .caller)
  }

  /// A person without a name, with groups of the inventory.
  static func someone(in groups: [String]) -> ReportSubject {
    ReportSubject(
      name: "someone in " + groups.joined(separator: ", "), userID: nil,
      notes: ["This is about nobody in particular: policy alone was asked."], failure: nil, kind: .someone)
  }

  static func account(_ account: UserAccount) -> ReportSubject {
    var notes: [String] = []
    if account.userID != ProcessIdentity.realUserID,
      (try? FileMetadata.of(account.homeDirectory))?.isDirectory != true
    {
      notes.append(
        "\(account.name) has no home directory (\(account.homeDirectory)): there are no preferences, policy alone answers."
      )
    }
    return ReportSubject(
      name: account.name, userID: account.userID, notes: notes, failure: nil,
      kind: account.userID == ProcessIdentity.realUserID ? .caller : .account(account))
  }

  /// The value of `--user`: a name, or the number of an account.
  ///
  /// - Parameter isWhatIf: whether a user whom this host does not know counts as a person, as in a question about other
  ///   policies or another host. On this host it is an error in every control: an account that is gone has no answer.
  static func named(_ name: String, isWhatIf: Bool) throws(CommandFailure) -> ReportSubject {
    let found: UserAccount?
    do throws(Errno) {
      var account = try UserDatabase.user(named: name)
      if account == nil, let id = UInt32(name) { account = try UserDatabase.user(id: id) }
      found = account
    } catch {
      throw CommandFailure(.unavailable, "the users of this machine can't be looked up: \(error)")
    }
    if let found { return account(found) }
    if isWhatIf {
      return ReportSubject(
        name: name, userID: nil, notes: ["This machine does not know \(name): policy alone was asked."], failure: nil,
        kind: .stranger)
    }
    return ReportSubject(
      name: name, userID: nil, notes: [], failure: "there is no user '\(name)' on this host", kind: .stranger)
  }

  /// The persons of this host: the accounts that the name service lists, and those that a policy names.
  static func persons(in provenance: ForcedDomain?) -> [ReportSubject] {
    var accounts = UserDatabase.accounts()
    for user in provenance?.resolvedUsers ?? [] {
      guard !accounts.contains(where: { $0.name == user.name }), let known = try? UserDatabase.user(named: user.name)
      else { continue }
      accounts.append(known)
    }
    // The overflow id is nobody's.
    let nobody: UInt32 = 65534
    return accounts.filter { $0.userID >= UserFacts.firstPersonID && $0.userID != nobody }
      .sorted { $0.userID < $1.userID }.map { account($0) }
  }

  /// The context in which a file is asked for this user.
  ///
  /// - Parameter host: nil where the file's hosts are decided.
  func context(
    over file: ForcedDomain, host: HostIdentity?, groups: [String], at instant: Int64?
  ) -> EvaluationContext {
    let isNow = instant == nil && groups.isEmpty
    if case .caller = kind, isNow {
      return EvaluationContext(host: host, user: .current(), instant: WallClock.unixSeconds())
    }
    let asked: String? =
      switch kind {
      case .caller: groups.isEmpty ? nil : name
      case .account, .stranger: name
      case .someone: nil
      }
    return .whatIf(
      over: file, host: host, user: asked, groups: groups, instant: instant ?? WallClock.unixSeconds())
  }

  /// Her own layers; nil where there is no account to have them.
  func preferences(installation: Installation, at instant: Int64?) -> UserPreferences? {
    let account: UserAccount?
    switch kind {
    case .caller: account = nil
    case .account(let known): account = known
    case .stranger, .someone: return nil
    }
    // Root reads as she would: a link in her home must not lead to what is not hers.
    let owner = ProcessIdentity.effectiveUserID == 0 ? account : nil
    return UserPreferences(readingAs: owner) { domain in
      var configuration: SearchList.Configuration
      if let account {
        // Not `init(account:)`: that is what a program of ours would see of her, and she is the one who asks here. Her
        // environment is not known, so neither are other places nor languages.
        configuration = SearchList.Configuration(
          domain: domain, homeDirectory: account.homeDirectory,
          configurationDirectory: FilePath.join(account.homeDirectory, ".config"), arguments: [], languages: [],
          installation: installation, sink: DiscardingAuditEventSink(), observes: false,
          userFacts: UserFacts(of: account))
      } else {
        configuration = SearchList.Configuration(
          domain: domain, arguments: [], installation: installation, sink: DiscardingAuditEventSink(), observes: false)
      }
      configuration.preparesContainer = false
      if let instant { configuration.clock = { instant } }
      return configuration
    }
  }
}
