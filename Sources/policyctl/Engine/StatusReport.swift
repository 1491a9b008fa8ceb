import AuditEvents
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PolicyLanguage
import PreferencesCore
import PropertyList

/// Looks at an installation from all sides, and fails on none of them: what can't be read becomes a fault.
struct StatusReport {
  private let call: Invocation
  private let installation: Installation
  private let located: [SearchedPath]
  private let now = WallClock.unixSeconds()

  init(_ call: Invocation) {
    self.call = call
    (installation, located) = Installation.locate(root: call.root)
  }

  func view(withUserSetKeys: Bool) -> StatusView {
    let load = ForcedDomainLoader(installation).load()
    var marker: GenerationMarker?
    var faults: [String] = []
    do throws(DomainFault) { marker = try ForcedDomainLoader(installation).marker() } catch {
      faults.append(error.description)
    }
    var view = StatusView(state: "not installed", sources: "unknown", sourcesText: "", faults: [], paths: [], now: now)
    switch load {
    case .notInstalled: break
    case .unavailable(let damage):
      view.state = "unavailable"
      faults += damage.map(\.description)
    case .loaded(let file, let damage):
      view.state = "installed"
      faults += damage.map(\.description)
      describe(file, in: &view)
      faults += StandingFaults.of(file, now: now)
      if withUserSetKeys { view.userSet = userSetKeys(of: file) }
    }
    view.serial = marker.map(\.serial)
    view.installed = marker.map(\.installedAt)
    do throws(InstallError) {
      let enrolment = try HostEnrolment(of: installation)
      view.host = enrolment.identity.name
      view.enrolled = enrolment.enrolledAt
      if let marker, marker.generation > 0, marker.hostName != enrolment.identity.name {
        faults.append(
          "generation \(marker.generation) was made for \(marker.hostName), this host is enrolled as "
            + "\(enrolment.identity.name)")
      }
    } catch {
      if view.state != "not installed" || Self.exists(installation.hostFile) { faults.append(error.description) }
    }
    view.signature = signature()
    if view.state == "installed" {
      let sources = SourcesComparison(marker, call, installation: installation)
      view.sources = sources.state.rawValue
      view.sourcesText = sources.text
      view.source = marker?.generation ?? 0 > 0 ? marker?.source?.path : nil
    }
    view.executable = ApplicationIdentity.fallback()
    view.agent = AgentStatus.answer(at: installation.agentSocket)
    if case .status(let agent) = view.agent, let fault = agent.fault {
      faults.append("the agent can't write the audit log: \(fault)")
    }
    if case .status = view.agent {} else { view.agentEnd = AgentEnd(in: AuditSite(installation).place) }
    var seen: Set<String> = []
    view.faults = faults.filter { seen.insert($0).inserted }
    let passedOver = anyUserFaults()
    if !view.faults.isEmpty {
      view.next =
        view.host == nil
        ? call.command(privileged: true, "enroll", "--host") + " NAME" : call.command(privileged: true, "refresh")
    } else if let fault = passedOver.first(where: { $0.kind == .untrusted }) {
      let path = ShellWord.join([fault.path])
      view.next = "sudo chown root: \(path) && sudo chmod go-w \(path)"
    }
    view.faults += passedOver.map(\.description)
    if let end = try? AuditEnd(of: AuditSite(installation).place), end.head != nil || end.fault != nil {
      view.audit = end.state
      if let fault = end.fault {
        view.faults.append(fault)
        view.next = view.next ?? call.command(privileged: true, "audit", "verify")
      }
    }
    view.paths = paths()
    if withUserSetKeys, view.userSet == nil { view.userSet = [] }
    return view
  }

  private func describe(_ file: ForcedDomain, in view: inout StatusView) {
    view.generation = file.generation
    var forced: Set<String> = []
    var domains: Set<Int> = []
    var recommended: Set<String> = []
    file.forEachEntry { entry in
      guard entry.action != .release else { return }
      let key = "\(entry.domain)\u{0}" + String(decoding: entry.key, as: UTF8.self)
      if entry.section == .forced {
        forced.insert(key)
        domains.insert(entry.domain)
      } else {
        recommended.insert(key)
      }
    }
    view.forcedKeys = forced.count
    view.contained = file.containedApplications
    view.domains = domains.count
    view.recommendedKeys = recommended.count
    view.windows = Set(file.conditions.flatMap(\.windows)).count
    if view.windows > 0 { view.horizon = file.horizon.upperBound }
    view.nextEdge = file.truth(in: EvaluationContext(user: .current(), instant: now)).nextEdge
    if let edge = view.nextEdge { view.nextEdgeZone = Self.zone(of: edge, in: file) }
  }

  /// The zone of the window that opens or closes at a moment.
  private static func zone(of edge: Int64, in file: ForcedDomain) -> String? {
    for (index, condition) in file.conditions.enumerated() {
      for (window, intervals) in zip(condition.windows, file.intervals(ofCondition: index))
      where intervals.contains(where: { $0.lowerBound == edge || $0.upperBound == edge }) {
        return window.timeZone
      }
    }
    return nil
  }

  /// Who vouches for the installed bundle; only root can read it.
  private func signature() -> String? {
    guard let bytes = try? WholeFile.read(installation.bundleFile).bytes, let bundle = try? Bundle(decoding: bytes)
    else {
      return nil
    }
    guard let signer = bundle.signature?.signer else { return "not signed" }
    guard let store = try? TrustStore(of: installation),
      let key = store.keys.first(where: { $0.key.fingerprint == signer })
    else { return "signed by key \(signer.short), which is not trusted here" }
    return bundle.isSigned(by: key.key)
      ? "signed by \(key.name) (trusted)" : "signed by \(key.name), but the signature does not fit"
  }

  /// What is wrong with the preference files for any user, of all domains.
  private func anyUserFaults() -> [PreferencesFault] {
    let locations = PreferenceLocations.current(installation: installation)
    var faults: [PreferencesFault] = []
    for host in [PersistentDomain.Host.any, .current] {
      do throws(FileError) {
        func note(_ fault: PreferencesFault) { faults.append(fault) }
        for name in try PersistentDomain.names(in: locations, user: .any, host: host, passedOver: note) {
          guard let domain = try? PersistentDomain(name, user: .any, host: host, in: locations) else { continue }
          do throws(PreferencesFault) { _ = try domain.read() } catch { faults.append(error) }
        }
      } catch {
        faults.append(PreferencesFault(.unreadable, path: error.path, message: "\(error)", errno: error.errno))
      }
    }
    // One directory that others can write concerns each file in it.
    return faults.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Keys of managed domains that this user has set and nothing forces.
  private func userSetKeys(of file: ForcedDomain) -> [UserSetView] {
    let secrets = SecretKeys(of: file)
    return file.domains.flatMap { domain -> [UserSetView] in
      var configuration = SearchList.Configuration(
        domain: domain, arguments: [], installation: installation, sink: DiscardingAuditEventSink(), observes: false)
      configuration.preparesContainer = false
      guard let list = try? SearchList(configuration: configuration) else { return [] }
      return (list.persistentDomain(forName: domain) ?? [:]).filter { !list.isForced($0.key) }
        .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { key, value in
          UserSetView(
            domain: domain, key: key, value: secrets.contains(key, in: [domain]) ? "(secret)" : value.displayText,
            path: list.resolution(of: key).considered.first { $0.path != nil && $0.value == value }?.path ?? "")
        }
    }
  }

  // MARK: Paths

  private func paths() -> [SearchedPathView] {
    var paths = located.map {
      SearchedPathView(
        path: $0.path,
        outcome: $0.outcome == .read ? Self.outcome(of: $0.path) : $0.outcome.rawValue, why: $0.reason)
    }
    for path in [
      installation.generationMarker, installation.hostFile, installation.provenanceFile, installation.bundleFile,
      installation.policiesDirectory, installation.trustedKeysDirectory,
      UserLocations.configurationDirectory(home: UserLocations.homeDirectory()),
    ] where !paths.contains(where: { $0.path == path }) {
      let outcome = Self.outcome(of: path)
      paths.append(
        SearchedPathView(path: path, outcome: outcome, why: outcome == "skipped" ? "this user may not read it" : ""))
    }
    return paths
  }

  private static func exists(_ path: String) -> Bool { outcome(of: path) != "missing" }

  /// `read`, `missing`, or `skipped` where this user may not read it.
  private static func outcome(of path: String) -> String {
    do throws(FileError) {
      if try FileMetadata.of(path).isDirectory {
        _ = try Directory.names(in: path)
      } else {
        _ = try FileDescriptor.open(path, [.nonBlocking])
      }
      return "read"
    } catch {
      return error.errno == .noSuchFile || error.errno == .notDirectory ? "missing" : "skipped"
    }
  }
}

/// What is wrong with an installed generation although its file is sound.
enum StandingFaults {
  static func of(_ file: ForcedDomain, now: Int64) -> [String] {
    var faults: [String] = []
    if let fault = file.horizonFault(at: now) { faults.append(fault) }
    var names: [String] = []
    for user in file.resolvedUsers where user.userID == nil { names.append("user '\(user.name)'") }
    for group in file.userGroups {
      for (name, id) in zip(group.names, group.userIDs) where id == UserGroup.nobodysID {
        names.append("user '\(name)'")
      }
      for (name, id) in zip(group.unixGroups, group.groupIDs) where id == UserGroup.nobodysID {
        names.append("Unix group '\(name)'")
      }
    }
    for name in names.reduce(into: [String](), { if !$0.contains($1) { $0.append($1) } }) {
      faults.append("\(name) was never resolved; it matches nobody")
    }
    return faults
  }
}
