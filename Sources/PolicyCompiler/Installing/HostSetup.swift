public import ForcedDomain
import LinuxFiles

/// Making a host ready for managed preferences: directories, an empty generation 0, an enrolment.
extension Installer {
  /// What `initialise` made.
  public struct Initialisation: Hashable, Sendable {
    /// Nothing was there before: the empty generation 0 was written.
    public var madeGeneration: Bool
    /// Everything that was made, in the order of making.
    public var made: [String]
    /// Under which name the host is enrolled now.
    public var host: HostIdentity
    /// Whether it was enrolled by this call.
    public var isNewlyEnrolled: Bool
    public var faults: [String]
  }

  /// Makes what is missing and leaves what is there.
  ///
  /// - Parameters:
  ///   - name: the name to enrol under, where the host is not enrolled.
  ///   - sample: an example profile, put into the directory of policies under a name that `apply` does not read.
  public func initialise(
    host name: String, sample: (name: String, text: [UInt8])? = nil
  ) throws(InstallError) -> Initialisation {
    try validate(name)
    var footprint = try Footprint.changing(installation)
    let before = Set(footprint.paths)
    for directory in [
      installation.configurationDirectory, installation.trustedKeysDirectory, installation.policiesDirectory,
      installation.anyUserDefaultsDirectory, installation.generationsDirectory,
    ] {
      try footprint.makeDirectory(directory)
    }
    try footprint.makeDirectory(installation.logDirectory, mode: 0o750)
    if let sample {
      let path = FilePath.join(installation.policiesDirectory, sample.name)
      if !Footprint.exists(path) { try footprint.write(sample.text, to: path, mode: 0o644) }
    }
    var isNewlyEnrolled = false
    if !Footprint.exists(installation.hostFile) {
      isNewlyEnrolled = true
      let enrolment = HostEnrolment(identity: HostIdentity(name: name), enrolledAt: clock())
      try footprint.write(enrolment.bytes, to: installation.hostFile, mode: 0o644)
    }
    let host = try HostEnrolment(of: installation).identity
    let state = try StoreState(of: store)
    let needsGeneration = state.isEmpty || state.lacksMarkerOfEmptyGeneration
    if needsGeneration { try publishEmptyGeneration(for: host) }
    let made = footprint.paths.filter { !before.contains($0) }.map { installation.root + $0 }
    return Initialisation(
      madeGeneration: needsGeneration, made: made, host: host, isNewlyEnrolled: isNewlyEnrolled, faults: state.faults)
  }

  /// Enrols this host under a name, from the next installation on. Under the name that it has, nothing changes, the date
  /// of enrolment included.
  /// - Returns: the enrolment before.
  @discardableResult
  public func enroll(host name: String) throws(InstallError) -> HostEnrolment? {
    try validate(name)
    var footprint = try Footprint.changing(installation)
    try footprint.makeDirectory(installation.configurationDirectory)
    var before: HostEnrolment?
    // A damaged file is what a new enrolment mends; one that others could have written is not to be believed.
    do throws(InstallError) { before = try HostEnrolment(of: installation) } catch {
      switch error.reason {
      case .notEnrolled, .malformedHostFile: break
      default: throw error
      }
    }
    if before?.identity.name == name { return before }
    let enrolment = HostEnrolment(identity: HostIdentity(name: name), enrolledAt: clock())
    try footprint.write(enrolment.bytes, to: installation.hostFile, mode: 0o644)
    return before
  }

  private func validate(_ name: String) throws(InstallError) {
    do throws(HostNameError) { try HostName.validate(name) } catch {
      throw InstallError(
        .malformedHostName(error), path: installation.hostFile, next: [installation.command("enroll --host NAME")])
    }
  }

  /// A generation that forces nothing: from here on the host counts as installed, and a missing file is a fault.
  func publishEmptyGeneration(for host: HostIdentity) throws(InstallError) {
    let stamp = FileStamp(hostName: host.name)
    let contents: Store.Contents
    do throws(ForcedDomainError) {
      let forced = try ForcedDomainWriter(kind: .forced).finish(stamp)
      let checksum = try ForcedDomain(bytes: forced, expecting: [.forced]).checksum
      contents = Store.Contents(
        marker: GenerationMarker(
          generation: 0, serial: 0, sourceDigest: [], hostName: host.name, installedAt: clock(),
          forcedChecksum: checksum),
        bundle: nil, forced: forced, provenance: try ForcedDomainWriter(kind: .provenance).finish(stamp))
    } catch {
      throw InstallError(.payload(error), path: installation.forcedFile)
    }
    try store.publishEmpty(contents)
  }
}
