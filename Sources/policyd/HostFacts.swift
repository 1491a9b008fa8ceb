import Digests
import ForcedDomain
import LinuxFiles
import PropertyList

/// What is in force on this host at a moment, as records about the agent tell it.
struct HostFacts {
  let marker: GenerationMarker?
  private let boot = WallClock.bootIdentifier()
  private let isSynchronized = WallClock.isSynchronized()

  init(_ marker: GenerationMarker?) { self.marker = marker }

  /// Of `agent.stopped`.
  var generation: [String: PropertyListValue] { marker.map { ["generation": .number($0.generation)] } ?? [:] }

  /// Of `agent.started`.
  var fields: [String: PropertyListValue] {
    var fields = generation
    if let marker { fields["digest"] = .string(HexText.encode(marker.sourceDigest)) }
    if let boot { fields["boot"] = .string(boot) }
    fields["clock"] = .string(isSynchronized ? "synchronized" : "not synchronized")
    return fields
  }

  /// Of `agent.heartbeat`.
  /// - Parameters:
  ///   - uptime: seconds for which the agent has been serving.
  ///   - spoolsLeft: files in spools that it leaves alone, since they are not of this host and installation.
  func heartbeat(uptime: Int64, spoolsLeft: Int) -> [String: PropertyListValue] {
    var fields = fields
    if spoolsLeft > 0 { fields["spoolsLeft"] = .number(spoolsLeft) }
    fields["uptime"] = .number(uptime)
    if let marker {
      let checksum = withUnsafeBytes(of: marker.forcedChecksum.bigEndian) { Array($0) }
      fields["forced"] = .string(HexText.encode(checksum))
    }
    return fields
  }
}
