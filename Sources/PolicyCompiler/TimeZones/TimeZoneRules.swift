import LinuxFiles

/// The rules of one time zone, read from this system's zone files: what its clocks show at a moment, and at which moments
/// they show a time.
///
/// It never asks `TZ`, `TZDIR` or the locale: the same zone gives the same answers in every process.
public struct TimeZoneRules: Sendable {
  /// As policies write it: `Europe/Berlin`.
  public let name: String
  private let file: TimeZoneFile

  /// Reads a zone's file.
  /// - Parameter directory: where the zone files are; only tests name another.
  public init(named name: String, directory: String = "/usr/share/zoneinfo") throws(TimeZoneError) {
    guard Self.isWellFormed(name) else { throw TimeZoneError(zone: name, reason: .malformedName) }
    let bytes: [UInt8]
    do throws(FileError) {
      // A zone may be a link to its newer name, so links are followed; the directory belongs to the system.
      bytes = try WholeFile.read(FilePath.join(directory, name), limit: 1 << 20).bytes
    } catch {
      switch error.errno {
      case .noSuchFile, .notDirectory, .isDirectory: throw TimeZoneError(zone: name, reason: .unknownZone)
      default: throw TimeZoneError(zone: name, reason: .unreadable(error.description))
      }
    }
    try self.init(named: name, bytes: bytes)
  }

  /// Takes the contents of a TZif file, version 2 or later.
  public init(named name: String, bytes: [UInt8]) throws(TimeZoneError) {
    self.name = name
    do throws(TimeZoneFile.Damage) { file = try TimeZoneFile(bytes) } catch {
      throw TimeZoneError(zone: name, reason: .damagedFile(error.reason))
    }
  }

  /// Whether `name` may name a zone: parts of letters, digits, `+`, `-`, `_` between slashes.
  ///
  /// `localtime` and `posixrules` mean another zone on each machine, `posix/` and `right/` are the same zones again, the
  /// latter with leap seconds: none of them may stand in a policy.
  public static func isWellFormed(_ name: String) -> Bool {
    guard (1...64).contains(name.utf8.count), name != "localtime", name != "posixrules" else { return false }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts[0] != "posix", parts[0] != "right" else { return false }
    return parts.allSatisfy { part in
      !part.isEmpty
        && part.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
          default: false
          }
        }
    }
  }

  /// What the zone's clocks show at a moment.
  /// - Parameter instant: Unix seconds.
  public func type(at instant: Int64) -> LocalTimeType {
    clock(covering: instant..<(instant == .max ? .max : instant + 1)).type(at: instant)
  }

  /// The zone's clocks over a span, for many questions about it.
  ///
  /// Moments further than 2⁵⁰ s (35 million years) from 1970 count as that far.
  /// - Complexity: O(log *n*) in the zone's table, plus the changes in the span.
  public func clock(covering wanted: Range<Int64>) -> LocalClock {
    let span = wanted.clamped(to: -(1 << 50)..<(1 << 50))
    let start = span.lowerBound
    // The last transition at or before the span's start says what the clocks show there.
    var low = 0
    var high = file.transitions.count
    while low < high {
      let middle = (low + high) / 2
      if file.transitions[middle] <= start { low = middle + 1 } else { high = middle }
    }
    var segments = [LocalClock.Segment(start: .min, type: low == 0 ? file.initialType : file.types[low - 1])]
    for index in low..<file.transitions.count where file.transitions[index] < span.upperBound {
      segments.append(.init(start: file.transitions[index], type: file.types[index]))
    }
    if let footer = file.footer, span.upperBound > file.transitions.last ?? .min {
      let tableEnd = file.transitions.last ?? .min
      if tableEnd == .min { segments[0] = .init(start: .min, type: footer.standard) }
      for change in footer.changes(around: max(start, tableEnd)..<span.upperBound)
      where change.instant > tableEnd && change.instant < span.upperBound {
        segments.append(.init(start: change.instant, type: change.type))
      }
    }
    return LocalClock(segments: segments)
  }
}

/// A zone's clocks over some span of UTC (outside it, answers are those of the span's ends).
public struct LocalClock: Sendable {
  struct Segment: Sendable {
    /// The first moment at which `type` is shown.
    let start: Int64
    let type: LocalTimeType
  }

  /// Ascending; the first one starts at minus infinity.
  let segments: [Segment]

  /// The moments at which clocks show a time.
  public struct Moments: Hashable, Sendable {
    /// The first of them; for a time that is skipped, the first moment after the gap.
    public let earliest: Int64
    /// The last of them, another one only where an hour is repeated.
    public let latest: Int64
    /// No clock ever shows the time: it is skipped.
    public let isSkipped: Bool
  }

  public func type(at instant: Int64) -> LocalTimeType { segments[index(at: instant)].type }

  /// The time that clocks show at a moment, as seconds since 1970-01-01T00:00:00 of the same clocks.
  public func local(at instant: Int64) -> Int64 { instant + Int64(type(at: instant).offset) }

  /// When clocks show a local time (seconds since 1970-01-01T00:00:00 of the same clocks).
  ///
  /// POLICY-LANGUAGE rule 9: what falls into a skipped hour moves to the first moment that exists; a repeated time has
  /// two moments.
  public func moments(ofLocal local: Int64) -> Moments {
    // Offsets are within 26 hours, so nothing further away than that can show this time.
    let first = index(at: local - 93600)
    let last = index(at: local + 93600)
    var earliest: Int64?
    var latest: Int64 = 0
    for index in first...last {
      let instant = local - Int64(segments[index].type.offset)
      guard instant >= segments[index].start, index + 1 == segments.count || instant < segments[index + 1].start else {
        continue
      }
      if earliest == nil { earliest = instant }
      latest = instant
    }
    if let earliest { return Moments(earliest: earliest, latest: latest, isSkipped: false) }
    // Local time runs on evenly within a segment and was never equal to `local`: some change jumps over it.
    for index in first..<last {
      let change = segments[index + 1].start
      let before = change + Int64(segments[index].type.offset)
      let after = change + Int64(segments[index + 1].type.offset)
      if before <= local && local < after { return Moments(earliest: change, latest: change, isSkipped: true) }
    }
    preconditionFailure("local time is continuous but for its changes")
  }

  private func index(at instant: Int64) -> Int {
    var low = 0
    var high = segments.count
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].start <= instant { low = middle + 1 } else { high = middle }
    }
    return max(low - 1, 0)
  }
}
