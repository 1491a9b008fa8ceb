import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore

/// The containers of one user, and what the policy in force grants to their applications.
struct ContainerSite {
  let locations: PreferenceLocations
  let userName: String
  /// Whether they are the caller's. Of others' she sees names, whatever she may read.
  let isOwn: Bool
  /// By identifier, for the applications that are contained.
  let grants: [String: ApplicationGrants]
  private let secrets: SecretKeys

  init(_ call: Invocation) throws(CommandFailure) {
    let installation = call.installation()
    var user = UserFacts.current()
    var locations = PreferenceLocations.current(installation: installation)
    var isOwn = true
    if let name = call.arguments.value("--user") {
      let found: UserAccount?
      do throws(Errno) { found = try UserDatabase.user(named: name) } catch {
        throw CommandFailure(.unavailable, "the users of this machine can't be looked up: \(error)")
      }
      guard let found else { throw CommandFailure(.noInput, "there is no user '\(TerminalText.escape(name))'") }
      if found.userID != ProcessIdentity.effectiveUserID {
        isOwn = false
        user = UserFacts(of: found)
        locations = PreferenceLocations(homeDirectory: found.homeDirectory, installation: installation)
      }
    }
    // Root with another's HOME is not that user.
    let owner = (try? FileMetadata.of(locations.homeDirectory))?.userID
    if let owner, owner != ProcessIdentity.effectiveUserID { isOwn = false }
    if let container = EnclosingContainer.current {
      throw CommandFailure(
        .notPermitted,
        "inside the container of \(TerminalText.escape(container.identifier)) no containers are to be seen")
    }
    self.locations = locations
    self.isOwn = isOwn
    userName = call.arguments.value("--user").map { TerminalText.escape($0) } ?? "yours"
    var domain: ForcedDomain?
    switch ForcedDomainLoader(installation).load() {
    case .notInstalled: break
    case .loaded(let file, let faults):
      domain = file
      Self.warn(faults)
    case .unavailable(let faults): Self.warn(faults)
    }
    secrets = SecretKeys(of: domain)
    let context = EvaluationContext(user: user, instant: WallClock.unixSeconds())
    let all = domain.map { $0.grants(under: $0.truth(in: context)) } ?? []
    grants = Dictionary(all.map { ($0.identifier, $0) }) { first, _ in first }
  }

  private static func warn(_ faults: [DomainFault]) {
    for fault in faults {
      Policyctl.warn("\(fault)")
    }
  }

  func surveys() throws(CommandFailure) -> [ContainerSurvey] {
    do throws(FileError) {
      var surveys: [ContainerSurvey] = []
      for identifier in try ContainerSurvey.identifiers(in: locations) {
        surveys.append(try ContainerSurvey(identifier, in: locations))
      }
      return surveys
    } catch {
      throw CommandFailure(error, while: .reading)
    }
  }

  func survey(_ identifier: String) throws(CommandFailure) -> ContainerSurvey {
    if let fault = DomainName.fault(in: identifier) {
      throw CommandFailure(
        .usage, "'\(TerminalText.escape(identifier))' is no domain: \(TerminalText.escape("\(fault)"))")
    }
    do throws(FileError) { return try ContainerSurvey(identifier, in: locations) } catch {
      guard error.errno == .noSuchFile else { throw CommandFailure(error, while: .reading) }
      let known = (try? ContainerSurvey.identifiers(in: locations)) ?? []
      let nearest = Suggestion.nearest(to: identifier, among: known).map {
        "; did you mean '\(TerminalText.escape($0))'?"
      }
      throw CommandFailure(
        .noInput, "\(TerminalText.escape(identifier)) has no container" + (nearest.first ?? ""),
        next: "\(Policyctl.name) containers")
    }
  }

  /// What may be shown of a redirected domain.
  func domain(
    _ redirected: ContainerSurvey.Redirected, _ differences: [ContainerSurvey.Difference]
  ) -> ContainerContentsView.Domain {
    ContainerContentsView.Domain(
      name: redirected.domain, path: redirected.path, written: redirected.written,
      keys: differences.map { difference in
        ContainerContentsView.Key(
          name: difference.key,
          isSecret: secrets.contains(difference.key, in: ForcedDomain.domains(binding: redirected.domain)),
          inContainer: difference.inContainer, outside: difference.outside)
      })
  }
}
