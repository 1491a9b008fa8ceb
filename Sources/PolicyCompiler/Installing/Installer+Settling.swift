import ForcedDomain
import LinuxFiles

extension Installer {
  /// Brings the host to what a trusted bundle of acceptable age says.
  ///
  /// The law: first the bundle is narrowed under the present generation's number. If that gives the bytes that are in
  /// use, nothing is written but what is damaged. Otherwise it is narrowed under a new number, read back as applications
  /// read it, and published.
  func settle(
    _ bundle: Bundle, from origin: PolicyOrigin, for host: HostIdentity, _ trust: TrustDecision, _ state: StoreState,
    _ unresolved: UnresolvedNames
  ) throws(InstallError) -> InstallReport {
    let now = clock()
    let path = origin.path
    var signer: [UInt8]?
    if case .trusted(let key) = trust { signer = key.key.fingerprint.bytes }
    let payload: ForcedDomain
    do throws(ForcedDomainError) { payload = try ForcedDomain(bytes: bundle.payload, expecting: [.fleet]) } catch {
      throw InstallError(.payload(error), path: path)
    }
    if HostAdmission(of: host, in: payload) == .refused {
      throw InstallError(
        .unknownHost(host.name), path: path, next: [installation.command("enroll --host NAME")])
    }
    let ledger = NameLedger(accounts: accounts, remembering: state.previous)
    func narrow(as generation: UInt64) throws(InstallError) -> NarrowedFiles {
      let stamp = FileStamp(
        generation: generation, serial: bundle.serial, sourceDigest: bundle.sourceDigest, hostName: host.name,
        horizon: horizon(keeping: state.previous, now: now))
      do throws(NarrowingError) {
        return try Narrowing.narrow(payload, to: host, users: ledger, stamp: stamp)
      } catch {
        throw switch error {
        case .timeZone(let zone): InstallError(.timeZone(zone), path: path, next: ["sudo apt-get install tzdata"])
        case .domain(let domain): InstallError(.payload(domain), path: path)
        }
      }
    }

    if var marker = state.marker, marker.serial == bundle.serial, marker.sourceDigest == bundle.sourceDigest,
      marker.hostName == host.name, marker.generation > 0, !state.hasUnfinishedInUse
    {
      let files = try narrow(as: marker.generation)
      try check(ledger, unresolved, origin)
      let forced = try readBack(files)
      if forced.checksum == marker.forcedChecksum, !hasNewProvenance(files.provenance, marker) {
        // The same policies from another place, or on another word: only the marker tells.
        let told = marker
        marker.source = origin.source ?? marker.source
        marker.signer = signer
        if marker != told { try store.replaceMarker(marker) }
        let contents = Store.Contents(
          marker: marker, bundle: (installedEnvelope(like: bundle) ?? bundle).encoded(), forced: files.forced,
          provenance: files.provenance)
        let mended = try store.mend(contents)
        var result = report(
          mended.isEmpty ? .unchanged : .mended(mended), bundle, forced, files.statistics, trust,
          faults: state.faults + ledger.faults.map(\.description), now: now)
        result.unresolvedNames = ledger.faults.map(\.name)
        return result
      }
    }

    let number = state.highestGeneration + 1
    let files = try narrow(as: number)
    try check(ledger, unresolved, origin)
    let forced = try readBack(files)
    let marker = GenerationMarker(
      generation: number, serial: bundle.serial, sourceDigest: bundle.sourceDigest, hostName: host.name,
      installedAt: now, forcedChecksum: forced.checksum, source: origin.source ?? state.source, signer: signer)
    // So that at no moment a generation lies there without a marker.
    if state.isEmpty { try publishEmptyGeneration(for: host) }
    try store.publish(
      Store.Contents(
        marker: marker, bundle: bundle.encoded(), forced: files.forced, provenance: files.provenance))
    var result = report(
      .installed, bundle, forced, files.statistics, trust, faults: state.faults + ledger.faults.map(\.description),
      now: now)
    result.unresolvedNames = ledger.faults.map(\.name)
    // The new generation is in use; what can't be tidied up is no reason to say otherwise.
    do throws(InstallError) { result.pruned = try store.prune(inUse: number, unfinished: state.unfinished) } catch {
      result.faults.append(error.description)
    }
    return result
  }

  /// The installed horizon as long as it reaches as far as a new one would: also with a clock that was turned back.
  private func horizon(keeping previous: ForcedDomain?, now: Int64) -> Range<Int64> {
    let fresh = WindowExpansion.horizon(at: now)
    if let kept = previous?.horizon, kept.contains(now), kept.upperBound >= fresh.upperBound { return kept }
    return fresh
  }

  private func check(_ ledger: NameLedger, _ rule: UnresolvedNames, _ origin: PolicyOrigin) throws(InstallError) {
    let refused =
      switch rule {
      case .accepted: [NameFault]()
      case .acceptedBefore: ledger.faults.filter { $0.rememberedID == nil && !ledger.wasUnresolvedBefore($0) }
      case .refused: ledger.faults.filter { $0.rememberedID == nil }
      }
    guard let first = refused.first else { return }
    let again =
      switch origin.source {
      case .folder: "apply \(ShellText.quoted(origin.path))"
      case .bundleFile: "install \(ShellText.quoted(origin.path))"
      case nil: "refresh"
      }
    let database = first.kind == .user ? "passwd" : "group"
    throw InstallError(
      .unresolvedNames(refused), path: origin.path,
      next: [
        "getent \(database) \(ShellText.quoted(first.name))",
        installation.command("\(again) --allow-unresolved"),
      ])
  }

  /// What is published is read first, by the reader that applications use.
  private func readBack(_ files: NarrowedFiles) throws(InstallError) -> ForcedDomain {
    do throws(ForcedDomainError) {
      _ = try ForcedDomain(bytes: files.provenance, expecting: [.provenance])
      return try ForcedDomain(bytes: files.forced, expecting: [.forced])
    } catch {
      throw InstallError(
        .narrowing("the narrowed policies can't be read back: \(error)"), path: installation.forcedFile)
    }
  }

  /// Whether the provenance in use is sound and says something else than a new one would. (One that is damaged is mended
  /// instead.)
  private func hasNewProvenance(_ bytes: [UInt8], _ marker: GenerationMarker) -> Bool {
    guard
      let present = try? AdministrativeFile.read(
        installation.provenanceFile, of: installation, limit: ForcedDomain.maximumByteCount),
      present != bytes, let domain = try? ForcedDomain(bytes: present, expecting: [.provenance])
    else { return false }
    return domain.generation == marker.generation
  }

  /// The stored envelope, where it says the same as `bundle` and is still trusted: the same contents under another
  /// signature are no reason to write.
  private func installedEnvelope(like bundle: Bundle) -> Bundle? {
    guard let stored = store.bundle(at: installation.bundleFile), stored.hasSameContents(as: bundle),
      let decision = try? TrustStore(of: installation).decide(on: stored)
    else { return nil }
    if case .refused = decision { return nil }
    return stored
  }

  private func report(
    _ outcome: InstallReport.Outcome, _ bundle: Bundle, _ forced: ForcedDomain, _ statistics: NarrowingStatistics,
    _ trust: TrustDecision, faults: [String], now: Int64
  ) -> InstallReport {
    let edge = NextEdge(of: forced, after: now)
    return InstallReport(
      outcome: outcome, generation: forced.generation, host: HostIdentity(name: forced.hostName),
      serial: bundle.serial, trust: trust, forcedKeys: statistics.forcedKeys,
      forcedDomains: statistics.forcedDomains, recommendedKeys: statistics.recommendedKeys,
      containedApplications: forced.containedApplications.count,
      windows: statistics.windows, nextEdge: edge.instant, nextEdgeZone: edge.zone, horizon: forced.horizon,
      faults: faults, pruned: [])
  }
}
