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
  ///   - witness: told of a new generation right before readers can see any of it. What it throws takes the
  ///     installation back: nothing comes in force that can't be put on record.
  public init(
    _ installation: Installation, accounts: AccountSource = .system,
    clock: (@Sendable () -> Int64)? = nil,
    witness: @escaping @Sendable (GenerationMarker) throws(InstallError) -> Void = { _ in }
  ) {
    self.installation = installation
    self.accounts = accounts
    self.clock = clock ?? { WallClock.unixSeconds() }
    store = Store(installation: installation)
    store.witness = witness
  }

  /// Installs a bundle.
  ///
  /// A serial number below the highest that was installed is refused. An equal one with the same contents changes
  /// nothing, unless the host was enrolled under another name, names or zones have changed, or files of the generation
  /// in use are damaged: then those are made good. An equal one with other contents is refused, and so is one that lies
  /// so far ahead that no later bundle would be accepted.
  ///
  /// - Parameters:
  ///   - path: where the bundle comes from, for messages and for the marker.
  ///   - allowUnresolved: accept names that were never resolved; they match nobody.
  ///   - allowUnsigned: accept a bundle that nothing vouches for on a host that trusts no key any more, although what is
  ///     in use was signed.
  public func install(
    _ bundle: Bundle, from path: String, allowUnresolved: Bool = false, allowUnsigned: Bool = false
  ) throws(InstallError) -> InstallReport {
    try changing(allowUnresolved, allowUnsigned) { (installer, permits) throws(InstallError) in
      try installer.installLocked(bundle, from: .bundleFile(path), try StoreState(of: installer.store), permits)
    }
  }

  /// Which serial number a bundle gets that is made on this host.
  public enum SerialChoice: Hashable, Sendable {
    /// This one, or the installation is refused.
    case fixed(UInt64)
    /// This one, or the next after the highest that was installed here.
    case atLeast(UInt64)
  }

  /// Installs policies that were compiled on this host.
  ///
  /// The serial number is taken while no other installation runs, so that of two calls at once the later one counts. Where
  /// the same policies are in use, their bundle is installed again, so that nothing is written. The host's local key, if
  /// there is one, signs.
  ///
  /// - Parameters:
  ///   - sourceDigest: 32 bytes, over the normalised sources.
  ///   - folder: where the sources are, for messages and for the marker.
  public func apply(
    payload: [UInt8], sourceDigest: [UInt8], serial: SerialChoice, from folder: String, allowUnresolved: Bool = false,
    allowUnsigned: Bool = false
  ) throws(InstallError) -> InstallReport {
    try changing(allowUnresolved, allowUnsigned) { (installer, permits) throws(InstallError) in
      let state = try StoreState(of: installer.store)
      let bundle = try installer.bundleToApply(payload, sourceDigest, serial, folder, state)
      return try installer.installLocked(bundle, from: .folder(folder), state, permits)
    }
  }

  struct Permits {
    var unresolvedNames: UnresolvedNames
    var allowsUnsigned: Bool
  }

  /// Holds the host's lock while an installation runs.
  private func changing(
    _ allowUnresolved: Bool, _ allowUnsigned: Bool,
    _ body: (Installer, Permits) throws(InstallError) -> InstallReport
  ) throws(InstallError) -> InstallReport {
    // Asked before anything is made, so that a refusal leaves a strange host as it was.
    _ = try HostEnrolment(of: installation)
    var footprint = try Footprint.changing(installation)
    var report = try body(
      self, Permits(unresolvedNames: allowUnresolved ? .accepted : .refused, allowsUnsigned: allowUnsigned))
    // From the first installation on the folder is there: were it missing, it would have been lost.
    do throws(InstallError) { try footprint.makeDirectory(installation.trustedKeysDirectory) } catch {
      report.faults.append(error.description)
    }
    return report
  }

  private func bundleToApply(
    _ payload: [UInt8], _ sourceDigest: [UInt8], _ serial: SerialChoice, _ folder: String, _ state: StoreState
  ) throws(InstallError) -> Bundle {
    let number: UInt64
    switch serial {
    case .fixed(let fixed): number = fixed
    case .atLeast(let proposed):
      if let installed = installed(state), installed.sourceDigest == sourceDigest, installed.payload == payload {
        if case .refused = try TrustStore(of: installation).decide(on: installed) {} else { return installed }
      }
      guard state.digestOfHighest == nil || state.highestSerial < .max else {
        throw InstallError(
          .olderSerial(proposed, highestSeen: .max), path: folder,
          next: [installation.command("uninstall"), installation.command("init")])
      }
      number = state.digestOfHighest == nil ? proposed : max(proposed, state.highestSerial + 1)
    }
    let bundle = Bundle(serial: number, sourceDigest: sourceDigest, payload: payload)
    if let key = try KeyFiles.local(on: installation) { return bundle.signed(with: key) }
    return bundle
  }

  private func installLocked(
    _ bundle: Bundle, from origin: PolicyOrigin, _ state: StoreState, _ permits: Permits
  ) throws(InstallError) -> InstallReport {
    let host = try HostEnrolment(of: installation).identity
    let trust = try trusted(bundle, origin, state, allowsUnsigned: permits.allowsUnsigned)
    if bundle.serial < state.highestSerial {
      throw InstallError(
        .olderSerial(bundle.serial, highestSeen: state.highestSerial), path: origin.path, next: newBundle(origin))
    }
    if bundle.serial == state.highestSerial, let digest = state.digestOfHighest {
      if digest != bundle.sourceDigest || installed(state).map({ !$0.hasSameContents(as: bundle) }) ?? false {
        throw InstallError(.serialReused(bundle.serial), path: origin.path, next: newBundle(origin))
      }
    } else {
      let limit = SerialNumber.limit(now: clock(), highestSeen: state.highestSerial)
      // The last number leaves room for none.
      if bundle.serial > limit || bundle.serial == .max {
        throw InstallError(
          .serialTooHigh(SerialNumber.TooHigh(serial: bundle.serial, limit: min(limit, .max - 1))), path: origin.path,
          next: newBundle(origin))
      }
    }
    return try settle(bundle, from: origin, for: host, trust, state, permits.unresolvedNames)
  }

  /// How to come by a bundle with a good serial number.
  private func newBundle(_ origin: PolicyOrigin) -> [String] {
    if case .folder = origin.source { return [installation.command("apply \(ShellText.quoted(origin.path))")] }
    let asksForKeys = (try? TrustStore(of: installation)).map { !$0.keys.isEmpty } ?? true
    return ["policyctl compile DIR -o \(ShellText.quoted(origin.path))" + (asksForKeys ? " --sign KEY" : "")]
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
    if state.lacksMarkerOfEmptyGeneration {
      try publishEmptyGeneration(for: host)
      return emptyReport(.mended([installation.generationMarker]), host, faults: state.faults)
    }
    guard let bundle = installed(state) else {
      if let marker = state.marker, marker.generation == 0 {
        return emptyReport(.unchanged, host, faults: state.faults)
      }
      throw InstallError(
        .installedBundleLost(
          "it is not the bundle that generation \(state.highestGeneration) was made of, and no copy is left"),
        path: installation.bundleFile, next: [installation.command("install FILE")])
    }
    let origin = PolicyOrigin(path: installation.bundleFile, source: nil)
    let trust = try trusted(bundle, origin, state, allowsUnsigned: false)
    let names = allowUnresolved ? UnresolvedNames.accepted : .acceptedBefore
    return try settle(bundle, from: origin, for: host, trust, state, names)
  }

  private func emptyReport(_ outcome: InstallReport.Outcome, _ host: HostIdentity, faults: [String]) -> InstallReport {
    InstallReport(
      outcome: outcome, generation: 0, host: host, serial: 0, trust: .noKeysToCheck, forcedKeys: 0, forcedDomains: 0,
      recommendedKeys: 0, containedApplications: 0, windows: 0, horizon: 0..<0, faults: faults, pruned: [])
  }

  /// The bundle that is in use; nil where none was installed or it is lost.
  public func installedBundle() throws(InstallError) -> Bundle? {
    installed(try StoreState(of: store))
  }

  private func installed(_ state: StoreState) -> Bundle? {
    guard let digest = state.digestOfHighest else { return nil }
    func isRight(_ bundle: Bundle) -> Bool { bundle.serial == state.highestSerial && bundle.sourceDigest == digest }
    if let bundle = store.bundle(at: installation.bundleFile), isRight(bundle) { return bundle }
    // The copy that was kept beside the generation, where the one in use was exchanged or damaged.
    for number in (state.marker.map { [$0.generation] } ?? state.numbers.reversed()) {
      if let kept = store.bundle(ofGeneration: number), isRight(kept) { return kept }
    }
    return nil
  }

  private func trusted(
    _ bundle: Bundle, _ origin: PolicyOrigin, _ state: StoreState, allowsUnsigned: Bool
  ) throws(InstallError) -> TrustDecision {
    let path = origin.path
    let decision = try TrustStore(of: installation).decide(on: bundle)
    let refusal: TrustRefusal
    switch decision {
    case .trusted: return decision
    case .noKeysToCheck:
      // Without a key nothing tells the administrators' bundles from others, and here something did.
      guard let signer = state.signer, !allowsUnsigned else { return decision }
      refusal = .noKeysLeft(before: signer)
    case .refused(let refused): refusal = refused
    }
    let next: [String] =
      switch (refusal, origin.source ?? state.source) {
      case (.unsigned, .folder(let folder)):
        [
          installation.command("key generate --local"),
          installation.command("apply \(ShellText.quoted(origin.source == nil ? folder : path))"),
        ]
      case (.unsigned, let source):
        [
          "policyctl compile DIR -o \(ShellText.quoted(origin.source == nil ? source?.path ?? "FILE" : path)) --sign KEY",
          installation.command("key generate --local"),
        ]
      case (.unknownSigner, _): [installation.command("key list"), installation.command("key trust FILE.pub")]
      case (.badSignature, _): [installation.command("key list")]
      case (.noKeysLeft, _):
        Footprint.exists(installation.localKeyFile)
          ? [installation.command("key generate --local"), installation.command("key trust FILE.pub")]
          : [installation.command("key trust FILE.pub")]
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
