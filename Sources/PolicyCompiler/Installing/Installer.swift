public import ForcedDomain
import LinuxFiles

/// Puts bundles into use on one host: verify, narrow, replace, one installation at a time.
///
/// Either the whole of a bundle comes into use or nothing changes; what was in use stays until the moment at which the
/// marker is replaced (see `Store`).
public struct Installer: Sendable {
  public let installation: Installation
  let accounts: AccountSource
  let clock: @Sendable () -> Int64
  var store: Store

  /// - Parameters:
  ///   - accounts: where ids of names come from.
  ///   - clock: Unix seconds; nil: the system's clock.
  public init(
    _ installation: Installation, accounts: AccountSource = .system,
    clock: (@Sendable () -> Int64)? = nil
  ) {
    self.installation = installation
    self.accounts = accounts
    self.clock = clock ?? { WallClock.unixSeconds() }
    store = Store(installation: installation)
  }

  /// Installs a bundle.
  ///
  /// A serial number below the highest that was installed is refused. An equal one with the same contents changes
  /// nothing, unless the host was enrolled under another name, names or zones have changed, or files of the generation
  /// in use are damaged: then those are made good. An equal one with other contents is refused.
  ///
  /// - Parameters:
  ///   - path: where the bundle comes from, for messages.
  ///   - allowUnresolved: accept names that were never resolved; they match nobody.
  public func install(
    _ bundle: Bundle, from path: String, allowUnresolved: Bool = false
  ) throws(InstallError) -> InstallReport {
    // Asked before anything is made, so that a refusal leaves a strange host as it was.
    _ = try HostEnrolment(of: installation)
    let footprint = try Footprint.changing(installation)
    let report = try installLocked(bundle, from: path, allowUnresolved: allowUnresolved)
    _ = consume footprint
    return report
  }

  private func installLocked(
    _ bundle: Bundle, from path: String, allowUnresolved: Bool
  ) throws(InstallError) -> InstallReport {
    let host = try HostEnrolment(of: installation).identity
    let trust = try trusted(bundle, path)
    let state = try StoreState(of: store)
    if bundle.serial < state.highestSerial {
      throw InstallError(
        .olderSerial(bundle.serial, highestSeen: state.highestSerial), path: path,
        next: ["policyctl compile DIR -o \(ShellText.quoted(path))"])
    }
    if bundle.serial == state.highestSerial, let digest = state.digestOfHighest,
      digest != bundle.sourceDigest || installed(state).map({ !$0.hasSameContents(as: bundle) }) ?? false
    {
      throw InstallError(
        .serialReused(bundle.serial), path: path, next: ["policyctl compile DIR -o \(ShellText.quoted(path))"])
    }
    let names = allowUnresolved ? UnresolvedNames.accepted : .refused
    return try settle(bundle, from: path, for: host, trust, state, names)
  }

  /// Narrows the installed bundle anew: ids of names, the horizon of windows, this host's name. A new generation is
  /// written only where the result differs; damaged files of the one in use are written again.
  ///
  /// It checks exactly what an installation checks. Names that the installation accepted without ids stay accepted.
  public func refresh(allowUnresolved: Bool = false) throws(InstallError) -> InstallReport {
    let host = try HostEnrolment(of: installation).identity
    let footprint = try Footprint.changing(installation)
    let report = try refreshLocked(host, allowUnresolved: allowUnresolved)
    _ = consume footprint
    return report
  }

  private func refreshLocked(_ host: HostIdentity, allowUnresolved: Bool) throws(InstallError) -> InstallReport {
    let state = try StoreState(of: store)
    if state.isEmpty {
      throw InstallError(
        .notInitialised, path: installation.stateDirectory, next: [installation.command("init")])
    }
    guard let bundle = installed(state) else {
      if let marker = state.marker, marker.generation == 0 {
        return InstallReport(
          outcome: .unchanged, generation: 0, host: host, serial: 0, trust: .noKeysToCheck, forcedKeys: 0,
          forcedDomains: 0, recommendedKeys: 0, windows: 0, horizon: 0..<0, faults: state.faults, pruned: [])
      }
      throw InstallError(
        .installedBundleLost(
          "it is not the bundle that generation \(state.highestGeneration) was made of, and no copy is left"),
        path: installation.bundleFile, next: [installation.command("install FILE")])
    }
    let trust = try trusted(bundle, installation.bundleFile)
    let names = allowUnresolved ? UnresolvedNames.accepted : .acceptedBefore
    return try settle(bundle, from: installation.bundleFile, for: host, trust, state, names)
  }

  /// The bundle that is in use; nil where none was installed or it is lost.
  ///
  /// `apply` installs this very bundle again where its sources have not changed, so that nothing is written.
  public func installedBundle() throws(InstallError) -> Bundle? {
    installed(try StoreState(of: store))
  }

  private func installed(_ state: StoreState) -> Bundle? {
    guard let digest = state.digestOfHighest else { return nil }
    func isRight(_ bundle: Bundle) -> Bool { bundle.serial == state.highestSerial && bundle.sourceDigest == digest }
    if let bundle = store.bundle(at: installation.bundleFile), isRight(bundle) { return bundle }
    // The copy that was kept beside the generation, where the one in use was exchanged or damaged.
    guard let marker = state.marker, let kept = store.bundle(ofGeneration: marker.generation), isRight(kept) else {
      return nil
    }
    return kept
  }

  private func trusted(_ bundle: Bundle, _ path: String) throws(InstallError) -> TrustDecision {
    let decision = try TrustStore(of: installation).decide(on: bundle)
    guard case .refused(let refusal) = decision else { return decision }
    let next =
      switch refusal {
      case .unsigned:
        [
          "policyctl compile DIR -o \(ShellText.quoted(path)) --sign KEY",
          installation.command("key generate --local"),
        ]
      case .unknownSigner: [installation.command("key list"), installation.command("key trust FILE.pub")]
      case .badSignature: [installation.command("key list")]
      }
    throw InstallError(.refused(refusal), path: path, next: next)
  }
}

/// What to do about names that were never resolved.
enum UnresolvedNames {
  case accepted
  /// Only those that the generation in use has without ids as well.
  case acceptedBefore
  case refused
}
