public import ForcedDomain
import PropertyList

/// From a payload for the whole fleet to the files of one host.
///
/// The law: on every host, for every user and at every time, the narrowed file gives the answer that the payload gives
/// when asked about that host. Conditions on hosts are decided here, once, by root; what can't hold on the host is
/// dropped, and so is what stands behind an unconditional `replace` of a higher rank. Users and windows stay conditions:
/// names get their ids, windows their moments over the horizon.
///
/// A payload comes from elsewhere and is read as hostile; a window whose zone this machine doesn't know refuses it whole.
public enum Narrowing {
  /// Narrows a payload.
  ///
  /// - Parameters:
  ///   - host: the identity that was enrolled, never what a process says.
  ///   - users: gives names their ids; keeps note of those that have none.
  ///   - stamp: what the files say about themselves; its `horizon` is the span over which windows are expanded, its
  ///     `hostName` is replaced.
  /// - Complexity: O(entries of the payload).
  public static func narrow(
    _ payload: ForcedDomain, to host: HostIdentity, users: some UserResolver, stamp: FileStamp
  ) throws(NarrowingError) -> NarrowedFiles {
    var stamp = stamp
    stamp.hostName = host.name
    let conditions = try NarrowedConditions(payload, host: host, horizon: stamp.horizon)
    let people = ResolvedPeople(payload, users)
    var forced = ForcedFile(payload, conditions, people)
    var provenance = ProvenanceFile(payload, conditions, people)
    payload.forEachEntry { entry in
      forced.add(entry)
      provenance.add(entry)
    }
    let statistics = forced.statistics
    do throws(ForcedDomainError) {
      return NarrowedFiles(
        forced: try forced.finish(stamp), provenance: try provenance.finish(stamp), statistics: statistics)
    } catch {
      throw .domain(error)
    }
  }
}

/// The two files of a host.
public struct NarrowedFiles: Sendable {
  /// For everyone: kind `forced`.
  public let forced: [UInt8]
  /// For root and auditors: kind `provenance`; all entries of the payload, hosts undecided.
  public let provenance: [UInt8]
  public let statistics: NarrowingStatistics
}

/// Counts of what binds on a host, for messages.
public struct NarrowingStatistics: Sendable, Hashable {
  /// Keys that have a forced entry which gives a value to someone, at some time.
  public var forcedKeys = 0
  /// Domains that have such a key.
  public var forcedDomains = 0
  public var recommendedKeys = 0
  /// Different windows among the conditions that are left.
  public var windows = 0

  public init() {}
}

/// Why a payload can't be narrowed here.
public enum NarrowingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A window names a zone that this machine can't read.
  case timeZone(TimeZoneError)
  /// The result is more than the format can hold.
  case domain(ForcedDomainError)

  public var description: String {
    switch self {
    case .timeZone(let error): error.description
    case .domain(let error): error.description
    }
  }
}
