import AuditEvents
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// Root's work on this host, with the installer's errors as the command's failures.
struct HostSite {
  let installation: Installation
  private let installer: Installer
  private let audit: AuditSite

  init(_ installation: Installation) {
    self.installation = installation
    audit = AuditSite(installation)
    installer = Installer(installation)
  }

  /// An installer that puts each new generation on record before it takes effect.
  private func recording(_ kind: AuditEvent.Kind) -> Installer {
    let previous = generationInUse?.generation ?? 0
    let audit = audit
    return Installer(
      installation,
      witness: { (marker) throws(InstallError) in
        try audit.recordGeneration(kind, marker, previous: previous)
      })
  }

  /// Records what came of an installation: names that nobody knows, or why it was refused.
  private func recorded(
    _ call: Invocation, from path: String, _ body: () throws(InstallError) -> InstallReport
  ) throws(CommandFailure) -> InstallView {
    do throws(InstallError) {
      let report = try body()
      if !report.unresolvedNames.isEmpty {
        audit.note([AuditSite.unknownIdentities(report.unresolvedNames, accepted: true)])
      }
      return InstallView(report)
    } catch {
      let failure = CommandFailure(error, of: call)
      audit.noteRefusal(error, exit: failure.exitCode, of: call.verb.name, from: path)
      throw failure
    }
  }

  /// Records what was refused before the installer saw it, and hands over the failure.
  ///
  /// - Parameter reason: a word, never contents.
  func refusing(
    _ failure: CommandFailure, because reason: String, of path: String, _ call: Invocation
  ) -> CommandFailure {
    audit.noteRefusal(
      reason: reason, exit: failure.exitCode, of: call.verb.path.joined(separator: " "), from: path)
    return failure
  }

  /// What a marker says of the generation in use; nil for none, for the empty one and for a damaged marker.
  private var generationInUse: GenerationMarker? {
    ((try? ForcedDomainLoader(installation).marker()) ?? nil).flatMap { $0.generation > 0 ? $0 : nil }
  }

  /// The name of the host that the generation in use was made for.
  var installedHost: String? { generationInUse?.hostName }

  /// The generation in use was signed, whether or not a key is trusted still.
  var asksForLostKey: Bool { generationInUse?.signer != nil }

  /// The command that puts in force again what was installed last; nil where that is not known.
  func installAgain(_ call: Invocation) -> String? {
    switch generationInUse?.source {
    case .folder(let path)?: call.command(privileged: true, "apply", path)
    case .bundleFile(let path)?: call.command(privileged: true, "install", path)
    case nil: nil
    }
  }

  /// What would be lost by installing a policy without keys; nil where nothing would.
  var inForce: String? {
    switch ForcedDomainLoader(installation).load() {
    case .notInstalled: return nil
    case .unavailable: return "what is in force here can't be read"
    case .loaded(let file, _):
      var keys: Set<String> = []
      file.forEachEntry { keys.insert("\($0.domain) " + String(decoding: $0.key, as: UTF8.self)) }
      let contained = file.containedApplications.count
      if keys.isEmpty, contained > 0 {
        return "generation \(file.generation) with \(Count.text(contained, "contained application")) is in force here"
      }
      return keys.isEmpty ? nil : "generation \(file.generation) with \(Count.text(keys.count, "key")) is in force here"
    }
  }

  /// Whether any key is forced or recommended here, or that can't be told.
  var hasKeysInForce: Bool {
    switch ForcedDomainLoader(installation).load() {
    case .notInstalled: false
    case .unavailable: true
    case .loaded(let file, _): file.keyCount > 0
    }
  }

  func initialise(host: String?) throws(CommandFailure) -> Installer.Initialisation {
    do throws(InstallError) {
      let made = try installer.initialise(
        host: host ?? HostName.ofThisSystem(), sample: (SamplePolicy.fileName, Array(SamplePolicy.text.utf8)))
      // The log begins here, whatever else was made.
      let records = made.isNewlyEnrolled ? [AuditSite.enrolment(from: nil, to: made.host.name)] : []
      try AuditSite(installation).record(records)
      return made
    } catch {
      throw CommandFailure(error)
    }
  }

  /// - Returns: the name before.
  func enroll(as name: String) throws(CommandFailure) -> String? {
    do throws(InstallError) {
      // Before it is done: the log then never shows a host that it does not know of.
      let before = try? HostEnrolment(of: installation).identity.name
      if (try? HostName.validate(name)) != nil, before != name, audit.isSetUp {
        try audit.record([AuditSite.enrolment(from: before, to: name)])
      }
      return try installer.enroll(host: name)?.identity.name
    } catch {
      throw CommandFailure(error)
    }
  }

  func install(_ bundle: Bundle, from path: String, _ call: Invocation) throws(CommandFailure) -> InstallView {
    try recorded(call, from: path) { () throws(InstallError) in
      try recording(.policyInstalled).install(
        bundle, from: path, allowUnresolved: call.arguments.has("--allow-unresolved"),
        allowUnsigned: call.arguments.has("--allow-unsigned"))
    }
  }

  func refresh(_ call: Invocation) throws(CommandFailure) -> InstallView {
    var view = try recorded(call, from: installation.bundleFile) { () throws(InstallError) in
      try recording(.policyRefreshed).refresh(allowUnresolved: call.arguments.has("--allow-unresolved"))
    }
    view.isRefresh = true
    return view
  }

  /// Installs a folder's policies; the installer chooses the serial number and signs.
  func apply(_ folder: PolicyFolder, serial: UInt64?, _ call: Invocation) throws(CommandFailure) -> InstallView {
    let made = try folder.bundle(serial: serial)
    return try recorded(call, from: folder.path) { () throws(InstallError) in
      try recording(.policyInstalled).apply(
        payload: made.payload, sourceDigest: made.sourceDigest,
        serial: serial == nil ? .atLeast(made.serial) : .fixed(made.serial), from: folder.path,
        allowUnresolved: call.arguments.has("--allow-unresolved"),
        allowUnsigned: call.arguments.has("--allow-unsigned"))
    }
  }

  func generations() throws(CommandFailure) -> [GenerationListing] {
    do throws(InstallError) { return try installer.generations() } catch { throw CommandFailure(error) }
  }

  func uninstall() throws(CommandFailure) -> Installer.Uninstallation {
    do throws(InstallError) {
      if audit.isSetUp { try audit.recordLast(generation: generationInUse?.generation ?? 0) }
      return try installer.uninstall()
    } catch {
      throw CommandFailure(error)
    }
  }

  // MARK: Keys

  func makeLocalKey(_ call: Invocation) throws(CommandFailure) -> VerificationKey {
    do throws(InstallError) { return try KeyFiles.generateLocal(on: installation, witness: recordTrust) } catch {
      throw refusal(error, call, from: installation.trustedKeysDirectory)
    }
  }

  func trust(_ path: String, as name: String?, _ call: Invocation) throws(CommandFailure) -> TrustedKey {
    do throws(InstallError) { return try KeyFiles.trust(path, as: name, on: installation, witness: recordTrust) } catch
    {
      throw refusal(error, call, from: path)
    }
  }

  /// A key is on record before it is trusted.
  private func recordTrust(_ trusted: TrustedKey) throws(InstallError) {
    try audit.record([AuditSite.trust(trusted.key, as: trusted.name)])
  }

  private func refusal(_ error: InstallError, _ call: Invocation, from path: String) -> CommandFailure {
    let failure = CommandFailure(error)
    audit.noteRefusal(error, exit: failure.exitCode, of: call.verb.path.joined(separator: " "), from: path)
    return failure
  }

  func trustedKeys() throws(CommandFailure) -> [TrustedKey] {
    do throws(InstallError) { return try TrustStore(of: installation).keys } catch { throw CommandFailure(error) }
  }
}

extension CommandFailure {
  /// The installer's error: its code, its words, its next commands.
  ///
  /// - Parameter call: the command line that failed; given where it could be repeated with another flag.
  init(_ error: InstallError, of call: Invocation? = nil) {
    var next = error.next
    if case .unresolvedNames = error.reason, let call {
      next = [call.again(privileged: call.root == nil, adding: "--allow-unresolved")]
    }
    if let call { next = Self.nextForBundle(error, of: call) ?? next }
    if case .notEnrolled = error.reason, let call,
      ((try? ForcedDomainLoader(call.installation()).marker()) ?? nil) == nil
    {
      next = [call.command(privileged: true, "init")]
    }
    self.init(ExitCode(rawValue: error.exitCode) ?? .inputOutput, error.description, next: next)
  }
}

extension CommandFailure {
  /// The commands after a bundle was refused. The installer knows a path only; here it is known whether that is a bundle or
  /// the folder that `apply` was given, and whether this host asks for signatures.
  private static func nextForBundle(_ error: InstallError, of call: Invocation) -> [String]? {
    let installation = call.installation()
    let isFresh: Bool
    switch error.reason {
    case .refused(.unsigned): isFresh = false
    case .olderSerial, .serialReused: isFresh = true
    default: return nil
    }
    let asksForSignatures = (try? TrustStore(of: installation)).map { !$0.keys.isEmpty } ?? true
    let sign = asksForSignatures ? " --sign KEY" : ""
    switch call.verb.path {
    case ["apply"]:
      let folder = call.arguments.operand(0)
      if isFresh { return [call.command(privileged: true, ["apply"] + (folder.map { [$0] } ?? []))] }
      return [
        call.command(privileged: true, "key", "generate", "--local"),
        "\(Policyctl.name) compile \(ShellWord.quote(folder ?? installation.policiesDirectory)) -o NEW.bundle --sign KEY",
      ]
    case ["install"]:
      return ["\(Policyctl.name) compile DIR -o \(ShellWord.quote(call.arguments.operands[0]))\(sign)"]
    default:
      return [
        "\(Policyctl.name) compile DIR -o NEW.bundle\(sign)", call.command(privileged: true, "install", "NEW.bundle"),
      ]
    }
  }
}

extension InstallView {
  init(_ report: InstallReport) {
    var mended: [String] = []
    if case .mended(let paths) = report.outcome { mended = paths }
    self.init(
      generation: report.generation, serial: report.serial, host: report.host.name,
      isChanged: report.outcome == .installed, mended: mended, forcedKeys: report.forcedKeys,
      domains: report.forcedDomains, contained: report.containedApplications, recommendedKeys: report.recommendedKeys,
      windows: report.windows,
      nextEdge: report.nextEdge, nextEdgeZone: report.nextEdgeZone, faults: report.faults, now: WallClock.unixSeconds())
  }
}
