/// The three uses of the file format.
public enum FileKind: UInt8, Sendable, Hashable, CaseIterable {
  /// The payload of a bundle: all entries, hosts undecided, users unresolved, windows symbolic.
  case fleet = 1
  /// Narrowed to one host and readable by everyone: no provenance, no owners, windows expanded.
  case forced = 2
  /// All entries of the payload for `explain`: hosts undecided, users resolved, windows expanded.
  case provenance = 3

  /// Whether entries say where they were written.
  public var hasProvenance: Bool { self != .forced }
}

/// Kinds of files that may stand in one place.
public struct FileKinds: OptionSet, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public init(_ kind: FileKind) { self.init(rawValue: 1 << kind.rawValue) }

  public static let fleet = FileKinds(.fleet)
  public static let forced = FileKinds(.forced)
  public static let provenance = FileKinds(.provenance)
  public static let all: FileKinds = [.fleet, .forced, .provenance]
}

/// What a file says about itself, beyond its contents.
public struct FileStamp: Sendable, Hashable {
  /// The host's count of installations; 0 in a payload.
  public var generation: UInt64
  /// The bundle's serial number; 0 in a payload, whose envelope has it.
  public var serial: UInt64
  /// SHA-256 of the normalised sources, 32 bytes; empty in a payload, whose envelope has it.
  public var sourceDigest: [UInt8]
  /// The host that a file is narrowed to; empty in a payload.
  public var hostName: String
  /// Unix seconds over which windows are expanded; empty in a payload.
  public var horizon: Range<Int64>
  /// The oldest reader that may use the file; 1 unless it holds something that version 1 does not know.
  public var minimumReaderVersion: UInt16

  public init(
    generation: UInt64 = 0, serial: UInt64 = 0, sourceDigest: [UInt8] = [], hostName: String = "",
    horizon: Range<Int64> = 0..<0, minimumReaderVersion: UInt16 = 1
  ) {
    self.generation = generation
    self.serial = serial
    self.sourceDigest = sourceDigest
    self.hostName = hostName
    self.horizon = horizon
    self.minimumReaderVersion = minimumReaderVersion
  }
}
