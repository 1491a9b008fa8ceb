import CommandLineKit
import ComplianceReport
import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// What a report is made of: the policy that is asked, and the controls that come with it.
struct ReportSite {
  private let call: Invocation
  private let circumstances: Circumstances
  private let installation: Installation
  private let host: HostIdentity
  private let isAboutAnotherHost: Bool
  /// Has the controls; nil where it can't be read.
  private let provenance: ForcedDomain?
  /// What applications read, and whether its hosts are undecided; nil where it can't be read.
  private let policy: (file: ForcedDomain, isOfFleet: Bool)?
  private let source: String
  private let generation: UInt64?
  private let serial: UInt64?
  private let sourceDigest: [UInt8]
  private let sources: SourcesState
  private let faults: [String]
  /// What mends the host as a whole; nil where nothing is wrong with it.
  private let next: String?
  private let notes: [String]

  init(_ call: Invocation) throws(CommandFailure) {
    self.call = call
    circumstances = try Circumstances(call)
    for flag in ["--user", "--group"] where call.arguments.has("--all-users") {
      if !call.arguments.values(flag).isEmpty { throw call.usage(.excludedFlags(verb: "report", "--all-users", flag)) }
    }
    installation = call.installation()
    if let container = EnclosingContainer.current {
      throw CommandFailure(
        .notPermitted,
        "inside the container of \(TerminalText.escape(container.identifier)) there is nothing to report on")
    }
    if circumstances.policies != nil || circumstances.bundle != nil {
      let origin = try Payload.read(call, circumstances)
      let enrolled = try? HostEnrolment(of: installation).identity
      host = circumstances.host.map(HostIdentity.init) ?? enrolled ?? HostIdentity(name: HostName.ofThisSystem())
      isAboutAnotherHost = circumstances.host != nil && enrolled?.name.lowercased() != host.name.lowercased()
      notes = try KnownNames(payload: origin.payload, mayLackGroups: false).check(
        circumstances, host: host, takesNumbers: true, call)
      let narrowed = try Payload.narrow(origin.payload, to: host, path: origin.path)
      provenance = narrowed.provenance
      policy = (narrowed.forced, false)
      source = origin.path
      (generation, serial, sourceDigest, faults, next) = (nil, origin.serial, origin.sourceDigest, [], nil)
      sources = SourcesState(
        state: "not-asked", text: "\(TerminalText.escape(origin.path)) was asked, not what is installed")
      return
    }
    source = "installed"
    let read = try Self.readInstalled(call, installation)
    let marker = (try? ForcedDomainLoader(installation).marker()) ?? nil
    generation = read.forced?.generation ?? marker?.generation
    serial = read.forced?.serial ?? marker?.serial
    sourceDigest = read.forced?.sourceDigest ?? marker?.sourceDigest ?? []
    let installedHost = read.forced?.hostName ?? marker?.hostName ?? HostName.ofThisSystem()
    host = HostIdentity(name: circumstances.host ?? installedHost)
    isAboutAnotherHost = host.name.lowercased() != installedHost.lowercased()
    let comparison = SourcesComparison(marker, call, installation: installation)
    sources = SourcesState(
      state: comparison.state.rawValue, text: "the sources \(comparison.text)", mistakes: comparison.mistakes())
    if read.forced == nil {
      next = call.command(privileged: true, "refresh")
    } else if sources.isUpdateRefused, let folder = comparison.differing {
      next = call.command("check", folder)
    } else {
      next = nil
    }
    provenance = read.provenance
    if isAboutAnotherHost, read.forced != nil, let provenance {
      policy = (provenance, true)
    } else {
      policy = read.forced.map { ($0, false) }
    }
    if circumstances.namesSomething, let provenance {
      notes = try KnownNames(payload: provenance, mayLackGroups: false).check(
        circumstances, host: nil, takesNumbers: true, call)
    } else {
      notes = []
    }
    faults = read.faults + (read.forced.map { StandingFaults.of($0, now: WallClock.unixSeconds()) } ?? [])
  }

  /// What is installed: both files of one generation, or what is wrong with them.
  private static func readInstalled(
    _ call: Invocation, _ installation: Installation
  ) throws(CommandFailure) -> (forced: ForcedDomain?, provenance: ForcedDomain?, faults: [String]) {
    let loader = ForcedDomainLoader(installation)
    var faults: [String] = []
    // An installation may end between two files: then both are read again.
    for _ in 0..<3 {
      switch loader.load() {
      case .notInstalled:
        throw CommandFailure(
          .noInput, "nothing is installed here, so there is no control to evaluate",
          next: call.command(privileged: true, "init"), call.again(adding: "--policies", "DIR"))
      case .unavailable(let found): faults = found.map(\.description)
      case .loaded(let forced, let found):
        faults = found.map(\.description)
        switch loader.loadProvenance(for: forced) {
        case .available(let provenance): return (forced, provenance, faults)
        case .withheld: throw withheld(call)
        case .unavailable(let fault): faults.append(fault.description)
        }
      }
    }
    // The controls at least, so that each is seen to be an error.
    switch loader.loadProvenance() {
    case .available(let provenance): return (nil, provenance, faults)
    case .withheld: throw withheld(call)
    case .unavailable(let fault):
      if !faults.contains(fault.description) { faults.append(fault.description) }
      return (nil, nil, faults)
    }
  }

  private static func withheld(_ call: Invocation) -> CommandFailure {
    CommandFailure(
      .notPermitted, "controls can be read by root and the group managed-preferences-audit only",
      next: call.again(privileged: true), call.again(adding: "--policies", "DIR"))
  }

  /// Whom the command line asks about.
  func subjects() throws(CommandFailure) -> [ReportSubject] {
    if call.arguments.has("--all-users") { return ReportSubject.persons(in: provenance) }
    guard let user = circumstances.user else {
      return [circumstances.groups.isEmpty ? .caller() : .someone(in: circumstances.groups)]
    }
    let isWhatIf = source != "installed" || isAboutAnotherHost || !circumstances.groups.isEmpty
    return [try .named(user, isWhatIf: isWhatIf)]
  }

  /// The report for one of them.
  func report(for subject: ReportSubject) -> HostReport {
    var report = HostReport(
      host: host.name, user: subject.name, userID: subject.userID, generation: generation, serial: serial,
      sourceDigest: sourceDigest, source: source, instant: circumstances.moment, made: WallClock.unixSeconds(),
      sources: sources, faults: faults, notes: notes + subject.notes,
      next: next)
    guard let provenance else {
      report.isIncomplete = true
      return report
    }
    func truth(_ file: ForcedDomain, _ host: HostIdentity?) -> ConditionTruth {
      file.truth(
        in: subject.context(over: file, host: host, groups: circumstances.groups, at: circumstances.instant))
    }
    if isAboutAnotherHost {
      report.notes.append("This is about another host: the files of users on this one are left out.")
    }
    let preferences =
      isAboutAnotherHost
      ? nil : subject.preferences(installation: installation, at: circumstances.instant)
    let evaluation = ControlEvaluation(
      provenance: provenance, applicability: truth(provenance, host),
      policy: policy.map { ($0.file, truth($0.file, $0.isOfFleet ? host : nil)) }, preferences: preferences)
    if subject.failure != nil { report.notes = [] }
    report.controls = evaluation.controls(unless: subject.failure)
    report.idleExemptions = evaluation.idleExemptions()
    report.faults += preferences?.faults ?? []
    if evaluation.damagedEntries > 0 {
      report.faults.append("\(Count.text(evaluation.damagedEntries, "control")) or exemptions can't be read")
      report.isIncomplete = true
    }
    return report
  }
}
