import LinuxFiles

/// A path that was considered, for `status`: which were read, which were skipped, and why.
public struct SearchedPath: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable {
    case read, skipped
  }

  public let path: String
  public let outcome: Outcome
  public let reason: String

  public init(path: String, outcome: Outcome, reason: String) {
    self.path = path
    self.outcome = outcome
    self.reason = reason
  }
}

/// Where the files of an installation are: the system's, or those below a root for tests, demos and images.
public struct Installation: Sendable, Hashable {
  /// Empty for the system-wide installation, else a path without a slash at its end.
  public let root: String

  /// - Parameter root: a directory; `""` and `"/"` are the system.
  public init(root: String) {
    var path = root.utf8[...]
    while path.last == UInt8(ascii: "/") { path.removeLast() }
    self.root = path.count == root.utf8.count ? root : String(Substring(path))
  }

  /// The variable that names a root for development, tests and demos.
  public static let rootVariable = "MANAGED_PREFERENCES_ROOT"

  /// Finds the installation that counts for this process.
  ///
  /// A root that the command line gives wins, then that of the container around the process (`EnclosingContainer`).
  /// Otherwise the system's installation counts wherever there is one: the variable `MANAGED_PREFERENCES_ROOT` is heeded
  /// only when `lstat` of the system's marker says "no such file" and nothing else of an installation is there, so that no
  /// environment leads away from a policy that binds.
  ///
  /// - Parameter explicit: the value of `--root`, nil when it was not given.
  /// - Returns: the installation, and what was considered on the way.
  public static func locate(root explicit: String?) -> (installation: Installation, notes: [SearchedPath]) {
    locate(root: explicit, variable: EnvironmentVariables.nonEmpty(rootVariable), system: Installation(root: ""))
  }

  /// The installation alone.
  public static func found(root explicit: String?) -> Installation {
    chosen(root: explicit, variable: EnvironmentVariables.nonEmpty(rootVariable), system: Installation(root: "")).0
  }

  private enum Reason {
    case explicit, container, onlySystem, variable, systemFirst
  }

  private static func chosen(
    root explicit: String?, variable: String?, system: Installation
  ) -> (Installation, Reason) {
    if let explicit { return (Installation(root: explicit), .explicit) }
    if let container = EnclosingContainer.current { return (Installation(root: container.root), .container) }
    guard let variable else { return (system, .onlySystem) }
    do throws(FileError) {
      _ = try FileMetadata.of(system.generationMarker, followingLinks: false)
    } catch {
      if error.errno == .noSuchFile, !system.hasTraces() { return (Installation(root: variable), .variable) }
    }
    return (system, .systemFirst)
  }

  static func locate(
    root explicit: String?, variable: String?, system: Installation
  ) -> (installation: Installation, notes: [SearchedPath]) {
    func note(_ installation: Installation, _ reason: String) -> SearchedPath {
      SearchedPath(path: installation.forcedFile, outcome: .read, reason: reason)
    }
    let skippedVariable = variable.map { _ in
      SearchedPath(
        path: rootVariable, outcome: .skipped,
        reason: explicit == nil ? "a system-wide installation exists" : "--root was given")
    }
    let (installation, reason) = chosen(root: explicit, variable: variable, system: system)
    switch reason {
    case .explicit: return (installation, [note(installation, "--root")] + [skippedVariable].compactMap { $0 })
    case .container: return (installation, [note(installation, "the container around this process")])
    case .onlySystem: return (installation, [note(installation, "the system's installation")])
    case .systemFirst:
      return (
        installation, [note(installation, "the system's installation")] + [skippedVariable].compactMap { $0 }
      )
    case .variable:
      return (
        installation,
        [
          note(installation, rootVariable),
          SearchedPath(
            path: system.generationMarker, outcome: .skipped, reason: "no system-wide installation exists"),
        ]
      )
    }
  }

  public var configurationDirectory: String { root + "/etc/managed-preferences" }
  /// The host's identity.
  public var hostFile: String { configurationDirectory + "/host.yaml" }
  public var trustedKeysDirectory: String { configurationDirectory + "/trusted-keys" }
  public var localKeyFile: String { configurationDirectory + "/local-key" }
  /// Sources on a single host.
  public var policiesDirectory: String { configurationDirectory + "/policies" }
  /// Preference files that hold for any user.
  public var anyUserDefaultsDirectory: String { configurationDirectory + "/defaults" }
  /// The locks of their writers; root only, so that nobody else can hold one.
  public var anyUserLocksDirectory: String { anyUserDefaultsDirectory + "/.locks" }
  /// Those of them that hold on one host alone.
  public var anyUserPerHostDirectory: String { anyUserDefaultsDirectory + "/ByHost" }
  public var stateDirectory: String { root + "/var/lib/managed-preferences" }
  /// Root only.
  public var bundleFile: String { stateDirectory + "/bundle" }
  /// World-readable.
  public var forcedFile: String { stateDirectory + "/forced" }
  /// For root and the auditors' group.
  public var provenanceFile: String { stateDirectory + "/provenance" }
  /// Says that the host is installed.
  public var generationMarker: String { stateDirectory + "/generation" }
  public var generationsDirectory: String { stateDirectory + "/generations" }
  public func generationDirectory(_ generation: UInt64) -> String { generationsDirectory + "/\(generation)" }
  public var auditAnchor: String { stateDirectory + "/audit-anchor" }
  public var logDirectory: String { root + "/var/log/managed-preferences" }
  public var runDirectory: String { root + "/run/managed-preferences" }
  public var agentSocket: String { runDirectory + "/policyd.sock" }

  /// Whether a file of this owner can bind: root's; inside a user namespace also the overflow id, under which root's
  /// files show there; below a root also the effective user's.
  public func isTrustedOwner(_ userID: UInt32) -> Bool {
    if userID == 0 { return true }
    if !root.isEmpty && userID == ProcessIdentity.effectiveUserID { return true }
    return isOutsideRoot(userID)
  }

  /// Whether files are there that only an installation leaves: with them, a marker that is missing was lost.
  ///
  /// What can't be asked counts as there. A generation counts by its forced file, so that foreign files which kept a
  /// directory from being removed do not.
  public func hasTraces() -> Bool {
    if holds(forcedFile) || holds(bundleFile) { return true }
    do throws(FileError) {
      return try Directory.names(in: generationsDirectory).contains { name in
        UInt64(name) != nil && holds(FilePath.join(FilePath.join(generationsDirectory, name), "forced"))
      }
    } catch {
      return error.errno != .noSuchFile && error.errno != .notDirectory
    }
  }

  /// Whether something has this name, or that can't be asked.
  func holds(_ path: String) -> Bool {
    do throws(FileError) {
      _ = try FileMetadata.of(path, followingLinks: false)
      return true
    } catch {
      return error.errno != .noSuchFile && error.errno != .notDirectory
    }
  }

  /// Whether this owner is root as it shows inside a user namespace that does not have it.
  func isOutsideRoot(_ userID: UInt32) -> Bool {
    userID != 0 && ProcessIdentity.isInUserNamespace() && userID == ProcessIdentity.overflowUserID()
  }
}
