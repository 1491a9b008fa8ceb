/// A path that was considered on the way to an installation, for `status`.
public struct SearchedPath: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable { case read, skipped }
  public let path: String
  public let outcome: Outcome
  public let reason: String
}

public struct Installation: Sendable, Hashable {
  /// Empty for the system-wide installation.
  public let root: String
  public init(root: String) { self.root = root }
  public static func locate(root explicit: String?) -> (installation: Installation, notes: [SearchedPath]) {
    fatalError()
  }
  public var configurationDirectory: String { root + "/etc/managed-preferences" }
  public var hostFile: String { configurationDirectory + "/host.yaml" }
  public var trustedKeysDirectory: String { configurationDirectory + "/trusted-keys" }
  public var localKeyFile: String { configurationDirectory + "/local-key" }
  public var policiesDirectory: String { configurationDirectory + "/policies" }
  public var anyUserDefaultsDirectory: String { configurationDirectory + "/defaults" }
  public var stateDirectory: String { root + "/var/lib/managed-preferences" }
  public var bundleFile: String { stateDirectory + "/bundle" }
  public var forcedFile: String { stateDirectory + "/forced" }
  public var provenanceFile: String { stateDirectory + "/provenance" }
  public var generationMarker: String { stateDirectory + "/generation" }
  public var generationsDirectory: String { stateDirectory + "/generations" }
  public var auditAnchor: String { stateDirectory + "/audit-anchor" }
  public var logDirectory: String { root + "/var/log/managed-preferences" }
  public var runDirectory: String { root + "/run/managed-preferences" }
  public var agentSocket: String { runDirectory + "/policyd.sock" }
  public func generationDirectory(_ generation: UInt64) -> String { generationsDirectory + "/\(generation)" }
  public func isTrustedOwner(_ userID: UInt32) -> Bool { fatalError() }
}

/// The `generation` file: says that the host is installed, and with what.
public struct GenerationMarker: Sendable, Hashable {
  public var generation: UInt64
  public var serial: UInt64
  public var sourceDigest: [UInt8]
  public var hostName: String
  /// Unix seconds.
  public var installedAt: Int64
  /// `ForcedDomain.checksum` of the generation's forced file: an equal generation with other contents is refused.
  public var forcedChecksum: UInt64
  public init(
    generation: UInt64, serial: UInt64, sourceDigest: [UInt8], hostName: String, installedAt: Int64,
    forcedChecksum: UInt64
  ) {
    self.generation = generation
    self.serial = serial
    self.sourceDigest = sourceDigest
    self.hostName = hostName
    self.installedAt = installedAt
    self.forcedChecksum = forcedChecksum
  }
  public var bytes: [UInt8] { fatalError() }
  public init?(parsing bytes: [UInt8]) { fatalError() }
}

public struct DomainFault: Error, Sendable, Hashable, CustomStringConvertible {
  public let path: String
  public let message: String
  public var description: String { "\(path): \(message)" }
}

public enum ForcedDomainLoad: Sendable {
  case notInstalled
  case loaded(ForcedDomain, faults: [DomainFault])
  case unavailable([DomainFault])
}

public struct ForcedDomainLoader: Sendable {
  public let installation: Installation
  public init(_ installation: Installation) { self.installation = installation }
  /// `current`: what is in use and stays in use when nothing better is there (`===` tells).
  public func load(keeping current: ForcedDomain? = nil) -> ForcedDomainLoad { fatalError() }
  public func marker() throws(DomainFault) -> GenerationMarker? { fatalError() }
  public func loadProvenance() throws(DomainFault) -> ForcedDomain { fatalError() }
}
