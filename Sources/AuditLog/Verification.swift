import Digests
import LinuxFiles
import PropertyList

/// Holds a whole log against its own chain, its anchor, and what was kept elsewhere.
///
/// The law: the records of all segments, in the order of the segments' names, are one chain from record 1, or from the record
/// behind a checkpoint, to the record that the anchor counted last, or beyond it. Every number follows the one before, and every
/// `prev` is the digest of the line before. A chain may begin again behind records that were lost only with an `audit.alarm`,
/// and no alarm stays without an `audit.acknowledged`. A personal part is there as its record has it, or is erased with an
/// `audit.erased` that names the record.
///
/// What this proves: that nobody changed the log who could not write the anchor as well. Whoever is root can write both;
/// only a head that was kept elsewhere tells of that.
public struct AuditVerification: Sendable, Hashable {
  public enum Verdict: Int, Sendable, Hashable, Comparable {
    case sound = 0
    /// A part could not be read.
    case undecided = 1
    /// Nothing was found to be changed, but what is there may not be all.
    case incomplete = 2
    case tampered = 3

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  /// One thing that is wrong.
  public struct Finding: Sendable, Hashable {
    public let verdict: Verdict
    /// The segment's name; nil where the log as a whole is meant.
    public let file: String?
    /// From 1.
    public let line: Int?
    /// The number of the record.
    public let sequence: UInt64?
    public let what: String
    /// It is an alarm that nobody has acknowledged: what it tells of was found before.
    public let isAlarm: Bool
  }

  public internal(set) var findings: [Finding] = []
  /// Findings beyond the first twenty.
  public internal(set) var more = 0
  /// What is worth a word and no reason to doubt.
  public internal(set) var notes: [String] = []
  public internal(set) var records = 0
  public internal(set) var segments = 0
  /// The number of the first record that is there.
  public internal(set) var first: UInt64?
  public internal(set) var head: LogHead?
  /// Records whose personal part was erased.
  public internal(set) var erased = 0
  private(set) var worst = Verdict.sound

  public var verdict: Verdict { worst }

  static let findingsKept = 20

  mutating func find(
    _ verdict: Verdict, file: String? = nil, line: Int? = nil, sequence: UInt64? = nil, _ what: String,
    isAlarm: Bool = false
  ) {
    worst = max(worst, verdict)
    if findings.count == Self.findingsKept {
      more += 1
    } else {
      findings.append(
        Finding(verdict: verdict, file: file, line: line, sequence: sequence, what: what, isAlarm: isAlarm))
    }
  }

  /// Verifies a log.
  ///
  /// - Parameters:
  ///   - heads: what was kept elsewhere.
  ///   - progress: told after each segment: how many of how many.
  /// - Complexity: O(bytes), about what the digests alone cost.
  public init(
    of place: AuditLogPlace, against heads: [LogHead] = [], progress: ((Int, Int) -> Void)? = nil
  ) {
    // What an erasure or an enrolment does beside the reading looks like tampering, until it is read again.
    var triesLeft = 4
    repeat {
      let before = try? place.readAnchor().reading
      self = AuditVerification(once: place, against: heads, progress: progress)
      triesLeft -= 1
      guard verdict != .sound, case .read(let old)? = before, case .read(let new)? = try? place.readAnchor().reading,
        old != new
      else { return }
    } while triesLeft > 0
  }

  private init(once place: AuditLogPlace, against heads: [LogHead], progress: ((Int, Int) -> Void)?) {
    do throws(AuditLogError) {
      let snapshot = try LogSnapshot(of: place)
      segments = snapshot.segments.count
      for name in snapshot.strangers { find(.tampered, file: name, "its name is none that a segment has") }
      if let fault = snapshot.anchorFault { find(.undecided, "the anchor can't be read: \(fault)") }
      let walk = ChainWalk(anchor: snapshot.knownAnchor, heads: heads)
      for (index, segment) in snapshot.segments.enumerated() {
        do throws(AuditLogError) {
          try walk.walk(segment, in: place, isLast: index == snapshot.segments.count - 1, into: &self)
        } catch {
          if case .file(let failure) = error.reason, failure.errno == .noSuchFile {
            // Between the listing and now, retention or somebody else took it away.
            find(.undecided, file: segment.name.segment, "it went away while the log was being read; verify again")
          } else {
            find(.undecided, file: segment.name.segment, "it can't be read: \(error)")
          }
          walk.forget()
        }
        progress?(index + 1, snapshot.segments.count)
      }
      walk.finish(snapshot, place, into: &self)
    } catch {
      find(.undecided, "the log can't be read: \(error)")
    }
  }
}

extension LogSnapshot {
  var knownAnchor: Anchor? {
    if case .read(let anchor) = anchor { return anchor }
    return nil
  }
}
